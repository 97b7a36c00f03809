/* SPDX-License-Identifier: Apache-2.0 */
#include "base/failpoint.h"

#ifdef EBB_FAILPOINTS
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void ebb_failpoint_pass(const char *name)
{
    static long passed;
    const char *trace = getenv("EBB_FAILPOINT_TRACE");
    const char *kill_at = getenv("EBB_FAILPOINT");

    passed++;
    if (trace) {
        FILE *f = fopen(trace, "a");

        if (f) {
            fprintf(f, "%ld %s\n", passed, name);
            fclose(f);
        }
    }
    if (kill_at && (strtol(kill_at, NULL, 10) == passed || !strcmp(kill_at, name)))
        kill(getpid(), SIGKILL);
}
#else
typedef int ebb_failpoint_unused; /* a translation unit may not be empty (C11 6.9) */
#endif
