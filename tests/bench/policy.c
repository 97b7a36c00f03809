/* SPDX-License-Identifier: Apache-2.0
 *
 * How many evaluations of a policy a core makes in a second, and what one costs in bare lua_newstate + lua_close of the
 * same run. Every evaluation has its gas counted, its reads recorded, and a fresh state.
 *
 *     bench_policy FACTS.json POLICY.lua…
 */
#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "engine/engine.h"
#include "engine/evaluator.h"

#define NOW ((int64_t)1774742400000)
#define ROUND_S 0.4
#define ROUNDS 3

struct job {
    struct ebb_evaluator *evaluator; /* NULL: one of its own for each */
    const struct ebb_policy *policy;
    struct ebb_decide_input input;
    const char *verdict;
};
typedef bool work_cb(struct job *job);

static double now_s(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static bool bare_state(struct job *job)
{
    lua_State *L = luaL_newstate();

    (void)job;
    if (L)
        lua_close(L);
    return L != NULL;
}

static bool decide(struct job *job)
{
    struct ebb_decision *d = NULL;
    struct ebb_err err;
    int rc = job->evaluator ? ebb_evaluator_decide(job->evaluator, job->policy, &job->input, &d, &err)
                            : ebb_decide(job->policy, &job->input, &d, &err);

    if (rc)
        fprintf(stderr, "%s\n", err.message);
    else
        job->verdict = ebb_verdict_name(ebb_decision_get_verdict(d));
    ebb_decision_free(d);
    return rc == 0;
}

/* Microseconds for one, the best of some rounds; 0 when it failed. */
static double measure(work_cb *work, struct job *job)
{
    double best = 0;

    for (int round = 0; round < ROUNDS; round++) {
        double begin = now_s(), took;
        long done = 0;

        do {
            for (int i = 0; i < 50; i++, done++)
                if (!work(job))
                    return 0;
            took = now_s() - begin;
        } while (took < ROUND_S);
        if (round == 0 || took / (double)done < best)
            best = took / (double)done;
    }
    return best * 1e6;
}

static void print(const char *name, const char *how, const char *verdict, double us, double bare)
{
    printf("%-24s %-22s %-8s %10.0f /s %9.2f us %8.2f\n", name, how, verdict, us > 0 ? 1e6 / us : 0, us,
           bare > 0 ? us / bare : 0);
}

static int bench(const char *file, const struct ebb_value *facts, double bare)
{
    const struct ebb_value *properties = ebb_value_get(ebb_value_get(facts, "table"), "properties");
    struct ebb_policy *policy = NULL;
    struct ebb_settings *settings = NULL;
    struct job job = {.input = {.facts = facts, .now_ms = NOW, .bound = true}};
    struct ebb_err err;
    double us;
    int rc = ebb_policy_load(file, &policy, NULL, &err);

    if (!rc)
        rc = ebb_settings_new(policy, NULL, properties, &settings, &err);
    if (!rc)
        rc = ebb_evaluator_new(&job.evaluator, &err);
    if (rc)
        goto out;
    job.policy = policy;
    job.input.settings = settings;
    job.input.without_record = true;
    us = measure(decide, &job);
    print(ebb_policy_get_name(policy), "evaluator", job.verdict, us, bare);
    job.input.without_record = false;
    us = measure(decide, &job);
    print("", "evaluator, record", job.verdict, us, bare);
    ebb_evaluator_free(job.evaluator);
    job.evaluator = NULL;
    us = measure(decide, &job);
    print("", "one-shot, record", job.verdict, us, bare);
out:
    if (rc)
        fprintf(stderr, "%s\n", err.message);
    ebb_evaluator_free(job.evaluator);
    ebb_settings_free(settings);
    ebb_policy_free(policy);
    return rc;
}

static struct ebb_value *read_facts(const char *path)
{
    static char text[1 << 20];
    FILE *file = fopen(path, "rb");
    struct ebb_value *facts = NULL;
    struct ebb_err err;
    size_t n = file ? fread(text, 1, sizeof text, file) : 0;

    if (!file || ebb_value_of_json(path, text, n, NULL, &facts, &err))
        fprintf(stderr, "%s: can't be read\n", path);
    if (file)
        fclose(file);
    return facts;
}

int main(int argc, char **argv)
{
    struct ebb_value *facts = argc > 2 ? read_facts(argv[1]) : NULL;
    double bare;
    int rc = 0;

    if (!facts)
        return fprintf(stderr, "usage: bench_policy FACTS.json POLICY.lua...\n"), 64;
    bare = measure(bare_state, NULL);
    printf("%-24s %-22s %-8s %13s %12s %8s\n", "policy", "how", "verdict", "a core", "each", "ratio");
    print("(lua_newstate+lua_close)", "", "", bare, bare);
    for (int i = 2; i < argc; i++)
        rc = bench(argv[i], facts, bare) ? 1 : rc;
    ebb_value_free(facts);
    return rc;
}
