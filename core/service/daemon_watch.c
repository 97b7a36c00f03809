/* SPDX-License-Identifier: Apache-2.0
 *
 * Watching (inotify): metadata folders of directory catalogs, the folders above their tables, and the files of
 * configuration and policies. What can't be watched is found by listing alone.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "service/daemon_priv.h"

#define TABLE_MASK (IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)
#define FOLDER_MASK (IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF | IN_ONLYDIR)
#define FILES_MASK (IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CREATE | IN_DELETE_SELF | IN_ONLYDIR)
#define SETTLE_MS 500      /* a commit changes a metadata folder several times */
#define LIST_SOON_MS 1000  /* after a folder came or went */
#define EVENTS_BYTES 65536 /* read at once */

enum { CONFIG, POLICIES, LIBRARIES, FILES };

struct ebb__watch {
    struct ebb__daemon *d;
    uv_poll_t poll;
    int fd;
    int files[FILES]; /* -1 none */
    size_t *entries;  /* by watch: index of the view's entry + 1, 0 none */
    size_t entry_count;
    size_t folders;
    bool is_told; /* that not all can be watched */
    bool is_closed;
};

/* ---- in the worker that lists ---- */

static int add_watch(int fd, struct ebb__view *view, const char *path, uint32_t mask)
{
    int wd = inotify_add_watch(fd, path, mask);

    if (wd < 0 && errno != ENOENT && errno != ENOTDIR) {
        view->is_watched = false;
        if (!view->watch_errno)
            view->watch_errno = errno;
    }
    view->watched += wd >= 0;
    return wd;
}

/* The folders above a table, up to the catalog's own. */
static void watch_above(int fd, struct ebb__view *view, char *path, const char *root)
{
    size_t n = strlen(root);

    while (n > 1 && root[n - 1] == '/')
        n--;
    while (strlen(path) > n && !strncmp(path, root, n)) {
        char *slash = strrchr(path, '/');

        if (!slash || slash == path)
            return;
        *slash = '\0';
        add_watch(fd, view, path, FOLDER_MASK);
    }
}

static const char *root_of(const struct ebb_config *config, const char *catalog)
{
    for (size_t i = 0; i < config->catalog_count; i++)
        if (!strcmp(config->catalogs[i].name, catalog) && !strcmp(config->catalogs[i].type, "directory"))
            return config->catalogs[i].path;
    return NULL;
}

static void watch_entry(int fd, struct ebb_workspace *ws, struct ebb__view *view, struct ebb__entry *e,
                        struct ebb_buf *last)
{
    const char *root = root_of(ebb_workspace_config(ws), e->catalog);
    struct ebb_buf path;
    char *slash;

    ebb_buf_init(&path, 65536);
    if (!root || !e->folder_uri ||
        ebb_uri_map_local(ebb_storage_map(ebb_workspace_site(ws)->storage), e->folder_uri, &path, NULL)) {
        view->is_watched = false;
        ebb_buf_fini(&path);
        return;
    }
    ebb_buf_puts(&path, "/metadata");
    if (!path.bad)
        e->watch = add_watch(fd, view, ebb_buf_cstr(&path), TABLE_MASK);
    slash = path.bad ? NULL : strrchr(path.data, '/');
    if (slash)
        *slash = '\0';
    slash = slash ? strrchr(path.data, '/') : NULL;
    if (slash && (last->len != (size_t)(slash - path.data) || memcmp(last->data, path.data, last->len) != 0)) {
        ebb_buf_reset(last);
        ebb_buf_append(last, path.data, (size_t)(slash - path.data));
        watch_above(fd, view, path.data, root);
    }
    ebb_buf_fini(&path);
}

void ebb__watch_view(int fd, struct ebb_workspace *ws, struct ebb__view *view)
{
    const struct ebb_config *config = ebb_workspace_config(ws);
    struct ebb_buf last; /* whose folders above are watched already */

    ebb_buf_init(&last, 65536);
    view->is_watched = fd >= 0;
    for (size_t i = 0; fd >= 0 && i < config->catalog_count; i++)
        if (!strcmp(config->catalogs[i].type, "directory"))
            add_watch(fd, view, config->catalogs[i].path, FOLDER_MASK);
        else
            view->is_watched = false;
    for (size_t i = 0; fd >= 0 && i < view->count; i++)
        watch_entry(fd, ws, view, &view->entries[i], &last);
    ebb_buf_fini(&last);
}

/* ---- on the loop ---- */

static void on_debounce(uv_timer_t *timer)
{
    ebb__daemon_reload(timer->data, "a change of its files", false);
}

static bool ends_in(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);

    return n >= m && !strcmp(name + n - m, end);
}

static bool is_of_files(const struct ebb__watch *w, const struct inotify_event *e)
{
    const char *name = e->len ? e->name : "", *config = w->d->config_file ? strrchr(w->d->config_file, '/') : NULL;

    if (e->wd == w->files[CONFIG] && config && (!strcmp(name, config + 1) || !strcmp(name, "..data")))
        return true;
    if (e->wd != w->files[POLICIES] && e->wd != w->files[LIBRARIES])
        return false;
    return !name[0] || ends_in(name, ".lua") || !strcmp(name, "..data") || (e->mask & IN_ISDIR);
}

static void list_soon(struct ebb__daemon *d)
{
    int64_t at_ms = ebb_clock_elapsed_ms() + LIST_SOON_MS;

    if (d->list_at_elapsed_ms > at_ms)
        d->list_at_elapsed_ms = at_ms;
}

static void touch_table(struct ebb__daemon *d, const struct ebb__entry *entry)
{
    struct ebb__table *t = ebb__tables_find(&d->tables, entry->label);
    int64_t at_ms = ebb__now(d) + SETTLE_MS;

    if (!t)
        return;
    t->listed_ms = INT64_MIN / 2;
    if (t->is_looking)
        t->is_noted = true;
    else if (!t->is_queued && t->wake_ms > at_ms)
        ebb__tables_wake(&d->tables, t, at_ms);
}

static void on_event(struct ebb__watch *w, const struct inotify_event *e)
{
    struct ebb__daemon *d = w->d;

    if (is_of_files(w, e))
        uv_timer_start(&d->debounce, on_debounce, EBB__RELOAD_QUIET_MS, 0);
    if (e->wd == w->files[CONFIG] || e->wd == w->files[POLICIES] || e->wd == w->files[LIBRARIES])
        if (!(e->mask & IN_ISDIR))
            return;
    if (e->mask & IN_Q_OVERFLOW) {
        d->list_at_elapsed_ms = 0;
    } else if (e->wd >= 0 && (size_t)e->wd < w->entry_count && w->entries[e->wd]) {
        touch_table(d, &d->view->entries[w->entries[e->wd] - 1]);
        if (e->mask & (IN_DELETE_SELF | IN_MOVE_SELF))
            list_soon(d);
    } else if (e->mask & (IN_ISDIR | IN_DELETE_SELF)) {
        list_soon(d);
    }
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    struct ebb__watch *w = poll->data;
    _Alignas(struct inotify_event) char bytes[EVENTS_BYTES];
    ssize_t n = read(w->fd, bytes, sizeof bytes);

    (void)status;
    (void)events;
    for (ssize_t at = 0; at < n;) {
        const struct inotify_event *e = (const void *)(bytes + at);

        on_event(w, e);
        at += (ssize_t)sizeof *e + e->len;
    }
    ebb__daemon_arm(w->d);
}

static int watch_parent(int fd, const char *file)
{
    char path[4096];
    char *slash;

    if (!file || snprintf(path, sizeof path, "%s", file) >= (int)sizeof path)
        return -1;
    slash = strrchr(path, '/');
    if (!slash)
        return -1;
    slash[slash == path] = '\0';
    return inotify_add_watch(fd, path, FILES_MASK);
}

/* The folder of policies may be another one under the same name by now: then what is in it was not told of. */
static void watch_files(struct ebb__watch *w)
{
    const char *policies = w->d->generation->config->policies;
    int before = w->files[POLICIES];
    char lib[4096];

    w->files[CONFIG] = watch_parent(w->fd, w->d->config_file);
    w->files[POLICIES] = policies ? inotify_add_watch(w->fd, policies, FILES_MASK) : -1;
    w->files[LIBRARIES] = -1;
    if (policies && snprintf(lib, sizeof lib, "%s/lib", policies) < (int)sizeof lib)
        w->files[LIBRARIES] = inotify_add_watch(w->fd, lib, FILES_MASK);
    if (before && w->files[POLICIES] != before)
        uv_timer_start(&w->d->debounce, on_debounce, EBB__RELOAD_QUIET_MS, 0);
}

static bool make_room(struct ebb__watch *w, size_t count)
{
    size_t *grown;

    if (count <= w->entry_count)
        return true;
    grown = realloc(w->entries, count * sizeof *grown);
    if (!grown)
        return false;
    w->entries = grown;
    w->entry_count = count;
    return true;
}

static void tell_incomplete(struct ebb__watch *w, const struct ebb__view *view)
{
    if (w->is_told || !view->watch_errno)
        return;
    w->is_told = true;
    ebb__say(&w->d->log, EBB_LOG_WARN, NULL,
             "not all folders can be watched (%s): changes there are found by listing%s", strerror(view->watch_errno),
             view->watch_errno == ENOSPC ? "; fs.inotify.max_user_watches is the limit" : "");
}

void ebb__watch_update(struct ebb__daemon *d)
{
    struct ebb__watch *w = d->watch;
    int greatest = -1;

    if (!w)
        return;
    watch_files(w);
    for (size_t i = 0; d->view && i < d->view->count; i++)
        if (d->view->entries[i].watch > greatest)
            greatest = d->view->entries[i].watch;
    if (!make_room(w, (size_t)(greatest + 1)))
        return;
    if (w->entries)
        memset(w->entries, 0, w->entry_count * sizeof *w->entries);
    for (size_t i = 0; d->view && i < d->view->count; i++)
        if (d->view->entries[i].watch >= 0)
            w->entries[d->view->entries[i].watch] = i + 1;
    if (d->view)
        tell_incomplete(w, d->view);
}

int ebb__watch_fd(const struct ebb__daemon *d)
{
    return d->watch ? d->watch->fd : -1;
}

bool ebb__watch_is_complete(const struct ebb__daemon *d)
{
    return d->watch && d->view && d->view->is_watched;
}

size_t ebb__watch_count(const struct ebb__daemon *d)
{
    return d->watch && d->view ? d->view->watched : 0;
}

static void release(uv_handle_t *handle)
{
    struct ebb__watch *w = handle->data;

    w->d->open_handles--;
    close(w->fd);
    free(w->entries);
    free(w);
}

void ebb__watch_open(struct ebb__daemon *d)
{
    struct ebb__watch *w = calloc(1, sizeof *w);

    if (!w)
        return;
    w->d = d;
    w->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (w->fd < 0 || uv_poll_init(&d->loop, &w->poll, w->fd)) {
        ebb__say(&d->log, EBB_LOG_WARN, NULL, "nothing can be watched (%s): changes are found by listing",
                 strerror(errno));
        if (w->fd >= 0)
            close(w->fd);
        free(w);
        return;
    }
    w->poll.data = w;
    d->open_handles++;
    d->watch = w;
    uv_poll_start(&w->poll, UV_READABLE, on_readable);
    watch_files(w);
}

void ebb__watch_close(struct ebb__daemon *d)
{
    if (d->watch)
        uv_close((uv_handle_t *)&d->watch->poll, release);
    d->watch = NULL;
}
