/* SPDX-License-Identifier: Apache-2.0
 *
 * Policy files: any bytes through the header phase and, when they load, through decide on a fixed table. A decision
 * must have a record; a run must keep the floor and the location.
 */
#include <stdlib.h>

#include "base/location.h"
#include "engine/engine.h"

#define NOW ((int64_t)1774742400000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char FACTS[] = "{\"table\":{\"catalog\":\"c\",\"namespace\":\"n\",\"name\":\"t\",\"uuid\":\"u\","
                            "\"location\":\"s3://b/t\",\"format_version\":2,"
                            "\"properties\":{\"owner.timezone\":\"Europe/"
                            "Berlin\"},\"current_snapshot\":{\"id\":2},\"snapshots\":[{\"id\":1,\"at\":1774700000000},"
                            "{\"id\":2,\"at\":1774740000000}],\"stats\":{\"bytes\":5,\"longest_write\":7},"
                            "\"partitions\":[{\"key\":\"a\",\"files\":3,\"bytes\":9}],"
                            "\"location_overlaps\":0},\"events\":[{\"id\":\"e\",\"type\":\"commit.failed\",\"at\":"
                            "1774740000000,\"files_written\":3}],\"runs\":[]}";

static void check(const struct ebb_decision *d)
{
    const struct ebb_value *action = ebb_decision_get_action(d);
    const char *type = ebb_value_text_of(action, "type"), *location = ebb_value_text_of(action, "location");
    bool inside = false;

    if (!ebb_decision_get_record(d))
        abort();
    if (ebb_decision_get_verdict(d) != EBB_VERDICT_RUN || !type || strcmp(type, "remove_orphan_files"))
        return;
    if (ebb_value_int_of(action, "older_than", NOW) > NOW - EBB_DECIDE_FLOOR_MS)
        abort();
    if (location && (ebb_location_contains("s3://b/t", location, NULL, &inside, NULL) || !inside))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ebb_policy *policy = NULL;
    struct ebb_value *facts = NULL;
    struct ebb_decision *d = NULL;
    struct ebb_diagnostics diags;
    struct ebb_err err;
    struct ebb_decide_input input = {.now_ms = NOW, .bound = true, .gas = 200000};

    ebb_diagnostics_init(&diags);
    if (!ebb_policy_load_text("fuzz.lua", (const char *)data, size, &policy, &diags, &err) &&
        !ebb_value_of_json("facts", FACTS, sizeof FACTS - 1, NULL, &facts, &err)) {
        input.facts = facts;
        ebb_decide(policy, &input, &d, &err);
        if (d)
            check(d);
    }
    ebb_decision_free(d);
    ebb_value_free(facts);
    ebb_policy_free(policy);
    ebb_diagnostics_fini(&diags);
    return 0;
}
