/* SPDX-License-Identifier: Apache-2.0 */
#include "service/doctor_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "engine/mask.h"

#define MESSAGE_MAX 2048

const char *ebb_doctor_level_name(enum ebb_doctor_level level)
{
    static const char *const NAMES[] = {"ok", "warn", "fail"};

    return NAMES[level];
}

void ebb__doctor_say(struct ebb__doctor *d, enum ebb_doctor_level level, const char *check, const char *hint,
                     const char *format, ...)
{
    struct ebb_doctor_line line = {level, check, NULL, hint};
    char message[MESSAGE_MAX];
    struct ebb_buf masked, masked_hint;
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    ebb_buf_init(&masked, 4 * MESSAGE_MAX);
    ebb_buf_init(&masked_hint, 4 * MESSAGE_MAX);
    if (ebb_mask_text(&d->secrets, message, &masked, NULL) || ebb_mask_text(&d->secrets, hint, &masked_hint, NULL))
        d->no_memory = true;
    line.message = ebb_buf_cstr(&masked);
    line.hint = ebb_buf_cstr(&masked_hint);
    if (level > d->worst)
        d->worst = level;
    if (!d->no_memory)
        d->o->tell(d->o->data, &line);
    ebb_buf_fini(&masked);
    ebb_buf_fini(&masked_hint);
}

void ebb__doctor_error(struct ebb__doctor *d, enum ebb_doctor_level level, const char *check, const struct ebb_err *why)
{
    ebb__doctor_say(d, level, check, why->hint, "%s", why->message);
}

bool ebb__doctor_is_enforcing(const struct ebb__doctor *d)
{
    for (size_t i = 0; d->config && i < d->config->binding_count; i++)
        if (d->config->bindings[i].mode == EBB_BIND_ENFORCE)
            return true;
    return false;
}

/* Who may write to the file may have tables cleaned. */
static void look_at_mode(struct ebb__doctor *d, const char *file)
{
    struct stat st;

    if (stat(file, &st) == 0 && (st.st_mode & (S_IWGRP | S_IWOTH)))
        ebb__doctor_say(d, EBB_DOCTOR_WARN, "configuration", "chmod go-w, and the same for the folder of policies",
                        "%s: others may write to it (mode %04o)", file, (unsigned)(st.st_mode & 07777));
}

static void look_at_config(struct ebb__doctor *d)
{
    struct ebb_err why = {0};
    struct ebb_buf found;
    const char *file = d->o->config;

    ebb_buf_init(&found, 65536);
    if (!file)
        ebb_config_find(&found);
    if (!file && found.len)
        file = ebb_buf_cstr(&found);
    if (file ? ebb_config_load(file, &d->config, &why) : ebb_config_empty(&d->config, &why)) {
        ebb__doctor_error(d, EBB_DOCTOR_FAIL, "configuration", &why);
    } else if (!file) {
        ebb__doctor_say(d, EBB_DOCTOR_WARN, "configuration", "write an ebb.lua, or name one with --config",
                        "no file: there is no catalog and no policy");
    } else {
        for (size_t i = 0; i < d->config->secrets.count; i++)
            d->no_memory = d->no_memory || ebb_strs_add(&d->secrets, d->config->secrets.items[i], NULL);
        ebb__doctor_say(d, EBB_DOCTOR_OK, "configuration", "", "%s: catalogs %zu, bindings %zu", file,
                        d->config->catalog_count, d->config->binding_count);
        look_at_mode(d, file);
    }
    ebb_buf_fini(&found);
}

static void look_at_all(struct ebb__doctor *d)
{
    look_at_config(d);
    if (d->config) {
        ebb__doctor_policies(d);
        ebb__doctor_catalogs(d);
        ebb__doctor_engines(d);
    }
    ebb__doctor_state(d);
    if (d->config)
        ebb__doctor_serve(d);
    ebb__doctor_system(d);
}

int ebb_doctor_run(const struct ebb_doctor_options *options, struct ebb_config **config, enum ebb_doctor_level *worst,
                   struct ebb_err *err)
{
    struct ebb__doctor d = {.o = options};

    *config = NULL;
    ebb_strs_init(&d.secrets);
    ebb_buf_init(&d.state, 65536);
    look_at_all(&d);
    ebb_generation_unref(d.generation);
    ebb_buf_fini(&d.state);
    ebb_strs_fini(&d.secrets);
    *worst = d.worst;
    if (d.no_memory) {
        ebb_config_free(d.config);
        return ebb_err_nomem(err);
    }
    *config = d.config;
    return 0;
}
