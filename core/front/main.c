/* SPDX-License-Identifier: Apache-2.0
 *
 * The program `ebb`.
 */
#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include "engine/lua_version.h"
#include "front/cli.h"
#include "front/help.h"
#include "front/signals.h"

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
    ebb_buf_printf(&cli->out, "ebb %s\nLua %s\nSQLite %s\n", EBB_VERSION, ebb_lua_version(), sqlite3_libversion());
    return 0;
}

static int run(struct ebb_cli *cli, int argc, char **argv, struct ebb_err *err)
{
    int rc = ebb_args_parse(&cli->args, argc, argv, err);

    if (!rc && !(cli->args.command && cli->args.command->has_signals))
        rc = ebb_signals_watch(cli->signals, err);
    if (rc)
        return rc;
    if (ebb_args_has(&cli->args, "help"))
        return ebb_help_print(&cli->out, cli->args.name, err);
    if (ebb_args_has(&cli->args, "version"))
        return print_version(cli);
    rc = ebb_lua_check(ebb_lua_version(), err);
    return rc ? rc : cli->args.command->run(cli, err);
}

int main(int argc, char **argv)
{
    struct ebb_err err = {EBB_OK, false, "", ""}, out_err = {EBB_OK, false, "", ""};
    struct ebb_signals signals = {false, false, false};
    struct ebb_cli cli;
    int rc, status;

    if (!hold_descriptors())
        return 3;
    ebb_cli_init(&cli, &signals.interrupted);
    cli.signals = &signals;
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
