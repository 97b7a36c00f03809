/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "service/generation.h"
#include "service/objects.h"
#include "service/pass_priv.h"

static bool has_scripts(const char *dir)
{
    char path[8192];

    return snprintf(path, sizeof path, "%s/scripts/strategies", dir) < (int)sizeof path && !access(path, R_OK);
}

/* Cut n components off the end of a path. */
static void cut(char *path, int n)
{
    while (n-- > 0) {
        char *slash = strrchr(path, '/');

        if (!slash)
            return;
        *slash = '\0';
    }
}

void ebb_pass_data_dir(struct ebb_buf *out)
{
    char exe[4096], path[8192];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);

    ebb_buf_reset(out);
    if (n > 0) {
        exe[n] = '\0';
        cut(exe, 2);
        if (snprintf(path, sizeof path, "%s/share/ebb", exe) < (int)sizeof path && has_scripts(path)) {
            ebb_buf_puts(out, path);
            return;
        }
        for (int up = 0; up < 2; up++, cut(exe, 1)) /* build/ebb and build/<preset>/ebb in a source tree */
            if (has_scripts(exe)) {
                ebb_buf_puts(out, exe);
                return;
            }
    }
    ebb_buf_puts(out, EBB_DATADIR);
}

bool ebb__pass_is_policy_file(const char *name)
{
    size_t n = strlen(name);

    return n > 4 && !strcmp(name + n - 4, ".lua") && !(n > 9 && !strcmp(name + n - 9, "_spec.lua"));
}

static int load_named(struct ebb_policy_list *list, const char *name, struct ebb_policy **out, struct ebb_err *err)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i] && !strcmp(ebb_policy_get_name(list->items[i]), name)) {
            *out = list->items[i];
            list->items[i] = NULL;
            return 0;
        }
    if (list->first_error.error)
        return ebb_err_set(err, list->first_error.error,
                           "policy %s: not found among those that load; another does not load: %s", name,
                           list->first_error.message);
    ebb_err_set(err, EBB_ENOT_FOUND, "policy %s: no policy of that name in the configured folder", name);
    if (ebb_is_object_name(name))
        ebb_err_hint(err,
                     "a policy object lives in the daemon: GET /api/next?policy=%.200s, "
                     "/api/tables/TABLE/whynot?policy=%.200s",
                     name, name);
    else
        ebb_err_hint(err,
                     "the name is the one in a policy's header, not of its file; `ebb tables` shows what is bound");
    return -(int)EBB_ENOT_FOUND;
}

static int list_folder(struct ebb_workspace *ws, struct ebb_policy_list *list, struct ebb_err *err)
{
    const char *dir = ebb_workspace_config(ws)->policies;
    int rc;

    memset(list, 0, sizeof *list);
    if (!dir) {
        rc = ebb_err_set(err, EBB_ECONFIG, "policies: the configuration names no folder of policies");
        ebb_err_hint(err, "add policies = \"./policies\" to ebb.lua");
        return rc;
    }
    return ebb__policy_list_read(dir, list, err);
}

int ebb_pass_load_policy(struct ebb_workspace *ws, const char *policy, struct ebb_policy **out, struct ebb_err *err)
{
    struct ebb_policy_list list;
    int rc;

    if (strchr(policy, '/') || ebb__pass_is_policy_file(policy))
        return ebb_policy_load(policy, out, NULL, err);
    rc = list_folder(ws, &list, err);
    if (!rc)
        rc = load_named(&list, policy, out, err);
    ebb__policy_list_fini(&list);
    return rc;
}

static int add_path(struct ebb_strs *out, const char *dir, const char *name, struct ebb_err *err)
{
    struct ebb_buf path;
    int rc;

    ebb_buf_init(&path, 65536);
    ebb_buf_printf(&path, "%s/%s", dir, name);
    rc = ebb_buf_check(&path, dir, err);
    if (!rc)
        rc = ebb_strs_add(out, ebb_buf_cstr(&path), err);
    ebb_buf_fini(&path);
    return rc;
}

int ebb_policy_files(const char *path, struct ebb_strs *out, struct ebb_err *err)
{
    struct dirent *e;
    struct stat st;
    DIR *d;
    int rc = 0;

    if (!stat(path, &st) && S_ISREG(st.st_mode))
        return ebb_strs_add(out, path, err);
    d = opendir(path);
    if (!d)
        return ebb_err_set(err, EBB_ECONFIG, "policies: can't open folder %s", path);
    while (!rc && (e = readdir(d)) != NULL)
        if (ebb__pass_is_policy_file(e->d_name))
            rc = add_path(out, path, e->d_name, err);
    closedir(d);
    if (out->count)
        ebb_strs_sort(out);
    return rc;
}

/* The same name twice would make it a matter of chance which policy acts. */
static int check_unique(const struct ebb_policy_list *list, const struct ebb_policy *policy, struct ebb_err *err)
{
    for (size_t i = 0; i < list->count; i++)
        if (!strcmp(ebb_policy_get_name(list->items[i]), ebb_policy_get_name(policy)))
            return ebb_err_set(err, EBB_EPOLICY_SCHEMA, "%s: name %s is that of %s already",
                               ebb_policy_get_file(policy), ebb_policy_get_name(policy),
                               ebb_policy_get_file(list->items[i]));
    return 0;
}

static int load_all(const struct ebb_strs *files, struct ebb_policy_list *list, struct ebb_err *err)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < files->count; i++) {
        struct ebb_policy *policy = NULL;
        struct ebb_err why;

        memset(&why, 0, sizeof why);
        if (ebb_policy_load(files->items[i], &policy, NULL, &why) == 0) {
            rc = check_unique(list, policy, err);
            if (rc)
                ebb_policy_free(policy);
            else
                list->items[list->count++] = policy;
        } else if (!list->first_error.error) {
            list->first_error = why;
        }
    }
    return rc;
}

int ebb__policy_list_read(const char *path, struct ebb_policy_list *list, struct ebb_err *err)
{
    struct ebb_strs files;
    int rc;

    memset(list, 0, sizeof *list);
    ebb_strs_init(&files);
    rc = ebb_policy_files(path, &files, err);
    if (!rc) {
        list->items = calloc(files.count + 1, sizeof(struct ebb_policy *));
        rc = list->items ? load_all(&files, list, err) : ebb_err_nomem(err);
    }
    ebb_strs_fini(&files);
    return rc;
}

static int list_generation(const struct ebb_generation *g, struct ebb_policy_list *list, struct ebb_err *err)
{
    list->items = calloc(g->policy_count + 1, sizeof(struct ebb_policy *));
    if (!list->items)
        return ebb_err_nomem(err);
    if (g->policy_count)
        memcpy(list->items, g->policies, g->policy_count * sizeof *list->items);
    list->count = g->policy_count;
    list->is_borrowed = true;
    return 0;
}

int ebb__policy_list_load(struct ebb_workspace *ws, struct ebb_policy_list *list, struct ebb_err *err)
{
    const struct ebb_generation *g = ebb_workspace_generation(ws);

    memset(list, 0, sizeof *list);
    return g ? list_generation(g, list, err) : list_folder(ws, list, err);
}

void ebb__policy_list_fini(struct ebb_policy_list *list)
{
    for (size_t i = 0; !list->is_borrowed && i < list->count; i++)
        ebb_policy_free(list->items[i]);
    free(list->items);
    memset(list, 0, sizeof *list);
}

const struct ebb_policy *ebb__policy_list_find(const struct ebb_policy_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (!strcmp(ebb_policy_get_name(list->items[i]), name))
            return list->items[i];
    return NULL;
}
