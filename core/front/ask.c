/* SPDX-License-Identifier: Apache-2.0 */
#include "front/ask.h"

#include <poll.h>
#include <stdio.h>
#include <strings.h>
#include <unistd.h>

#define LOOK_EVERY_MS 100
#define ANSWER_MAX 64

bool ebb_ask_is_possible(void)
{
    return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

/* A signal does not end the read of this thread, so look at the flag now and then. */
static int read_answer(struct ebb_cli *cli, char answer[ANSWER_MAX], struct ebb_err *err)
{
    struct pollfd in = {STDIN_FILENO, POLLIN, 0};
    ssize_t n;

    while (!atomic_load(cli->cancelled)) {
        if (poll(&in, 1, LOOK_EVERY_MS) <= 0)
            continue;
        n = read(STDIN_FILENO, answer, ANSWER_MAX - 1);
        answer[n > 0 ? n : 0] = '\0';
        answer[strcspn(answer, "\r\n")] = '\0';
        return 0;
    }
    return ebb_err_set(err, EBB_ECANCELLED, "interrupted: nothing was done");
}

int ebb_ask(struct ebb_cli *cli, const char *question, bool *yes, struct ebb_err *err)
{
    char answer[ANSWER_MAX];
    int rc;

    ebb_cli_clear_progress(cli);
    fprintf(stderr, "%s [y/N] ", question);
    fflush(stderr);
    rc = read_answer(cli, answer, err);
    if (rc)
        fputc('\n', stderr);
    *yes = !rc && (!strcasecmp(answer, "y") || !strcasecmp(answer, "yes"));
    return rc;
}
