/* SPDX-License-Identifier: Apache-2.0
 *
 * Schemas and parameters that the document shares.
 */
#include "service/api_priv.h"

#define REF(name) "{'$ref':'#/components/schemas/" name "'}"
#define TEXT "{'type':'string'}"
#define COUNT "{'type':'integer'}"
#define TRUTH "{'type':'boolean'}"
#define TEXTS "{'type':'array','items':{'type':'string'}}"
#define TIME "{'type':'string','format':'date-time'}"
#define TEXT_OR_NULL "{'type':['string','null']}"
#define TIME_OR_NULL "{'type':['string','null'],'format':'date-time'}"
#define LIST_OF(plural, one)                                                                                           \
    "'" plural "':{'type':'object','required':['items'],'properties':{'items':{'type':'array','items':" REF(           \
        one) "},'cursor':{'type':'string','description':'where the next page begins; missing at the end'}}}"
#define RECORD_MEMBERS                                                                                                 \
    "'id':" TEXT ",'table':" TEXT ",'uuid':" TEXT ",'policy':" TEXT ",'record':{'type':'object'},'plan':" TEXT         \
    ",'decision':" TEXT ",'job':" TEXT

const char EBB__API_PARAMETERS[] =
    "{'limit':{'name':'limit','in':'query','description':'how many items','schema':{'type':'integer','minimum':1,"
    "'maximum':1000,'default':100}},"
    "'cursor':{'name':'cursor','in':'query','description':'that the page before gave; "
    "opaque','schema':{'type':'string',"
    "'minLength':1,'maxLength':1024}},"
    "'order':{'name':'order','in':'query','description':'newest first, or oldest','schema':{'type':'string',"
    "'enum':['desc','asc'],'default':'desc'}},"
    "'since':{'name':'since','in':'query','description':'from this instant on','schema':{'type':'string',"
    "'format':'date-time'}},"
    "'table':{'name':'table','in':'query','description':'a name, or a glob with *','schema':{'type':'string',"
    "'maxLength':4096}},"
    "'policy':{'name':'policy','in':'query','schema':{'type':'string','minLength':1,'maxLength':128}},"
    "'idempotency':{'name':'Idempotency-Key','in':'header','description':'the same within a day gives the same job "
    "again',"
    "'schema':{'type':'string','minLength':1,'maxLength':255,'pattern':'^[!-~]+$'}}}";

const char *const EBB__API_COMPONENTS[] = {
    "{'Problem':{'type':'object','description':'Problem details (RFC 9457)',"
    "'required':['type','title','status','detail','code','retryable'],'properties':{"
    "'type':" TEXT ",'title':" TEXT ",'status':" COUNT ",'detail':" TEXT ","
    "'code':{'type':'string','description':'stable, see the list of errors'},"
    "'hint':{'type':'string','description':'the remedy'},'retryable':" TRUTH "}},"
    "'CompatibleError':{'type':'object','required':['code'],'properties':{'code':" COUNT ",'type':" TEXT
    ",'message':" TEXT ",'stack':" TEXTS "}},"
    "'Ok':{'type':'object','required':['ok'],'properties':{'ok':" TRUTH "}},"
    "'Status':{'type':'object','required':['ready'],'properties':{'pid':" COUNT ",'version':" TEXT ",'started':" TIME
    ",'uptime_s':" COUNT ",'address':" TEXT ",'state':{'type':'string','enum':['starting','serving','draining',"
    "'standby']},'ready':" TRUTH ",'why':{'type':'string','description':'why it is not ready'},"
    "'leader':{'type':'object','properties':{'is_leader':" TRUTH ",'epoch':" COUNT "}},"
    "'generation':{'type':'object','description':'configuration and policies in use; error: what could not be loaded',"
    "'properties':{'hash':" TEXT ",'loaded':" TIME_OR_NULL ",'config':" TEXT_OR_NULL ",'error':{'type':['object',"
    "'null'],'properties':{'file':" TEXT ",'line':" COUNT ",'column':" COUNT ",'code':" TEXT ",'message':" TEXT
    ",'hint':" TEXT ",'since':" TIME_OR_NULL "}}}},'reloads':" COUNT ",'is_reloading':" TRUTH
    ",'workers':{'type':'array','items':{'type':'object','properties':{'pool':" TEXT ",'hash':" TEXT ",'is_busy':" TRUTH
    "}}},'tables':" COUNT ",'policies':" COUNT ",'bindings':" COUNT ","
    "'listing':{'type':'object','properties':{'at':" TIME_OR_NULL ",'took_ms':" COUNT ",'error':" TEXT_OR_NULL "}},"
    "'watch':{'type':'object','description':'folders in which changes are heard of at once','properties':{"
    "'is_complete':" TRUTH ",'folders':" COUNT "}},"
    "'looks':{'type':'object','properties':{'waiting':" COUNT ",'running':" COUNT "}},"
    "'jobs':{'type':'object','properties':{'queued':" COUNT ",'started':" COUNT ",'succeeded':" COUNT ",'failed':" COUNT
    ",'cancelled':" COUNT "}},"
    "'due':{'type':'object','description':'what is looked at next','properties':{'at':" TIME_OR_NULL
    ",'table':" TEXT_OR_NULL "}},"
    "'store':{'type':'object','properties':{'ok':" TRUTH ",'error':" TEXT_OR_NULL ",'since':" TIME_OR_NULL "}},"
    "'clock':{'type':'object','properties':{'now':" TIME ",'steps':" COUNT ",'last_step_ms':" COUNT "}},"
    "'paused':{'type':'array','description':'all, policies and tables','items':" TEXT "}}}}",
    "{'EventIn':{'type':'object','required':['source','type'],'properties':{'source':{'type':'string','minLength':1,"
    "'maxLength':512},'id':{'type':'string','minLength':1,'maxLength':512},'type':{'type':'string','maxLength':64,"
    "'pattern':'^[a-z][a-z0-9._-]*$'},'table':" TEXT ",'at':{'type':['string','integer'],'description':'an instant, or "
    "milliseconds since 1970'}}},"
    "'Report':{'type':'object','required':['report-type','table-name','snapshot-id','metrics'],'properties':{"
    "'report-type':{'type':'string','enum':['commit-report','scan-report']},'table-name':" TEXT ",'snapshot-id':" COUNT
    ",'sequence-number':" COUNT ",'operation':" TEXT ",'metrics':{'type':'object'}}},"
    "'EventsIn':{'oneOf':[" REF("EventIn") ",{'type':'array','items':" REF(
        "EventIn") "}]},"
                   "'EventsTaken':{'type':'object','required':['accepted','duplicates'],'properties':{'accepted':" COUNT
                   ",'duplicates':" COUNT "}},"
                   "'Event':{'type':'object','required':['seq','source','id','type','received'],'properties':{'seq'"
                   ":" COUNT ",'source':" TEXT ",'id':" TEXT ",'type':" TEXT ",'table':" TEXT ",'at':" TIME
                   ",'received':" TIME ",'data':{'type':'object'}}}," LIST_OF("Events", "Event") "}",
    "{'Plan':{'type':'object','required':['id','table','status','created'],'properties':{" RECORD_MEMBERS
    ",'status':{'type':'string','enum':['ready','held','empty','applied','rejected']},'created':" TIME
    ",'held_by':" TEXTS ",'candidates':" COUNT ",'candidate_bytes':" COUNT ",'cutoff':" TIME ",'location':" TEXT
    ",'answer':{'type':'object','required':['answer','by','at'],'properties':{'answer':{'type':'string',"
    "'enum':['approved','rejected']},'by':" TEXT ",'verified':" TRUTH ",'at':" TIME ",'overrides':" TEXTS
    ",'reason':" TEXT "}}}}," LIST_OF("Plans", "Plan") "}",
    "{'Run':{'type':'object','required':['id','table','status','started'],'properties':{" RECORD_MEMBERS
    ",'status':" TEXT ",'started':" TIME ",'ended':" TIME ",'moved':" COUNT ",'deleted':" COUNT ",'returned':" COUNT
    ",'quarantine':" TEXT ",'kind':" TEXT "}}," LIST_OF("Runs", "Run") "}",
    "{'Decision':{'type':'object','required':['id','table','verdict','at'],'properties':{" RECORD_MEMBERS
    ",'verdict':{'type':'string','enum':['run','skip','defer','refused','error']},'at':" TIME ",'by':" TEXT
    ",'why':" TEXT ",'mode':" TEXT "}}," LIST_OF(
        "Decisions", "Decision") ","
                                 "'Explanation':{'type':'object','required':['decision','plans','runs'],'properties':{'"
                                 "decision':" REF("Decision") ",'plans':{'type':'array','items':" REF(
                                     "Plan") "},'runs':{'type':'array','items':" REF("Run") "}}}}",
    "{'JobState':{'type':'string','enum':['queued','started','succeeded','failed','cancelling','cancelled','unknown']},"
    "'Job':{'type':'object','required':['id','kind','state','attempt','queued'],'properties':{'id':" TEXT
    ",'kind':" TEXT ",'state':" REF("JobState") ",'template':" TEXT ",'table':" TEXT ",'policy':" TEXT ",'parent':" TEXT
                                                ",'owner':" TEXT ",'attempt':" COUNT ",'queued':" TIME
                                                ",'not_before':" TIME ",'started':" TIME ",'ended':" TIME
                                                ",'plan':" TEXT ",'run':" TEXT ",'code':" TEXT ",'message':" TEXT
                                                ",'config':{'type':['object','null']}}}," LIST_OF("Jobs", "Job") "}",
    "{'Fire':{'type':'object','required':['policy','trigger','local','fires','why'],'properties':{'policy':" TEXT
    ",'table':" TEXT ",'trigger':" COUNT ",'nominal':" TIME ",'local':" TEXT ",'fires':" TIME ",'why':" TEXTS "}},"
    "'Fires':{'type':'object','required':['items'],'properties':{'items':{'type':'array','items':" REF(
        "Fire") "}}},"
                "'TableName':{'type':'object','required':['table','policies'],'properties':{'table':" TEXT
                ",'policies':" TEXTS "}}," LIST_OF(
                    "Tables",
                    "TableName") ","
                                 "'Table':{'type':'object','required':['table','location','policies','runs'],'"
                                 "properties':{'table':" TEXT ",'uuid':" TEXT ",'location':" TEXT ",'metadata':" TEXT
                                 ",'format_version':" COUNT ",'snapshots':" COUNT ",'last_updated':" TIME
                                 ",'policies':{'type':'array','items':{'type':'object','required':['policy','mode'],"
                                 "'properties':{'policy':" TEXT ",'mode':" TEXT
                                 ",'next':" REF("Fire") "}}},'runs':{'type':'array','items':" REF("Run") "}}}}",
    "{'PolicyName':{'type':'object','required':['policy','bundle','is_object','bindings'],'properties':{'policy':" TEXT
    ",'bundle':" TEXT ",'is_object':" TRUTH ",'bindings':" COUNT
    "}}," LIST_OF("Policies", "PolicyName") ","
                                            "'Policy':{'type':'object','required':['policy','bundle','generation','"
                                            "manifest','bound'],'properties':{"
                                            "'policy':" TEXT ",'bundle':" TEXT ",'is_object':" TRUTH
                                            ",'bindings':" COUNT ",'generation':" TEXT ",'file':" TEXT
                                            ",'manifest':{'type':'object'},'source':" TEXT
                                            ",'bound':{'type':'array','items':{'type':'object','required':"
                                            "['tables','mode','covered','covers'],'properties':{'tables':" TEXTS
                                            ",'mode':" TEXT ",'params':{'type':'object'},"
                                            "'covered':" TEXTS ",'covers':" COUNT "}}}}}}",
    "{'WhyNot':{'type':'object','required':['record','checks','guards'],'properties':{'record':{'type':'object'},"
    "'checks':{'type':'array','items':{'type':'object'}},'guards':{'type':'array','items':{'type':'object'}},'earliest'"
    ":" COUNT ",'reads':" TEXTS "}},"
    "'Simulation':{'type':'object','required':['estimate','decisions','totals'],'properties':{'estimate':" TRUTH
    ",'decisions':{'type':'array','items':{'type':'object'}},'totals':{'type':'array','items':{'type':'object'}}}},"
    "'Verdict':{'type':'object','required':['policy','table','status'],'properties':{'policy':" TEXT ",'table':" TEXT
    ",'verdict':" TEXT ",'status':" TEXT ",'decision':" TEXT ",'job':" TEXT ",'message':" TEXT "}}}",
    "{'Token':{'type':'object','required':['name','role'],'properties':{'name':" TEXT ",'role':" TEXT ",'creator':" TEXT
    ",'created':" TIME ",'expires':" TIME "}},"
    "'Tokens':{'type':'object','required':['items'],'properties':{'items':{'type':'array','items':" REF(
        "Token") "}}},"
                 "'NewToken':{'type':'object','required':['name','role','token'],'properties':{'name':" TEXT
                 ",'role':" TEXT ",'expires':" TIME ",'token':" TEXT "}}}",
    NULL,
};
