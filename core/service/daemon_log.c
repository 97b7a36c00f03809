/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>

#include "service/daemon_priv.h"

static const char *told(const char *text)
{
    return text && text[0] ? text : NULL;
}

void ebb__target_line(const struct ebb__log_target *target, enum ebb_log_level level,
                      const struct ebb__subject *subject, const char *message)
{
    struct ebb_daemon_line line = {level, message, NULL, NULL, NULL, NULL};

    if (!target->line)
        return;
    if (subject) {
        line.job = told(subject->job);
        line.run = told(subject->run);
        line.policy = told(subject->policy);
        line.table = told(subject->table);
    }
    target->line(target->data, &line);
}

struct saying {
    const struct ebb__log_target *target;
    const struct ebb__subject *subject;
};

static void write_about(void *data, enum ebb_log_level level, const char *message)
{
    const struct saying *s = data;

    ebb__target_line(s->target, level, s->subject, message);
}

void ebb__say(const struct ebb_log *log, enum ebb_log_level level, const struct ebb__subject *subject,
              const char *format, ...)
{
    struct saying saying = {log->data, subject};
    struct ebb_log about = {write_about, &saying, log->level};
    char text[4096];
    va_list args;

    if (level > log->level)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    ebb_log_say(&about, level, "%s", text);
}

void ebb__daemon_news(struct ebb__daemon *d, const char *type, ...)
{
    struct ebb_buf text;
    struct ebb_jsonw w;
    const char *key;
    va_list args;

    ebb_buf_init(&text, 65536);
    ebb_jsonw_init(&w, &text);
    ebb_jsonw_begin(&w, '{');
    va_start(args, type);
    while ((key = va_arg(args, const char *)) != NULL) {
        const char *value = va_arg(args, const char *);

        if (value && value[0])
            ebb_jsonw_kstr(&w, key, value);
    }
    va_end(args);
    ebb_jsonw_end(&w, '}');
    if (ebb_buf_check(&text, type, NULL) == 0)
        ebb_hub_publish(d->hub, type, ebb_buf_cstr(&text));
    ebb_buf_fini(&text);
}

static void write_plain(void *data, enum ebb_log_level level, const char *message)
{
    ebb__target_line(data, level, NULL, message);
}

struct ebb_log ebb__target_log(struct ebb__log_target *target, enum ebb_log_level level)
{
    return (struct ebb_log){write_plain, target, level};
}
