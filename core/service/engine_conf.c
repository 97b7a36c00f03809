/* SPDX-License-Identifier: Apache-2.0
 *
 * Settings of a Spark session, and the properties file that carries them: what is secret in them stands on no command
 * line.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/mask.h"
#include "io/file.h"
#include "service/engine_priv.h"

#define DEFAULTS_MAX ((size_t)4 << 20)

const char *const *ebb__engine_spark_forced(void)
{
    static const char *const FORCED[] = {"spark.sql.session.timeZone",
                                         "UTC", /* instants are written in UTC */
                                         "spark.sql.variable.substitute",
                                         "false", /* ${…} in a name is part of the name */
                                         "spark.sql.cli.print.header",
                                         "true", /* columns are found by name */
                                         "spark.ui.showConsoleProgress",
                                         "false", /* nothing but rows in the output */
                                         "spark.sql.parser.escapedStringLiterals",
                                         "false", /* how literals are quoted */
                                         NULL};

    return FORCED;
}

int ebb__engine_check_setting(const char *name, struct ebb_err *err)
{
    const char *const *forced = ebb__engine_spark_forced();

    if (strncmp(name, "spark.", 6) != 0)
        return ebb_err_set(err, EBB_EUSAGE, "%s: names of Spark's settings begin with \"spark.\"", name);
    for (; *forced; forced += 2)
        if (!strcmp(*forced, name))
            return ebb_err_set(err, EBB_EUSAGE, "%s: is always %s here: statements and answers are understood by it",
                               name, forced[1]);
    return 0;
}

static int each_of_map(const struct ebb_value *map, ebb__engine_setting_cb *cb, void *data, struct ebb_err *err)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < ebb_value_get_count(map); i++) {
        const char *name = ebb_value_get_key(map, i).p;
        const char *value = ebb_value_get_str(ebb_value_get_at(map, i));

        rc = ebb__engine_check_setting(name, err);
        if (!rc)
            rc = cb(data, name, value ? value : "", err);
    }
    return rc;
}

int ebb__engine_each_setting(const struct ebb_engine_config *config, const struct ebb_value *session,
                             ebb__engine_setting_cb *cb, void *data, struct ebb_err *err)
{
    const char *const *forced = ebb__engine_spark_forced();
    int rc = each_of_map(config->conf, cb, data, err);

    if (!rc)
        rc = each_of_map(session, cb, data, err);
    for (; !rc && *forced; forced += 2)
        rc = cb(data, forced[0], forced[1], err);
    return rc;
}

/* ---- the file ---- */

/* As java.util.Properties reads it back: bytes of UTF-8 are read as such by Spark. */
static void put_escaped(struct ebb_buf *out, const char *text, bool is_name)
{
    for (const char *p = text; *p; p++) {
        unsigned char c = (unsigned char)*p;

        if (c == '\\' || (is_name && strchr("=:#! ", c)) || (p == text && c == ' '))
            ebb_buf_printf(out, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            ebb_buf_printf(out, "\\u%04x", (unsigned)c);
        else
            ebb_buf_putc(out, (char)c);
    }
}

static int put_setting(void *data, const char *name, const char *value, struct ebb_err *err)
{
    struct ebb_buf *out = data;

    put_escaped(out, name, true);
    ebb_buf_putc(out, '=');
    put_escaped(out, value, false);
    ebb_buf_putc(out, '\n');
    return ebb_buf_check(out, "settings of Spark", err);
}

static bool name_defaults(const char *program, char out[PATH_MAX])
{
    const char *folder = getenv("SPARK_CONF_DIR"), *home = getenv("SPARK_HOME");
    char real[PATH_MAX];
    int n;

    if (folder && *folder)
        n = snprintf(out, PATH_MAX, "%s/spark-defaults.conf", folder);
    else if (home && *home)
        n = snprintf(out, PATH_MAX, "%s/conf/spark-defaults.conf", home);
    else if (realpath(program, real))
        n = snprintf(out, PATH_MAX, "%.*s/../conf/spark-defaults.conf", (int)(strrchr(real, '/') - real), real);
    else
        n = -1;
    return n > 0 && n < PATH_MAX;
}

static int put_defaults(const char *program, struct ebb_buf *out, struct ebb_err *err)
{
    char file[PATH_MAX];
    struct ebb_buf text;
    int rc;

    if (!name_defaults(program, file))
        return 0;
    ebb_buf_init(&text, DEFAULTS_MAX);
    rc = ebb_file_read(file, &text, err);
    if (!rc) {
        ebb_buf_add_str(out, ebb_buf_str(&text));
        ebb_buf_putc(out, '\n');
    }
    ebb_buf_fini(&text);
    return rc == -(int)EBB_ENOENT ? 0 : rc;
}

int ebb__engine_properties(const struct ebb_engine_config *config, const char *program, const struct ebb_value *session,
                           struct ebb_buf *out, struct ebb_err *err)
{
    int rc;

    /* no metastore of its own in the folder, unless somebody asks for one */
    ebb_buf_puts(out, "spark.sql.catalogImplementation=in-memory\nspark.log.level=WARN\n");
    rc = put_defaults(program, out, err);
    if (!rc)
        rc = ebb__engine_each_setting(config, session, put_setting, out, err);
    return rc ? rc : ebb_buf_check(out, "settings of Spark", err);
}

/* ---- what must not be told ---- */

static int add_secrets(struct ebb_strs *to, const struct ebb_value *map, struct ebb_err *err)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < ebb_value_get_count(map); i++) {
        const char *value = ebb_value_get_str(ebb_value_get_at(map, i));

        if (value && value[0] && ebb_is_secret_name(ebb_value_get_key(map, i)))
            rc = ebb_strs_add(to, value, err);
    }
    return rc;
}

static int gather_secrets(const struct ebb_config *c, const struct ebb_value *session, struct ebb_strs *out,
                          struct ebb_err *err)
{
    const struct ebb_engine_config *const ALL[] = {&c->engines.spark, &c->engines.livy, &c->engines.trino};
    int rc = add_secrets(out, session, err);

    for (size_t i = 0; !rc && i < c->secrets.count; i++)
        rc = ebb_strs_add(out, c->secrets.items[i], err);
    for (size_t i = 0; !rc && i < 3; i++) {
        rc = add_secrets(out, ALL[i]->conf, err);
        if (!rc && ALL[i]->password)
            rc = ebb_strs_add(out, ALL[i]->password, err);
        if (!rc && ALL[i]->token)
            rc = ebb_strs_add(out, ALL[i]->token, err);
    }
    return rc;
}

void ebb__engine_mask(struct ebb_workspace *ws, const struct ebb_value *session, const char *text, char *out,
                      size_t size)
{
    struct ebb_strs secrets;
    struct ebb_buf masked;

    ebb_strs_init(&secrets);
    ebb_buf_init(&masked, (size_t)1 << 20);
    if (gather_secrets(ebb_workspace_config(ws), session, &secrets, NULL) ||
        ebb_mask_text(&secrets, text, &masked, NULL))
        ebb_buf_reset(&masked);
    snprintf(out, size, "%s", ebb_buf_cstr(&masked));
    ebb_buf_fini(&masked);
    ebb_strs_fini(&secrets);
}
