/* SPDX-License-Identifier: Apache-2.0
 *
 * The sandbox for policy code: one fresh lua_State per evaluation with an allow-list of functions, frozen globals, and
 * budgets of gas, memory and CPU time. Once a budget is used up the state is aborted for good: no script code can catch
 * that. Used by the policy loader, the evaluator and the data loader. One sandbox belongs to one thread.
 */
#ifndef EBB_ENGINE_SANDBOX_PRIV_H
#define EBB_ENGINE_SANDBOX_PRIV_H

#include <lua.h>

#include "base/tz.h"
#include "engine/value_priv.h"

/* Marks functions that may leave by a Lua error; they hold no malloc'ed memory. */
#define EBB_LJMP
#define EBB_MAY_LJMP(call) (call)

#define EBB__GAS_HEADER ((int64_t)100000)
#define EBB__GAS_UNLIMITED ((int64_t)1 << 60)
#define EBB__MEMORY_BYTES ((size_t)4 * 1024 * 1024)
#define EBB__COLLECT_BYTES 128 /* bytes in use for one unit of gas when everything is collected */
#define EBB__DEADLINE_MS 250
#define EBB__WALK_BYTES 4096               /* memory in use for one unit of gas when all of a table is walked */
#define EBB__WALK_FREE ((size_t)64 * 1024) /* with less than this in use a walk is short */
#define EBB__TEXT_MAX ((size_t)64 * 1024)  /* greatest text a helper makes */
#define EBB__ERROR_MAX 1000                /* bytes of an error message that are kept */
#define EBB__ZONES_MAX 16
#define EBB__ACTIONS_MAX 64

/* What may be called. HEADER: constructors; DECIDE: checks, actions, facts; DATA: pure helpers and env. */
enum ebb__phase { EBB__PHASE_HEADER, EBB__PHASE_DECIDE, EBB__PHASE_DATA };

/* Memory at a fixed address that is filled upwards. The address ends in 32 zero bits where that can be had, since Lua
 * hashes by these. */
#define EBB__POOL_CLASSES 96
struct ebb__pool {
    char *base;
    size_t size, used;
    bool reuses;                    /* what is given back is used again, by classes of size */
    void *given[EBB__POOL_CLASSES]; /* chains of it */
};
/* EBB_ENOMEM. */
int ebb__pool_init(struct ebb__pool *pool, size_t size, bool reuses, struct ebb_err *err);
void ebb__pool_fini(struct ebb__pool *pool);

struct ebb__bundle;
struct ebb__reads;
struct ebb__sandbox {
    lua_State *L;
    struct ebb__pool *pool; /* where the state lives; NULL: the heap */
    int64_t gas_limit, gas_left;
    size_t mem_used, mem_peak, mem_max;
    size_t collect_at; /* when more is used everything is collected */
    int64_t cpu_end_ns;
    int ticks;
    void *first; /* allocation of lua_newstate, until its second */
    size_t first_bytes;
    enum ebb_error aborted; /* EBB_OK, EBB_EPOLICY_GAS, EBB_EPOLICY_MEMORY, EBB_EPOLICY_DEADLINE */
    enum ebb__phase phase;
    struct ebb_tz *zones[EBB__ZONES_MAX]; /* loaded for time.civil and the like */
    size_t zone_count;
    struct ebb_value *actions[EBB__ACTIONS_MAX]; /* made by the action constructors; owned */
    size_t action_count;
    size_t kept_count;          /* that many of the actions belong to the image of the state */
    struct ebb__bundle *bundle; /* libraries of `use`, or NULL */
    struct ebb__reads *reads;   /* the read set of frozen views, or NULL */
    uint8_t *lines;             /* bitmap of executed lines of the main chunk, or NULL */
    size_t line_count;          /* bits in it */
    void *host;                 /* of the bindings: struct ebb__loading, struct ebb__eval, … */
};

/* Open a state. opener runs inside a protected call and pushes the table of globals, which becomes the frozen
 * environment of all chunks. */
int ebb__sandbox_open(struct ebb__sandbox *sb, enum ebb__phase phase, void *host, lua_CFunction opener,
                      struct ebb_err *err);
/* The same with a state that lives in an empty pool. One that fills a pool without reuse is aborted with
 * EBB_EPOLICY_MEMORY; else everything is collected, as in the heap. */
int ebb__sandbox_open_in(struct ebb__sandbox *sb, struct ebb__pool *pool, enum ebb__phase phase, void *host,
                         lua_CFunction opener, struct ebb_err *err);
void ebb__sandbox_close(struct ebb__sandbox *sb);
/* Free the zones and actions that were made since the image. */
void ebb__sandbox_drop(struct ebb__sandbox *sb);
/* Mark the lines of the main chunk that are executed, from now on. Such a state uses other gas. */
void ebb__sandbox_watch_lines(struct ebb__sandbox *sb, uint8_t *lines, size_t count);
/* CPU time of this thread; 0 where there is no such clock. */
int64_t ebb__cpu_now_ns(void);
/* The deadline has passed. */
bool ebb__sandbox_is_late(const struct ebb__sandbox *sb);
/* Fix the seed of strings of a state that is being made (sandbox_seed.c): its first allocation. */
void ebb__seed_set(struct ebb__sandbox *sb, void *state, size_t size);
/* lua_Alloc of all sandboxes (sandbox_memory.c); data is the sandbox. */
void *ebb__sandbox_alloc(void *data, void *block, size_t old, size_t wanted);
/* Give a new budget of gas and a new deadline; counts start from here. */
void ebb__sandbox_refuel(struct ebb__sandbox *sb, int64_t gas);
int64_t ebb__sandbox_gas_used(const struct ebb__sandbox *sb);
/* Run body(L) with one light userdata argument in a protected call. file names the main chunk in messages; *line gets
 * the line of the error when known, else 0 (may be NULL). EBB_EPOLICY_ERROR, _GAS, _MEMORY, _DEADLINE. */
int ebb__sandbox_run(struct ebb__sandbox *sb, lua_CFunction body, void *data, const char *file, int *line,
                     struct ebb_err *err);

/* For bindings. The sandbox of a state. */
struct ebb__sandbox *ebb__sandbox_of(lua_State *L);
/* Pay for work; aborts when the gas is gone. */
EBB_LJMP void ebb__charge(lua_State *L, size_t units);
/* Pay for a walk over all of a table: one that was emptied still has its slots, and what is in use bounds them. */
EBB_LJMP void ebb__charge_walk(lua_State *L);
/* Stop for good. */
EBB_LJMP int ebb__abort(lua_State *L, enum ebb_error why);
/* Load text (mode "t", at most 64 KiB) as a chunk with the frozen environment and push it; raises a syntax error. */
EBB_LJMP void ebb__load_chunk(lua_State *L, const char *source, size_t n, const char *name);
/* Protected call for scripts: like lua_pcall without handler, but an abort goes on and memory errors become aborts. */
EBB_LJMP int ebb__pcall(lua_State *L, int args);
/* A zone by name, loaded once per sandbox. Raises an error. */
EBB_LJMP const struct ebb_tz *ebb__zone(lua_State *L, const char *name);

/* Turn the table at the top into a read-only userdata: unknown names and writes raise errors with a hint. name (static)
 * is used in messages;
 * "" for the globals. */
EBB_LJMP void ebb__freeze(lua_State *L, const char *name);

#endif
