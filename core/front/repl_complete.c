/* SPDX-License-Identifier: Apache-2.0
 *
 * What TAB offers: commands, policies, tables, files, and the names that Lua knows here.
 */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "engine/api.h"
#include "front/repl_priv.h"
#include "front/tables.h"

#define FOUND_MAX 500

struct search {
    const char *word; /* what is there of it */
    size_t n;
    struct ebb_strs *out;
};

static int offer(struct search *s, const char *name, struct ebb_err *err)
{
    struct ebb_buf shown;
    bool is_plain;

    if (strncmp(name, s->word, s->n) || s->out->count >= FOUND_MAX || ebb_strs_has(s->out, name))
        return 0;
    ebb_buf_init(&shown, 65536);
    ebb_text_escape(&shown, name, strlen(name));
    is_plain = !strcmp(ebb_buf_cstr(&shown), name); /* nothing that the terminal would take for a command */
    ebb_buf_fini(&shown);
    return is_plain ? ebb_strs_add(s->out, name, err) : 0;
}

static int offer_commands(struct search *s, const char *prefix)
{
    const struct ebb__repl_command *c;
    char name[64];
    int rc = 0;

    for (size_t i = 0; !rc && (c = ebb__repl_command_at(i)); i++)
        if (snprintf(name, sizeof name, "%s%s", prefix, c->name) > 0)
            rc = offer(s, name, NULL);
    return rc;
}

static int offer_policies(struct ebb_repl *repl, struct search *s)
{
    const struct ebb_policy *p;
    int rc = 0;

    for (size_t i = 0; !rc && (p = ebb__repl_policy_at(repl, i)); i++)
        rc = offer(s, ebb_policy_get_name(p), NULL);
    return rc;
}

/* Files of the folder that the word names. */
static int offer_files(struct search *s, const char *suffix)
{
    const char *slash = s->n ? memrchr(s->word, '/', s->n) : NULL;
    size_t dir_n = slash ? (size_t)(slash - s->word) + 1 : 0, end = suffix ? strlen(suffix) : 0;
    char path[4096];
    struct dirent *e;
    struct stat st;
    DIR *dir;
    int rc = 0;

    snprintf(path, sizeof path, "%.*s", (int)dir_n, s->word);
    dir = opendir(dir_n ? path : ".");
    while (!rc && dir && (e = readdir(dir))) {
        size_t n = strlen(e->d_name);
        bool is_dir;

        if (e->d_name[0] == '.' ||
            snprintf(path, sizeof path, "%.*s%s", (int)dir_n, s->word, e->d_name) >= (int)sizeof path - 1)
            continue;
        is_dir = !stat(path, &st) && S_ISDIR(st.st_mode);
        if (is_dir)
            snprintf(path + dir_n + n, 2, "/");
        if (is_dir || !suffix || (n > end && !strcmp(e->d_name + n - end, suffix)))
            rc = offer(s, path, NULL);
    }
    if (dir)
        closedir(dir);
    return rc;
}

static int on_table(void *data, const char *name, const struct ebb_table_ref *ref, struct ebb_err *err)
{
    (void)ref;
    return offer(data, name, err);
}

static int offer_tables(struct ebb_repl *repl, struct search *s)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < repl->table_count; i++)
        rc = offer(s, repl->tables[i].label, NULL);
    if (!rc && ebb_cli_site(repl->cli)->catalog_count)
        ebb_tables_each(repl->cli, NULL, on_table, s, NULL);
    return rc ? rc : offer_files(s, ".json");
}

static bool is_class(const struct ebb_api_entry *e)
{
    return !strcmp(e->kind, "class") || !strcmp(e->kind, "open");
}

/* Whether a chunk can write the name: globals, and what is below t and ctx and the libraries. Members of other classes
 * belong to values that a script has in hand. */
static bool is_reachable(const struct ebb_api_entry *all, size_t count, const struct ebb_api_entry *e)
{
    size_t root = strcspn(e->name, ".");
    bool is_base = (root == 1 && e->name[0] == 't') || (root == 3 && !strncmp(e->name, "ctx", 3));

    if (!strcmp(e->phase, "header") || !strcmp(e->kind, "key") || (is_class(e) && !is_base))
        return false;
    for (size_t i = 0; e->name[root] && !is_base && i < count; i++)
        if (is_class(&all[i]) && strlen(all[i].name) == root && !strncmp(all[i].name, e->name, root))
            return false;
    return true;
}

/* Whether there are names below the first n bytes of this one. */
static bool has_below(const struct ebb_api_entry *all, size_t count, const char *name, size_t n)
{
    for (size_t i = 0; i < count; i++)
        if (!strncmp(all[i].name, name, n) && all[i].name[n] == '.' && is_reachable(all, count, &all[i]))
            return true;
    return false;
}

/* Names of the policy API below a prefix that is left out ("t."): the next component of each. */
static int offer_api(struct search *s, const char *prefix)
{
    size_t count, skip = strlen(prefix);
    const struct ebb_api_entry *all = ebb_api_get(&count);
    char name[128];
    int rc = 0;

    for (size_t i = 0; !rc && i < count; i++) {
        const char *full = all[i].name;
        size_t n;

        if (strncmp(full, prefix, skip) || strncmp(full + skip, s->word, s->n) || !is_reachable(all, count, &all[i]))
            continue;
        n = s->n + strcspn(full + skip + s->n, ".");
        if (strpbrk(full + skip, "[]<> ") || n + 1 >= sizeof name)
            continue;
        snprintf(name, sizeof name, "%.*s%s", (int)n, full + skip, has_below(all, count, full, skip + n) ? "." : "");
        rc = offer(s, name, NULL);
    }
    return rc;
}

static int offer_arguments(struct ebb_repl *repl, const char *command, size_t n, struct search *s)
{
    const struct ebb__repl_command *c;

    for (size_t i = 0; (c = ebb__repl_command_at(i)); i++)
        if (strlen(c->name) == n && !memcmp(c->name, command, n))
            break;
    switch (c ? c->kind : EBB__REPL_OTHER) {
    case EBB__REPL_TABLE:
        return offer_tables(repl, s);
    case EBB__REPL_POLICY:
        return offer_policies(repl, s);
    case EBB__REPL_FILE:
        return offer_files(s, NULL);
    case EBB__REPL_PATH:
        return offer_api(s, "t.");
    case EBB__REPL_COMMAND:
        return offer_commands(s, "");
    default:
        return 0;
    }
}

static bool is_word(char c, bool is_command)
{
    return is_command ? !isspace((unsigned char)c) : isalnum((unsigned char)c) || c == '_' || c == '.';
}

int ebb__repl_complete(struct ebb_repl *repl, const char *line, size_t n, size_t *start, struct ebb_strs *out)
{
    size_t begin = 0, at = n, end;
    struct search s;
    bool is_command;

    while (begin < n && isspace((unsigned char)line[begin]))
        begin++;
    is_command = begin < n && line[begin] == ':';
    while (at > begin && is_word(line[at - 1], is_command))
        at--;
    *start = at;
    s = (struct search){line + at, n - at, out};
    if (!is_command)
        return offer_api(&s, "");
    if (at == begin)
        return offer_commands(&s, ":");
    for (end = begin + 1; end < n && !isspace((unsigned char)line[end]); end++)
        ;
    return offer_arguments(repl, line + begin + 1, end - begin - 1, &s);
}
