/* SPDX-License-Identifier: Apache-2.0
 *
 * Events as they are posted. The first byte says how: ours, CloudEvents structured, batched, binary (the first line is
 * the id, the second the subject), a metrics report. Whatever is taken can be stored and read again.
 */
#include <stdlib.h>

#include "engine/value.h"
#include "service/events.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NOW ((int64_t)1790000000000)

struct headers {
    char id[256], subject[256];
};

static const char *header_of(void *data, const char *name)
{
    const struct headers *h = data;

    if (!strcmp(name, "ce-specversion"))
        return "1.0";
    if (!strcmp(name, "ce-source"))
        return "s";
    if (!strcmp(name, "ce-type"))
        return "x.y";
    if (!strcmp(name, "ce-id"))
        return h->id;
    return !strcmp(name, "ce-subject") ? h->subject : NULL;
}

static struct ebb_str take_line(struct ebb_str body, char out[256])
{
    const char *end = memchr(body.p, '\n', body.n);
    size_t n = end ? (size_t)(end - body.p) : body.n, kept = n < 255 ? n : 255;

    memcpy(out, body.p, kept);
    out[kept] = '\0';
    n += end != NULL;
    return (struct ebb_str){body.p + n, body.n - n};
}

static void check_event(const struct ebb_event *e)
{
    struct ebb_value *v = NULL;

    if (!e->source[0] || !e->id[0] || !e->type[0] || !e->table || e->at_ms < 0 || e->at_ms > NOW + 86400000)
        abort();
    if (strlen(e->type) > 64 || ebb_value_of_json("event", e->json, strlen(e->json), NULL, &v, NULL))
        abort();
    ebb_value_free(v);
}

static int parse(uint8_t mode, struct ebb_str body, struct ebb_event_list *list, struct ebb_err *err)
{
    struct headers h;

    switch (mode % 5) {
    case 0:
        return ebb_events_parse("application/json", NULL, NULL, body, NOW, list, err);
    case 1:
        return ebb_events_parse("application/cloudevents+json", NULL, NULL, body, NOW, list, err);
    case 2:
        return ebb_events_parse("application/cloudevents-batch+json", NULL, NULL, body, NOW, list, err);
    case 3:
        body = take_line(take_line(body, h.id), h.subject);
        return ebb_events_parse(mode & 0x80 ? "text/plain" : "", header_of, &h, body, NOW, list, err);
    default:
        return ebb_events_of_report("lake.db.t", body, NOW, list, err);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ebb_event_list list;
    struct ebb_err err;
    int rc;

    if (!size)
        return 0;
    rc = parse(data[0], (struct ebb_str){(const char *)data + 1, size - 1}, &list, &err);
    if (rc && rc != -EBB_EUSAGE && rc != -EBB_ENOMEM)
        abort();
    for (size_t i = 0; !rc && i < list.count; i++)
        check_event(&list.items[i]);
    if (!rc)
        ebb_event_list_fini(&list);
    return 0;
}
