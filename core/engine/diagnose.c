/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/diagnose_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "engine/syntax.h"
#include "engine/tokens_priv.h"

void ebb__diagnose(struct ebb_diagnostics *diags, const struct ebb__finding *f)
{
    struct ebb_str line = f->line > 0 ? ebb__line_of(f->source, f->line) : (struct ebb_str){"", 0};
    char *text = strndup(line.n ? line.p : "", line.n);
    struct ebb_diagnostic d = {.line = f->line, .column = f->column, .is_error = f->is_error, .code = f->code};

    d.file = (char *)(uintptr_t)f->file;
    d.message = (char *)(uintptr_t)f->message;
    d.hint = (char *)(uintptr_t)f->hint;
    d.text = text;
    ebb_diagnostics_add(diags, &d);
    free(text);
}

const char *ebb__diagnose_bare(const char *message, const char *file, int line)
{
    size_t n = strlen(file);
    char *end;

    if (strncmp(message, file, n) || message[n] != ':')
        return message;
    message += n + 1;
    if (line && strtol(message, &end, 10) == line && *end == ':')
        message = end + 1;
    return message + (message[0] == ' ');
}

void ebb__diagnose_unread(struct ebb_diagnostics *diags, const char *file, const struct ebb_err *err)
{
    struct ebb__finding f = {.file = file, .is_error = true, .code = ebb_error_code(err->error)};
    struct stat st;

    f.message = ebb__diagnose_bare(err->message, file, 0);
    f.hint = err->hint;
    if (err->error == EBB_EPERMISSION && !err->hint[0])
        f.hint = "let the account that runs ebb read the file";
    if (err->error == EBB_EPOLICY_SCHEMA && !stat(file, &st)) {
        f.code = S_ISREG(st.st_mode) ? "file.too_long" : "file.not_regular";
        f.hint = S_ISREG(st.st_mode) ? "a policy has at most 64 KiB; shared code goes into lib/NAME.lua"
                                     : "a policy is a plain file";
    }
    ebb__diagnose(diags, &f);
}

/* ---- what no source may be ---- */

static int place_of(struct ebb__finding *f, const char *p)
{
    f->line = 1;
    for (const char *q = f->source.p; q < p; q++)
        f->line += *q == '\n';
    f->column = ebb__column_of(f->source, (size_t)(p - f->source.p));
    return 1;
}

static bool has_prefix(struct ebb_str s, const char *bytes, size_t n)
{
    return s.n >= n && !memcmp(s.p, bytes, n);
}

static bool is_blank(struct ebb_str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] != ' ' && (s.p[i] < '\t' || s.p[i] > '\r'))
            return false;
    return true;
}

/* Fill code, message and hint; false when the source may be tried. */
static bool find_fault(struct ebb__finding *f)
{
    const char *nul = f->source.n ? memchr(f->source.p, '\0', f->source.n) : NULL;

    if (f->source.n > EBB_POLICY_SOURCE_MAX_BYTES) {
        f->code = "file.too_long";
        f->message = "longer than 65536 bytes";
        f->hint = "shared code goes into lib/NAME.lua";
    } else if (is_blank(f->source)) {
        f->code = "file.empty";
        f->message = "empty";
        f->hint = "a policy ends with: return policy { … }; ebb new policy writes one";
    } else if (has_prefix(f->source, "\33Lua", 4)) {
        f->code = "file.binary";
        f->message = "a precompiled chunk";
        f->hint = "policies are loaded from source text only";
    } else if (has_prefix(f->source, "\xEF\xBB\xBF", 3) || has_prefix(f->source, "\xFF\xFE", 2) ||
               has_prefix(f->source, "\xFE\xFF", 2)) {
        f->code = "file.bom";
        f->message = "begins with a byte order mark";
        f->hint = "save it as UTF-8 without one";
        place_of(f, f->source.p);
    } else if (nul) {
        f->code = "file.nul";
        f->message = "holds a NUL byte";
        f->hint = "a policy is text; is this another kind of file?";
        place_of(f, nul);
    }
    return f->code != NULL;
}

int ebb__diagnose_source(struct ebb_diagnostics *diags, const char *file, struct ebb_str source, struct ebb_err *err)
{
    struct ebb__finding f = {.file = file, .source = source, .is_error = true};
    enum ebb_error error;

    if (!find_fault(&f))
        return 0;
    f.source.n = 0; /* no text of it is worth showing */
    ebb__diagnose(diags, &f);
    error = strcmp(f.code, "file.binary") ? EBB_EPOLICY_SCHEMA : EBB_EPOLICY_ERROR;
    if (f.line)
        ebb_err_set(err, error, "%s:%d: %s", file, f.line, f.message);
    else
        ebb_err_set(err, error, "%s: %s", file, f.message);
    ebb_err_hint(err, "%s", f.hint);
    return -(int)error;
}

/* ---- errors of the header phase ---- */

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The last name in what stands before the message's first colon ("a.b: unknown"), or in its first quotes. */
static struct ebb_str name_in(const char *message)
{
    const char *quote = strchr(message, '\''), *colon = strchr(message, ':');
    struct ebb_str name = {message, 0};

    if (colon)
        for (name.p = colon; name.p > message && is_word(name.p[-1]); name.p--)
            name.n++;
    else if (quote)
        for (name.p = quote + 1; is_word(name.p[name.n]);)
            name.n++;
    return name;
}

/* Column of the name that a message speaks of, else of the first thing on the line. */
static int column_in(struct ebb_str source, int line, const char *message)
{
    struct ebb_str name = name_in(message);
    struct ebb__tokens tokens;
    int column = 0;

    if (line < 1 || ebb__tokens_init(&tokens, source, NULL))
        return line < 1 ? 0 : 1;
    for (size_t i = 0; i < tokens.count; i++) {
        const struct ebb__token *t = &tokens.items[i];
        bool is_it = name.n && t->line == line && ebb_str_is_equal(t->text, name);

        if (is_it || (t->line == line && !column))
            column = ebb__column_of(source, t->offset);
        if (is_it)
            break;
    }
    ebb__tokens_fini(&tokens);
    return column ? column : 1;
}

/* The library that a message "lib/name:12: …" begins with, or NULL; *message moves behind it. */
static const struct ebb__lib *lib_in(const struct ebb__bundle *bundle, const char **message, int *line)
{
    const char *name = *message + 4;
    size_t n = strcspn(name, ":");
    char *end;
    long at;

    if (strncmp(*message, "lib/", 4) || name[n] != ':')
        return NULL;
    at = strtol(name + n + 1, &end, 10);
    for (size_t i = 0; i < bundle->count && *end == ':' && at > 0 && at < 1000000; i++)
        if (!strncmp(bundle->libs[i].name, name, n) && !bundle->libs[i].name[n]) {
            *line = (int)at;
            *message = end + 1 + (end[1] == ' ');
            return &bundle->libs[i];
        }
    return NULL;
}

static const char *code_of(const struct ebb__bundle *bundle, const struct ebb_err *err, const char *message)
{
    if (err->error != EBB_EPOLICY_ERROR)
        return err->error == EBB_EPOLICY_SCHEMA ? "schema.value" : ebb_error_code(err->error);
    if (bundle->fault && !strncmp(message, "use: ", 5))
        return bundle->fault;
    return !strncmp(message, "the file must end with", 22) ? "header.result" : "header.error";
}

/* The remedy for a fault of `use`, NULL where the message says it all. */
static const char *use_hint(const char *code)
{
    if (!strcmp(code, "use.missing") || !strcmp(code, "use.unreadable"))
        return "use \"name\" reads lib/name.lua beside the policy";
    if (!strcmp(code, "use.cycle"))
        return "move what both need into a library of its own";
    return NULL;
}

void ebb__diagnose_header(struct ebb_diagnostics *diags, const char *file, struct ebb_str source,
                          const struct ebb__bundle *bundle, int line, const struct ebb_err *err)
{
    const char *message = ebb__diagnose_bare(err->message, file, line);
    struct ebb__finding f = {.file = file, .source = source, .line = line, .is_error = true};
    const struct ebb__lib *lib = lib_in(bundle, &message, &f.line);
    struct ebb_syntax syntax;
    char path[4096];

    if (lib) {
        f.source = (struct ebb_str){lib->source, lib->source_bytes};
        snprintf(path, sizeof path, "%s/lib/%s.lua", bundle->dir, lib->name);
        f.file = path;
    }
    f.code = code_of(bundle, err, message);
    f.message = message;
    f.hint = err->hint[0] ? err->hint : use_hint(f.code);
    f.column = column_in(f.source, f.line, message);
    if (err->error == EBB_EPOLICY_ERROR && f.line && !ebb_syntax_check(f.source, &syntax) && syntax.line) {
        f.code = "syntax";
        f.message = syntax.message;
        f.line = syntax.line;
        f.column = syntax.column;
    }
    if (err->error == EBB_EPOLICY_GAS)
        f.hint = "the data part of a policy may take 100000 steps; what costs more belongs into decide";
    ebb__diagnose(diags, &f);
}

/* ---- style ---- */

static void warn_at(struct ebb_diagnostics *diags, const char *file, struct ebb_str source, const char *p,
                    const char *code, const char *message, const char *hint)
{
    struct ebb__finding f = {.file = file, .source = source, .code = code, .message = message, .hint = hint};

    place_of(&f, p);
    ebb__diagnose(diags, &f);
}

void ebb__diagnose_style(struct ebb_diagnostics *diags, const char *file, struct ebb_str source)
{
    const char *cr = source.n ? memchr(source.p, '\r', source.n) : NULL;
    size_t good = 0;

    if (cr)
        warn_at(diags, file, source, cr, "lint.line_ends", "lines end with CR LF",
                "save it with LF alone: the hash of a policy is over its bytes");
    while (good < source.n) {
        size_t n = 1;

        while (good + n < source.n && ((unsigned char)source.p[good + n] & 0xC0) == 0x80)
            n++;
        if (!ebb_text_is_utf8(source.p + good, n)) {
            warn_at(diags, file, source, source.p + good, "lint.not_utf8", "holds a byte that is not UTF-8",
                    "save it as UTF-8");
            return;
        }
        good += n;
    }
}
