/* SPDX-License-Identifier: Apache-2.0
 *
 * The engine layer as the service uses it: policies, decisions, the chain to a job, data files. See the single headers.
 * Threads: a policy may be shared for reading; an engine and a decision belong to one thread.
 */
#ifndef EBB_ENGINE_ENGINE_H
#define EBB_ENGINE_ENGINE_H

#include "engine/data.h"
#include "engine/decide.h"
#include "engine/policy.h"
#include "engine/script.h"

#endif
