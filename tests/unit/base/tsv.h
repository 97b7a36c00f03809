/* SPDX-License-Identifier: Apache-2.0
 *
 * Case tables of tests/cases: tab separated, first line = column names, data cells are JSON values.
 */
#ifndef EBB_TESTS_TSV_H
#define EBB_TESTS_TSV_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

enum { TSV_COLUMNS_MAX = 16 };

/* Called per row with its cells; the last column may be missing. */
typedef void (*tsv_row_cb)(char **cells, int count, void *data);

static inline int tsv_split(char *line, char **cells)
{
    int count = 0;

    line[strcspn(line, "\r\n")] = '\0';
    while (line && count < TSV_COLUMNS_MAX)
        cells[count++] = strsep(&line, "\t");
    return count;
}

/* Runs all rows; returns how many there were, or -1 when there is no such table. */
static inline int tsv_each(const char *name, tsv_row_cb row, void *data)
{
    char path[512], *line = NULL;
    size_t cap = 0;
    int rows = -1;
    FILE *f;

    snprintf(path, sizeof path, EBB_SOURCE_DIR "/tests/cases/%s", name);
    f = fopen(path, "r");
    if (!f)
        return -1;
    while (getline(&line, &cap, f) > 0) {
        char *cells[TSV_COLUMNS_MAX];
        int count = tsv_split(line, cells);

        if (rows >= 0)
            row(cells, count, data);
        rows++;
    }
    free(line);
    fclose(f);
    return rows;
}

/* The text of a JSON string cell; free() it. */
static inline char *tsv_text(const char *cell)
{
    cJSON *value = cJSON_Parse(cell);
    char *text = cJSON_IsString(value) ? strdup(value->valuestring) : NULL;

    cJSON_Delete(value);
    return text;
}

#endif
