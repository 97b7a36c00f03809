/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/mask.h"

#include "engine/mask_priv.h"

bool ebb_is_secret_name(struct ebb_str name)
{
    return ebb__is_secret_name(name);
}
