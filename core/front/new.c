/* SPDX-License-Identifier: Apache-2.0
 *
 * ebb new policy: a policy, its spec and a fixture from a template. Nothing is ever overwritten.
 */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/policy.h"
#include "front/commands.h"
#include "front/print.h"
#include "io/file.h"
#include "service/pass.h"

#define TEXT_MAX ((size_t)1024 * 1024)

static const struct ebb_option OPTIONS[] = {
    {"from", 0, "KIND", "orphans|expire|compact|blank", false, "what it begins with (required)"},
    EBB_OPTIONS_END,
};

static const struct ebb_example EXAMPLES[] = {
    {"ebb new policy --from orphans sweep-nightly",
     "sweep_nightly.lua, its spec and a fixture, in the configured folder"},
    {"ebb new policy --from blank mine ./team/policies", "the same in another folder"},
    {NULL, NULL},
};

/* The files that are made: of the template, and below the folder. */
static const struct {
    const char *from;       /* in the folder of the kind */
    const char *to, *after; /* before and after the stem of the name */
} FILES[] = {
    {"policy.lua", "", ".lua"},
    {"spec.lua", "", "_spec.lua"},
    {"../facts.json", "fixtures/", ".json"},
};
#define FILE_COUNT (sizeof FILES / sizeof *FILES)

struct making {
    const char *name, *kind;
    char stem[64];
    struct ebb_buf dir, data_dir;
    struct ebb_strs made;
};

static int check_name(struct making *m, struct ebb_err *err)
{
    size_t n = strlen(m->name);

    if (!ebb_policy_is_name(m->name) || (n > 5 && !strcmp(m->name + n - 5, "-spec"))) {
        ebb_err_set(err, EBB_EUSAGE, "%.80s: no name for a policy", m->name);
        ebb_err_hint(err, "a name is [a-z][a-z0-9-]*, at most 63 bytes, and does not end in -spec");
        return -(int)EBB_EUSAGE;
    }
    for (size_t i = 0; i <= n; i++)
        m->stem[i] = m->name[i] == '-' ? '_' : m->name[i];
    return 0;
}

static int find_dir(struct ebb_cli *cli, struct making *m, struct ebb_err *err)
{
    const char *dir = ebb_args_word(&cli->args, 1);
    int rc = dir ? 0 : ebb_cli_open(cli, true, err);

    if (rc)
        return rc;
    if (!dir)
        dir = ebb_workspace_config(cli->ws)->policies;
    ebb_buf_puts(&m->dir, dir ? dir : "./policies");
    ebb_pass_data_dir(&m->data_dir);
    return ebb_buf_check(&m->dir, "folder", err);
}

static int path_of(struct making *m, size_t i, struct ebb_buf *out, struct ebb_err *err)
{
    ebb_buf_reset(out);
    ebb_buf_printf(out, "%s/%s%s%s", ebb_buf_cstr(&m->dir), FILES[i].to, m->stem, FILES[i].after);
    return ebb_buf_check(out, "path", err);
}

/* Nothing is made when one of the files is there already. */
static int check_free(struct making *m, struct ebb_buf *path, struct ebb_err *err)
{
    struct stat st;
    int rc = 0;

    for (size_t i = 0; !rc && i < FILE_COUNT; i++) {
        rc = path_of(m, i, path, err);
        if (rc || lstat(ebb_buf_cstr(path), &st))
            continue;
        rc = ebb_err_set(err, EBB_EEXIST, "%s: is there already; nothing was written", ebb_buf_cstr(path));
        ebb_err_hint(err, "choose another name or folder");
    }
    return rc;
}

static int make_dir(const char *path, struct ebb_err *err)
{
    if (mkdir(path, 0777) && errno != EEXIST)
        return ebb_err_errno(err, errno, "%s: making the folder", path);
    return 0;
}

static int make_dirs(struct making *m, struct ebb_buf *path, struct ebb_err *err)
{
    int rc = make_dir(ebb_buf_cstr(&m->dir), err);

    ebb_buf_reset(path);
    ebb_buf_printf(path, "%s/fixtures", ebb_buf_cstr(&m->dir));
    return rc ? rc : make_dir(ebb_buf_cstr(path), err);
}

/* Put the name where the template has its own. */
static void put_named(struct ebb_buf *out, const char *text, struct making *m)
{
    static const char *const MARKS[] = {"template-name", "template_name"};
    const char *names[2] = {m->name, m->stem};

    while (*text) {
        size_t which = 0;

        while (which < 2 && strncmp(text, MARKS[which], strlen(MARKS[which])) != 0)
            which++;
        if (which == 2) {
            ebb_buf_putc(out, *text++);
            continue;
        }
        ebb_buf_puts(out, names[which]);
        text += strlen(MARKS[which]);
    }
}

static int create(struct making *m, const char *path, const struct ebb_buf *text, struct ebb_err *err)
{
    int rc = ebb_file_create(path, text->data, text->len, err);

    return rc ? rc : ebb_strs_add(&m->made, path, err);
}

static int make_file(struct making *m, size_t i, struct ebb_buf *path, struct ebb_err *err)
{
    struct ebb_buf from, text;
    int rc;

    ebb_buf_init(&from, TEXT_MAX);
    ebb_buf_init(&text, TEXT_MAX);
    ebb_buf_printf(path, "%s/policies/templates/%s/%s", ebb_buf_cstr(&m->data_dir), m->kind, FILES[i].from);
    rc = ebb_file_read(ebb_buf_cstr(path), &from, err);
    if (!rc)
        put_named(&text, ebb_buf_cstr(&from), m);
    if (!rc)
        rc = ebb_buf_check(&text, FILES[i].from, err);
    if (!rc)
        rc = path_of(m, i, path, err);
    if (!rc)
        rc = create(m, ebb_buf_cstr(path), &text, err);
    ebb_buf_fini(&text);
    ebb_buf_fini(&from);
    return rc;
}

/* Settings of lua-language-server; one that is there stays. */
static int make_settings(struct making *m, struct ebb_buf *path, struct ebb_err *err)
{
    static const char *const GLOBALS[] = {"after_each", "before_each", "describe", "it",
                                          "pending",    "setup",       "teardown"};
    struct ebb_buf text, stubs;
    struct ebb_jsonw w;
    int rc;

    ebb_buf_init(&text, TEXT_MAX);
    ebb_buf_init(&stubs, TEXT_MAX);
    ebb_buf_printf(&stubs, "%s/lua-stubs", ebb_buf_cstr(&m->data_dir));
    ebb_jsonw_init(&w, &text);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kstr(&w, "runtime.version", "Lua 5.4");
    ebb_jsonw_key(&w, "workspace.library");
    ebb_jsonw_begin(&w, '[');
    ebb_jsonw_str(&w, ebb_buf_cstr(&stubs));
    ebb_jsonw_end(&w, ']');
    ebb_jsonw_key(&w, "diagnostics.globals");
    ebb_jsonw_begin(&w, '[');
    for (size_t i = 0; i < sizeof GLOBALS / sizeof *GLOBALS; i++)
        ebb_jsonw_str(&w, GLOBALS[i]);
    ebb_jsonw_end(&w, ']');
    ebb_jsonw_end(&w, '}');
    ebb_buf_putc(&text, '\n');
    ebb_buf_reset(path);
    ebb_buf_printf(path, "%s/.luarc.json", ebb_buf_cstr(&m->dir));
    rc = ebb_buf_check(path, "path", err);
    if (!rc)
        rc = ebb_buf_check(&text, ".luarc.json", err);
    if (!rc)
        rc = create(m, ebb_buf_cstr(path), &text, err);
    ebb_buf_fini(&stubs);
    ebb_buf_fini(&text);
    return rc == -(int)EBB_EEXIST ? 0 : rc;
}

static int make_all(struct making *m, struct ebb_err *err)
{
    struct ebb_buf path;
    int rc;

    ebb_buf_init(&path, 65536);
    rc = check_free(m, &path, err);
    if (!rc)
        rc = make_dirs(m, &path, err);
    for (size_t i = 0; !rc && i < FILE_COUNT; i++) {
        ebb_buf_reset(&path);
        rc = make_file(m, i, &path, err);
    }
    if (!rc)
        rc = make_settings(m, &path, err);
    for (size_t i = 0; rc && i < m->made.count; i++)
        unlink(m->made.items[i]);
    ebb_buf_fini(&path);
    return rc;
}

static void print_made(struct ebb_cli *cli, struct making *m)
{
    struct ebb_jsonw w;

    if (cli->is_json) {
        ebb_jsonw_init(&w, &cli->out);
        ebb_jsonw_begin(&w, '{');
        ebb_jsonw_kstr(&w, "name", m->name);
        ebb_jsonw_key(&w, "files");
        ebb_jsonw_begin(&w, '[');
        for (size_t i = 0; i < m->made.count; i++)
            ebb_jsonw_str(&w, m->made.items[i]);
        ebb_jsonw_end(&w, ']');
        ebb_jsonw_end(&w, '}');
        ebb_buf_putc(&cli->out, '\n');
        return;
    }
    for (size_t i = 0; i < m->made.count; i++) {
        ebb_print_text(&cli->out, m->made.items[i]);
        ebb_buf_putc(&cli->out, '\n');
    }
    ebb_buf_puts(&cli->out, "next: ebb test ");
    ebb_print_text(&cli->out, m->made.items[0]);
    ebb_buf_putc(&cli->out, '\n');
}

static int run_new(struct ebb_cli *cli, struct ebb_err *err)
{
    struct making m = {.name = ebb_args_word(&cli->args, 0), .kind = ebb_args_get(&cli->args, "from")};
    int rc = 0;

    ebb_buf_init(&m.dir, 65536);
    ebb_buf_init(&m.data_dir, 65536);
    ebb_strs_init(&m.made);
    if (!m.kind) {
        rc = ebb_err_set(err, EBB_EUSAGE, "new policy: --from is missing");
        ebb_err_hint(err, "--from orphans, expire, compact or blank");
    }
    if (!rc)
        rc = check_name(&m, err);
    if (!rc)
        rc = find_dir(cli, &m, err);
    if (!rc)
        rc = make_all(&m, err);
    if (!rc)
        print_made(cli, &m);
    ebb_strs_fini(&m.made);
    ebb_buf_fini(&m.data_dir);
    ebb_buf_fini(&m.dir);
    return rc;
}

const struct ebb_command ebb_command_new = {
    .name = "new policy",
    .args = "NAME [DIR]",
    .summary = "a policy to begin with, its spec and a fixture",
    .about = "Writes NAME.lua (dashes become underlines), NAME_spec.lua, fixtures/NAME.json and, where there is none, "
             ".luarc.json with the definitions for lua-language-server. Nothing is overwritten. The result passes ebb "
             "check --strict and ebb test.",
    .arg_min = 1,
    .arg_max = 2,
    .options = OPTIONS,
    .examples = EXAMPLES,
    .run = run_new,
};
