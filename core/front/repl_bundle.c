/* SPDX-License-Identifier: Apache-2.0
 *
 * The policies of the interactive session.
 */
#include <openssl/sha.h>
#include <stdlib.h>

#include "front/print.h"
#include "front/repl_priv.h"
#include "service/pass.h"

void ebb__repl_bundle_free(struct ebb__repl_bundle *b)
{
    if (!b)
        return;
    for (size_t i = 0; i < b->count; i++)
        ebb_policy_free(b->items[i]);
    free(b->items);
    free(b);
}

static int hash_all(struct ebb__repl_bundle *b, struct ebb_err *err)
{
    unsigned char sum[SHA256_DIGEST_LENGTH];
    struct ebb_buf all, hex;
    int rc;

    ebb_buf_init(&all, (size_t)1 << 20);
    ebb_buf_init(&hex, sizeof sum * 2);
    for (size_t i = 0; i < b->count; i++)
        ebb_buf_printf(&all, "%s\n", ebb_policy_get_bundle(b->items[i]));
    rc = ebb_buf_check(&all, "bundle", err);
    if (!rc) {
        SHA256((const unsigned char *)ebb_buf_cstr(&all), all.len, sum);
        ebb_text_hex(&hex, sum, sizeof sum);
        memcpy(b->hash, "sha256:", 7);
        memcpy(b->hash + 7, ebb_buf_cstr(&hex), 6);
    }
    ebb_buf_fini(&hex);
    ebb_buf_fini(&all);
    return rc;
}

static void say_diagnostic(struct ebb_buf *out, const struct ebb_diagnostic *d)
{
    ebb_print_text(out, d->file);
    if (d->line)
        ebb_buf_printf(out, ":%d", d->line);
    ebb_buf_puts(out, d->is_error ? ": " : ": warning: ");
    ebb_print_text(out, d->message);
    if (d->hint && d->hint[0]) {
        ebb_buf_puts(out, ", ");
        ebb_print_text(out, d->hint);
    }
    ebb_buf_putc(out, '\n');
}

static int add_policy(struct ebb__repl_bundle *b, const char *file, struct ebb_diagnostics *diags, struct ebb_err *err)
{
    struct ebb_policy *policy = NULL;
    int rc = ebb_policy_load(file, &policy, diags, err);

    for (size_t i = 0; !rc && i < b->count; i++)
        if (!strcmp(ebb_policy_get_name(b->items[i]), ebb_policy_get_name(policy))) {
            struct ebb_diagnostic same = {
                (char *)(uintptr_t)file, 0, 0, true, "policy.schema", "its name is that of another policy", NULL, NULL};

            ebb_diagnostics_add(diags, &same);
            ebb_policy_free(policy);
            return 0;
        }
    if (!rc)
        b->items[b->count++] = policy;
    return rc == -(int)EBB_ENOMEM ? rc : 0;
}

int ebb__repl_bundle_load(struct ebb_repl *repl, struct ebb__repl_bundle **out, struct ebb_err *err)
{
    const char *dir = ebb_workspace_config(repl->cli->ws)->policies;
    struct ebb__repl_bundle *b = calloc(1, sizeof *b);
    struct ebb_diagnostics diags;
    struct ebb_strs files;
    int rc = b ? 0 : ebb_err_nomem(err);

    ebb_strs_init(&files);
    ebb_diagnostics_init(&diags);
    if (!rc && dir)
        rc = ebb_policy_files(dir, &files, err);
    if (!rc) {
        b->items = calloc(files.count + 1, sizeof(struct ebb_policy *));
        rc = b->items ? 0 : ebb_err_nomem(err);
    }
    for (size_t i = 0; !rc && i < files.count; i++)
        rc = add_policy(b, files.items[i], &diags, err);
    for (size_t i = 0; !rc && i < diags.count; i++)
        say_diagnostic(ebb__repl_out(repl), &diags.items[i]);
    if (!rc) {
        b->error_count = diags.error_count;
        rc = hash_all(b, err);
    }
    ebb_diagnostics_fini(&diags);
    ebb_strs_fini(&files);
    if (rc)
        ebb__repl_bundle_free(b);
    else
        *out = b;
    return rc;
}

size_t ebb__repl_policy_count(const struct ebb_repl *repl)
{
    return repl->bundle ? repl->bundle->count : 0;
}

const struct ebb_policy *ebb__repl_policy_at(const struct ebb_repl *repl, size_t index)
{
    return index < ebb__repl_policy_count(repl) ? repl->bundle->items[index] : NULL;
}

size_t ebb__repl_error_count(const struct ebb_repl *repl)
{
    return repl->bundle ? repl->bundle->error_count : 0;
}

const char *ebb__repl_hash(const struct ebb_repl *repl)
{
    return repl->bundle ? repl->bundle->hash : "none";
}

const struct ebb_policy *ebb__repl_bundle_find(const struct ebb__repl_bundle *b, const char *name)
{
    for (size_t i = 0; b && i < b->count; i++)
        if (!strcmp(ebb_policy_get_name(b->items[i]), name))
            return b->items[i];
    return NULL;
}
