/* SPDX-License-Identifier: Apache-2.0
 *
 * Schemas that the document shares.
 */
#include "service/api_priv.h"

const char *const EBB__API_COMPONENTS[] = {
    "{'Problem':{'type':'object','description':'Problem details (RFC 9457)',"
    "'required':['type','title','status','detail','code','retryable'],'properties':{"
    "'type':{'type':'string'},'title':{'type':'string'},'status':{'type':'integer'},'detail':{'type':'string'},"
    "'code':{'type':'string','description':'stable, see the list of errors'},"
    "'hint':{'type':'string','description':'the remedy'},'retryable':{'type':'boolean'}}}}",
    "{'Ok':{'type':'object','required':['ok'],'properties':{'ok':{'type':'boolean'}}}}",
    "{'Status':{'type':'object','required':['ready'],'properties':{'ready':{'type':'boolean'},"
    "'why':{'type':'string','description':'why it is not ready'}}}}",
    "{'CompatibleError':{'type':'object','required':['code'],'properties':{'code':{'type':'integer'},"
    "'type':{'type':'string'},'message':{'type':'string'},'stack':{'type':'array','items':{'type':'string'}}}}}",
    "{'EventIn':{'type':'object','required':['type'],'properties':{'source':{'type':'string'},'id':{'type':'string'},"
    "'type':{'type':'string'},'table':{'type':'string'},'at':{'type':'string'}}},"
    "'EventsIn':{'oneOf':[{'$ref':'#/components/schemas/EventIn'},{'type':'array',"
    "'items':{'$ref':'#/components/schemas/EventIn'}}]},"
    "'EventsTaken':{'type':'object','required':['accepted','duplicates'],'properties':{'accepted':{'type':'integer'},"
    "'duplicates':{'type':'integer'}}}}",
    NULL,
};
