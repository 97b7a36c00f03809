/* SPDX-License-Identifier: Apache-2.0 */
#include "front/lua/trigger_priv.h"

#include <stdio.h>

#include "base/time.h"

/* The text that is being read. */
struct reader {
    const char *text;
    const char *p;
    struct ebb_err *err;
};

static const char WORD[] = "abcdefghijklmnopqrstuvwxyz_";

static int fail(struct reader *r, const char *why)
{
    return ebb_err_set(r->err, EBB_ESCHEDULE, "trigger '%s': %s at byte %zu", r->text, why,
                       (size_t)(r->p - r->text) + 1);
}

static void skip_space(struct reader *r)
{
    r->p += strspn(r->p, " \t\r\n");
}

static bool accept(struct reader *r, const char *token)
{
    size_t n = strlen(token);

    skip_space(r);
    if (strncmp(r->p, token, n))
        return false;
    r->p += n;
    return true;
}

static bool sees(struct reader *r, char c)
{
    skip_space(r);
    return *r->p == c;
}

static int read_kind(struct reader *r, struct ebb__trigger *out)
{
    static const struct {
        const char *name;
        enum ebb__trigger_kind kind;
    } KINDS[] = {{"calendar", EBB__TRIGGER_CALENDAR}, {"cron", EBB__TRIGGER_CRON}, {"every", EBB__TRIGGER_EVERY}};

    if (!accept(r, "time."))
        return fail(r, "time.calendar, time.cron or time.every is expected");
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        size_t n = strlen(KINDS[i].name);

        if (strspn(r->p, WORD) == n && !strncmp(r->p, KINDS[i].name, n)) {
            r->p += n;
            out->kind = KINDS[i].kind;
            return 0;
        }
    }
    return fail(r, "time.calendar, time.cron or time.every is expected");
}

/* A quoted text without escapes. */
static int read_text(struct reader *r, char out[EBB__TRIGGER_TEXT_MAX])
{
    char quote;
    size_t n;

    skip_space(r);
    quote = *r->p;
    if (quote != '"' && quote != '\'')
        return fail(r, "a quoted text is expected");
    n = strcspn(r->p + 1, quote == '"' ? "\"\\\n" : "'\\\n");
    if (r->p[n + 1] != quote)
        return fail(r, "a quoted text does not end, or holds a backslash");
    if (n >= EBB__TRIGGER_TEXT_MAX)
        return fail(r, "a text is too long");
    memcpy(out, r->p + 1, n);
    out[n] = '\0';
    r->p += n + 2;
    return 0;
}

static int check_late_by(struct reader *r, const char *text)
{
    int64_t ms;

    return ebb_duration_parse(text, &ms, r->err);
}

static int check_catch_up(struct reader *r, const char *text)
{
    if (strcmp(text, "one") && strcmp(text, "none") && strcmp(text, "all"))
        return fail(r, "catch_up is \"one\", \"none\" or \"all\"");
    return 0;
}

static int read_max(struct reader *r)
{
    size_t n;

    skip_space(r);
    n = strspn(r->p, "0123456789");
    if (!n || n > 6)
        return fail(r, "a count is expected");
    r->p += n;
    return 0;
}

/* One `key = value`. What only matters for missed or held-back fires is checked and dropped. */
static int read_option(struct reader *r, struct ebb__trigger *out)
{
    char key[16], value[EBB__TRIGGER_TEXT_MAX];
    size_t n;
    int rc;

    skip_space(r);
    n = strspn(r->p, WORD);
    if (!n || n >= sizeof key)
        return fail(r, "an option is expected");
    snprintf(key, sizeof key, "%.*s", (int)n, r->p);
    r->p += n;
    if (!accept(r, "="))
        return fail(r, "'=' is expected");
    if (!strcmp(key, "max"))
        return read_max(r);
    rc = read_text(r, value);
    if (rc)
        return rc;
    if (!strcmp(key, "tz"))
        memcpy(out->tz, value, sizeof out->tz);
    else if (!strcmp(key, "anchor") && out->kind == EBB__TRIGGER_EVERY)
        memcpy(out->anchor, value, sizeof out->anchor);
    else if (!strcmp(key, "late_by"))
        rc = check_late_by(r, value);
    else if (!strcmp(key, "catch_up"))
        rc = check_catch_up(r, value);
    else if (!strcmp(key, "spread"))
        rc = ebb_err_set(r->err, EBB_EUNSUPPORTED, "trigger '%s': spread depends on policy and table", r->text);
    else
        rc = fail(r, "unknown option before");
    return rc;
}

int ebb__trigger_parse(const char *text, struct ebb__trigger *out, struct ebb_err *err)
{
    struct reader r = {text, text, err};
    int rc;

    memset(out, 0, sizeof *out);
    rc = read_kind(&r, out);
    if (!rc && !accept(&r, "{"))
        rc = fail(&r, "'{' is expected");
    if (!rc)
        rc = read_text(&r, out->text);
    while (!rc && !accept(&r, "}")) {
        if (!accept(&r, ","))
            rc = fail(&r, "',' or '}' is expected");
        else if (!sees(&r, '}'))
            rc = read_option(&r, out);
    }
    skip_space(&r);
    if (!rc && *r.p)
        rc = fail(&r, "the text goes on");
    return rc;
}
