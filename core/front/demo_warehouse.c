/* SPDX-License-Identifier: Apache-2.0 */
#include "front/demo_warehouse.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/file.h"

#define OLD_MS ((int64_t)10 * 24 * 3600 * 1000)
#define FILE_MAX ((size_t)16 << 20)

struct making {
    const char *from, *to;
    struct ebb_strs young;
    int64_t now_ms;
    bool compares; /* instead of copying */
    int64_t same, other;
};

static int64_t time_of(const struct making *m, const char *name)
{
    return ebb_strs_has(&m->young, name + 3) ? m->now_ms : m->now_ms - OLD_MS; /* name begins with "wh/" */
}

static int join(struct ebb_buf *out, const char *a, const char *b, const char *c, struct ebb_err *err)
{
    ebb_buf_reset(out);
    ebb_buf_printf(out, "%s/%s%s%s", a, b, c[0] ? "/" : "", c);
    return ebb_buf_check(out, "path", err);
}

static int set_time(const char *path, int64_t ms, struct ebb_err *err)
{
    struct timespec times[2] = {{ms / 1000, (ms % 1000) * 1000000}, {ms / 1000, (ms % 1000) * 1000000}};

    return utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW)
               ? ebb_err_errno(err, errno, "%s: setting its time", path)
               : 0;
}

static int copy_file(const struct making *m, const char *name, struct ebb_err *err)
{
    struct ebb_buf from, to, bytes;
    int rc;

    ebb_buf_init(&from, 65536);
    ebb_buf_init(&to, 65536);
    ebb_buf_init(&bytes, FILE_MAX);
    rc = join(&from, m->from, name, "", err);
    if (!rc)
        rc = join(&to, m->to, name, "", err);
    if (!rc)
        rc = ebb_file_read(ebb_buf_cstr(&from), &bytes, err);
    if (!rc)
        rc = ebb_file_create(ebb_buf_cstr(&to), bytes.data, bytes.len, err);
    if (!rc && !strncmp(name, "wh/", 3))
        rc = set_time(ebb_buf_cstr(&to), time_of(m, name), err);
    ebb_buf_fini(&from);
    ebb_buf_fini(&to);
    ebb_buf_fini(&bytes);
    return rc;
}

static int compare_file(struct making *m, const char *name, struct ebb_err *err)
{
    struct ebb_buf from, to, a, b;
    struct stat st;
    bool same = false;
    int rc;

    ebb_buf_init(&from, 65536);
    ebb_buf_init(&to, 65536);
    ebb_buf_init(&a, FILE_MAX);
    ebb_buf_init(&b, FILE_MAX);
    rc = join(&from, m->from, name, "", err);
    if (!rc)
        rc = join(&to, m->to, name, "", err);
    if (!rc)
        rc = ebb_file_read(ebb_buf_cstr(&from), &a, err);
    if (!rc && !stat(ebb_buf_cstr(&to), &st) && !ebb_file_read(ebb_buf_cstr(&to), &b, NULL))
        same = ebb_str_is_equal(ebb_buf_str(&a), ebb_buf_str(&b)) &&
               (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000 == time_of(m, name);
    m->same += same;
    m->other += !same;
    ebb_buf_fini(&from);
    ebb_buf_fini(&to);
    ebb_buf_fini(&a);
    ebb_buf_fini(&b);
    return rc;
}

static int take_file(struct making *m, const char *name, struct ebb_err *err)
{
    return m->compares ? compare_file(m, name, err) : copy_file(m, name, err);
}

/* Take one entry: a file at once, a folder by adding its entries to the work list. */
static int take_entry(struct making *m, struct ebb_strs *work, const char *name, struct ebb_err *err)
{
    struct ebb_buf path;
    struct dirent *e;
    DIR *d;
    int rc;

    ebb_buf_init(&path, 65536);
    rc = join(&path, m->from, name, "", err);
    d = rc ? NULL : opendir(ebb_buf_cstr(&path));
    if (!d) {
        rc = rc                 ? rc
             : errno == ENOTDIR ? take_file(m, name, err)
                                : ebb_err_errno(err, errno, "%s: opening it", ebb_buf_cstr(&path));
        ebb_buf_fini(&path);
        return rc;
    }
    rc = join(&path, m->to, name, "", err);
    if (!rc && !m->compares && mkdir(ebb_buf_cstr(&path), 0755))
        rc = ebb_err_errno(err, errno, "%s: making it", ebb_buf_cstr(&path));
    while (!rc && (e = readdir(d)) != NULL) {
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
            continue;
        rc = join(&path, name, e->d_name, "", err);
        if (!rc)
            rc = ebb_strs_add(work, ebb_buf_cstr(&path), err);
    }
    closedir(d);
    ebb_buf_fini(&path);
    return rc;
}

static int take_tree(struct making *m, const char *name, struct ebb_err *err)
{
    struct ebb_strs work;
    int rc;

    ebb_strs_init(&work);
    rc = ebb_strs_add(&work, name, err);
    for (size_t i = 0; !rc && i < work.count; i++)
        rc = take_entry(m, &work, work.items[i], err);
    ebb_strs_fini(&work);
    return rc;
}

static int read_young(struct making *m, struct ebb_err *err)
{
    struct ebb_buf path, bytes;
    char *rest, *line;
    int rc;

    ebb_buf_init(&path, 65536);
    ebb_buf_init(&bytes, FILE_MAX);
    rc = join(&path, m->from, "young.txt", "", err);
    if (!rc)
        rc = ebb_file_read(ebb_buf_cstr(&path), &bytes, err);
    rest = bytes.data;
    while (!rc && rest && (line = strtok_r(rest, "\n", &rest)) != NULL)
        rc = ebb_strs_add(&m->young, line, err);
    ebb_buf_fini(&path);
    ebb_buf_fini(&bytes);
    return rc;
}

static int write_config(const char *to, struct ebb_err *err)
{
    static const char TEXT[] =
        "-- Made by ebb demo.\n"
        "return {\n"
        "  catalogs = {\n"
        "    lake   = { type = \"sqlite\", path = \"./catalog.db\" },\n"
        "    hadoop = { type = \"directory\", path = \"./wh/c06-table-stats\" },\n"
        "  },\n"
        "  locations = { [\"file:/ebb\"] = \".\" },   -- where the tables' URIs are reachable here\n"
        "  policies  = \"./policies\",\n"
        "  bind      = { { policy = \"iceberg-orphan-file-removal\", tables = { \"lake.**\", \"hadoop.**\" }, mode = "
        "\"enforce\" } },\n"
        "}\n";
    struct ebb_buf path;
    int rc;

    ebb_buf_init(&path, 65536);
    rc = join(&path, to, "ebb.lua", "", err);
    if (!rc)
        rc = ebb_file_replace(ebb_buf_cstr(&path), TEXT, sizeof TEXT - 1, err);
    ebb_buf_fini(&path);
    return rc;
}

static int copy_policy(const char *policies, const char *to, struct ebb_err *err)
{
    static const char NAME[] = "iceberg_orphan_file_removal.lua";
    struct ebb_buf path, bytes;
    int rc;

    ebb_buf_init(&path, 65536);
    ebb_buf_init(&bytes, FILE_MAX);
    rc = join(&path, policies, NAME, "", err);
    if (!rc)
        rc = ebb_file_read(ebb_buf_cstr(&path), &bytes, err);
    if (!rc)
        rc = join(&path, to, "policies", "", err);
    if (!rc)
        rc = ebb_file_make_dirs(ebb_buf_cstr(&path), err);
    if (!rc)
        rc = join(&path, to, "policies", NAME, err);
    if (!rc)
        rc = ebb_file_create(ebb_buf_cstr(&path), bytes.data, bytes.len, err);
    ebb_buf_fini(&path);
    ebb_buf_fini(&bytes);
    return rc;
}

static int check_target(const char *to, struct ebb_err *err)
{
    DIR *d = opendir(to);
    struct dirent *e;
    int entries = 0;

    if (!d)
        return ebb_file_make_dirs(to, err);
    while ((e = readdir(d)) != NULL)
        entries += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
    closedir(d);
    if (!entries)
        return 0;
    ebb_err_set(err, EBB_EUSAGE, "%s: is not empty", to);
    ebb_err_hint(err, "name a folder that does not exist yet");
    return -(int)EBB_EUSAGE;
}

int ebb_demo_warehouse_make(const char *from, const char *policies, const char *to, int64_t now_ms, struct ebb_err *err)
{
    struct making m = {from, to, {NULL, 0, 0}, now_ms, false, 0, 0};
    int rc = check_target(to, err);

    if (!rc)
        rc = read_young(&m, err);
    if (!rc)
        rc = take_tree(&m, "wh", err);
    if (!rc)
        rc = take_tree(&m, "catalog.db", err);
    if (!rc)
        rc = copy_policy(policies, to, err);
    if (!rc)
        rc = write_config(to, err);
    ebb_strs_fini(&m.young);
    return rc;
}

int ebb_demo_warehouse_compare(const char *from, const char *to, int64_t now_ms, int64_t *same, int64_t *other,
                               struct ebb_err *err)
{
    struct making m = {from, to, {NULL, 0, 0}, now_ms, true, 0, 0};
    int rc = read_young(&m, err);

    if (!rc)
        rc = take_tree(&m, "wh", err);
    ebb_strs_fini(&m.young);
    *same = m.same;
    *other = m.other;
    return rc;
}
