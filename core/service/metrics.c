/* SPDX-License-Identifier: Apache-2.0
 *
 * Values are doubles in atomic words. A value of a label takes a place of its metric the first time it is seen and
 * keeps it.
 */
#include "service/metrics_priv.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"

#define LABELS_MAX 32
#define LABEL_BYTES 64

enum kind { COUNTER, GAUGE, HISTOGRAM };
struct spec {
    const char *name;
    enum kind kind;
    const char *label, *help;
};
#define SPEC(symbol, name, type, label, help) {name, type, label, help},
static const struct spec specs[] = {EBB_METRICS(SPEC)};
#undef SPEC

static const double bounds[] = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600};
#define BOUND_COUNT (sizeof bounds / sizeof *bounds)

struct place {
    _Atomic(char *) label;
    _Atomic uint64_t bits;
};
struct histogram {
    _Atomic uint64_t counts[BOUND_COUNT + 1]; /* the last: above all bounds */
    _Atomic uint64_t sum_bits;
};
struct ebb_metrics {
    struct place places[EBB_METRIC_COUNT][LABELS_MAX + 1]; /* the last: "other" */
    struct histogram histograms[EBB_METRIC_COUNT];
};

static double to_double(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t to_bits(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void add_to(_Atomic uint64_t *word, double n)
{
    uint64_t old = atomic_load_explicit(word, memory_order_relaxed);

    while (!atomic_compare_exchange_weak_explicit(word, &old, to_bits(to_double(old) + n), memory_order_relaxed,
                                                  memory_order_relaxed))
        ;
}

int ebb_metrics_new(struct ebb_metrics **out, struct ebb_err *err)
{
    *out = calloc(1, sizeof **out);
    return *out ? 0 : ebb_err_nomem(err);
}

void ebb_metrics_free(struct ebb_metrics *metrics)
{
    if (!metrics)
        return;
    for (size_t m = 0; m < EBB_METRIC_COUNT; m++)
        for (size_t i = 0; i < LABELS_MAX; i++)
            free(atomic_load(&metrics->places[m][i].label));
    free(metrics);
}

/* Take a place that was free, or see who took it meanwhile; the label that is there then, NULL without memory or when
 * it is no text. */
static const char *take(struct place *place, const char *label)
{
    char *none = NULL, *copy = strndup(label, LABEL_BYTES);

    if (!copy || !ebb_text_is_utf8(copy, strlen(copy))) {
        free(copy);
        return NULL;
    }
    if (atomic_compare_exchange_strong(&place->label, &none, copy))
        return copy;
    free(copy);
    return none;
}

static struct place *place_of(struct ebb_metrics *metrics, enum ebb_metric metric, const char *label)
{
    struct place *places = metrics->places[metric];

    if (!specs[metric].label[0])
        return &places[0];
    if (!label)
        label = "";
    for (size_t i = 0; i < LABELS_MAX; i++) {
        const char *there = atomic_load_explicit(&places[i].label, memory_order_acquire);

        if (!there)
            there = take(&places[i], label);
        if (!there)
            break;
        if (!strncmp(there, label, LABEL_BYTES))
            return &places[i];
    }
    return &places[LABELS_MAX];
}

void ebb_metrics_add(struct ebb_metrics *metrics, enum ebb_metric metric, const char *label, int64_t n)
{
    if (!metrics || specs[metric].kind == HISTOGRAM || (specs[metric].kind == COUNTER && n < 0))
        return;
    add_to(&place_of(metrics, metric, label)->bits, (double)n);
}

void ebb_metrics_set(struct ebb_metrics *metrics, enum ebb_metric metric, const char *label, double value)
{
    if (metrics && specs[metric].kind != HISTOGRAM)
        atomic_store_explicit(&place_of(metrics, metric, label)->bits, to_bits(value), memory_order_relaxed);
}

void ebb_metrics_observe(struct ebb_metrics *metrics, enum ebb_metric metric, double seconds)
{
    struct histogram *h;
    size_t i = 0;

    if (!metrics || specs[metric].kind != HISTOGRAM)
        return;
    if (!(seconds > 0))
        seconds = 0;
    while (i < BOUND_COUNT && seconds > bounds[i])
        i++;
    h = &metrics->histograms[metric];
    atomic_fetch_add_explicit(&h->counts[i], 1, memory_order_relaxed);
    add_to(&h->sum_bits, seconds);
}

/* ---- text ---- */

void ebb__metrics_number(struct ebb_buf *out, double value)
{
    char text[40];

    if (isnan(value) || isinf(value)) {
        ebb_buf_puts(out, isnan(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf");
        return;
    }
    if (fabs(value) < 1e15 && value == floor(value))
        snprintf(text, sizeof text, "%.0f", value);
    else
        snprintf(text, sizeof text, "%.15g", value);
    for (char *p = text; *p; p++)
        if (*p == ',')
            *p = '.'; /* the locale of a program that embeds this */
    ebb_buf_puts(out, text);
}

void ebb__metrics_head(struct ebb_buf *out, const char *name, const char *type, const char *help)
{
    ebb_buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void ebb__metrics_label(struct ebb_buf *out, const char *name, const char *value)
{
    ebb_buf_printf(out, "{%s=\"", name);
    for (; *value; value++) {
        if (*value == '\n')
            ebb_buf_puts(out, "\\n");
        else if (*value == '"' || *value == '\\')
            ebb_buf_printf(out, "\\%c", *value);
        else
            ebb_buf_putc(out, *value);
    }
    ebb_buf_puts(out, "\"}");
}

static void write_sample(struct ebb_buf *out, const struct spec *spec, const char *label, double value)
{
    ebb_buf_puts(out, spec->name);
    if (label)
        ebb__metrics_label(out, spec->label, label);
    ebb_buf_putc(out, ' ');
    ebb__metrics_number(out, value);
    ebb_buf_putc(out, '\n');
}

static void write_places(struct ebb_buf *out, const struct spec *spec, struct place *places)
{
    double other = to_double(atomic_load_explicit(&places[LABELS_MAX].bits, memory_order_relaxed));

    if (!spec->label[0]) {
        write_sample(out, spec, NULL, to_double(atomic_load_explicit(&places[0].bits, memory_order_relaxed)));
        return;
    }
    for (size_t i = 0; i < LABELS_MAX; i++) {
        const char *label = atomic_load_explicit(&places[i].label, memory_order_acquire);

        if (label)
            write_sample(out, spec, label, to_double(atomic_load_explicit(&places[i].bits, memory_order_relaxed)));
    }
    if (other != 0)
        write_sample(out, spec, "other", other);
}

static void write_histogram(struct ebb_buf *out, const struct spec *spec, struct histogram *h)
{
    uint64_t total = 0;

    for (size_t i = 0; i <= BOUND_COUNT; i++) {
        total += atomic_load_explicit(&h->counts[i], memory_order_relaxed);
        ebb_buf_printf(out, "%s_bucket{le=\"", spec->name);
        ebb__metrics_number(out, i < BOUND_COUNT ? bounds[i] : (double)INFINITY);
        ebb_buf_printf(out, "\"} %llu\n", (unsigned long long)total);
    }
    ebb_buf_printf(out, "%s_sum ", spec->name);
    ebb__metrics_number(out, to_double(atomic_load_explicit(&h->sum_bits, memory_order_relaxed)));
    ebb_buf_printf(out, "\n%s_count %llu\n", spec->name, (unsigned long long)total);
}

int ebb_metrics_write(struct ebb_metrics *metrics, struct ebb_buf *out, struct ebb_err *err)
{
    static const char *const types[] = {"counter", "gauge", "histogram"};

    for (size_t m = 0; metrics && m < EBB_METRIC_COUNT; m++) {
        ebb__metrics_head(out, specs[m].name, types[specs[m].kind], specs[m].help);
        if (specs[m].kind == HISTOGRAM)
            write_histogram(out, &specs[m], &metrics->histograms[m]);
        else
            write_places(out, &specs[m], metrics->places[m]);
    }
    ebb__metrics_process(out);
    return ebb_buf_check(out, "metrics", err);
}
