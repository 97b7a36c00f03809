/* SPDX-License-Identifier: Apache-2.0
 *
 * The program `ebb`.
 */
#include <fcntl.h>
#include <lua.h>
#include <signal.h>
#include <sqlite3.h>
#include <unistd.h>

#include "front/cli.h"
#include "front/help.h"

/* The one variable that a signal handler reaches. */
static atomic_bool interrupted;

static void on_signal(int number)
{
    (void)number;
    atomic_store(&interrupted, true);
}

/* The first signal asks to stop; the second one kills: the journal knows what was done. */
static void watch_signals(void)
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = (int)SA_RESETHAND;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    memset(&action, 0, sizeof action);
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, NULL);
}

/* A closed standard descriptor must not be given to a file that is opened later. Writing to this one fails, as it
 * should. */
static bool hold_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd)
            return false;
    return true;
}

static int print_version(struct ebb_cli *cli)
{
    ebb_buf_printf(&cli->out, "ebb %s\nLua %s.%s.%s\nSQLite %s\n", EBB_VERSION, LUA_VERSION_MAJOR, LUA_VERSION_MINOR,
                   LUA_VERSION_RELEASE, sqlite3_libversion());
    return 0;
}

static int run(struct ebb_cli *cli, int argc, char **argv, struct ebb_err *err)
{
    int rc = ebb_args_parse(&cli->args, argc, argv, err);

    if (rc)
        return rc;
    if (ebb_args_has(&cli->args, "help"))
        return ebb_help_print(&cli->out, cli->args.name, err);
    if (ebb_args_has(&cli->args, "version"))
        return print_version(cli);
    return cli->args.command->run(cli, err);
}

int main(int argc, char **argv)
{
    struct ebb_err err = {EBB_OK, false, "", ""}, out_err = {EBB_OK, false, "", ""};
    struct ebb_cli cli;
    int rc, status;

    if (!hold_descriptors())
        return 3;
    watch_signals();
    ebb_cli_init(&cli, &interrupted);
    cli.is_json = ebb_args_wants_json(argc, argv);
    rc = run(&cli, argc, argv, &err);
    status = rc ? ebb_error_exit((enum ebb_error) - rc) : cli.exit_status;
    if (ebb_cli_flush(&cli, &out_err) && (!rc || err.error == EBB_OK)) {
        err = out_err;
        rc = -(int)err.error;
        status = ebb_error_exit(err.error);
    }
    if (rc)
        ebb_cli_report(&cli, &err);
    ebb_cli_fini(&cli);
    return status;
}
