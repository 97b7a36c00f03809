/* SPDX-License-Identifier: Apache-2.0
 *
 * The process as /proc shows it (proc(5)).
 */
#include "service/metrics_priv.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static void put(struct ebb_buf *out, const char *name, const char *type, const char *help, double value)
{
    ebb__metrics_head(out, name, type, help);
    ebb_buf_printf(out, "%s ", name);
    ebb__metrics_number(out, value);
    ebb_buf_putc(out, '\n');
}

/* Fields of /proc/self/stat from the third on: the second, the name, may hold anything and ends at the last ')'. */
struct stat_fields {
    unsigned long user, system, virtual_bytes;
    unsigned long long start;
    long pages;
};

static bool read_stat(struct stat_fields *f)
{
    char text[2048];
    const char *end;
    FILE *file = fopen("/proc/self/stat", "re");
    size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;

    if (file)
        fclose(file);
    text[n] = '\0';
    end = strrchr(text, ')');
    return end &&
           sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %*d %*d %*d %*d %*d %*d %llu %lu %ld",
                  &f->user, &f->system, &f->start, &f->virtual_bytes, &f->pages) == 5;
}

static void write_stat(struct ebb_buf *out)
{
    struct stat_fields f;
    double ticks = (double)sysconf(_SC_CLK_TCK);
    struct timespec now, up;

    if (ticks <= 0 || !read_stat(&f))
        return;
    put(out, "process_cpu_seconds_total", "counter", "CPU time used, user and system",
        (double)(f.user + f.system) / ticks);
    put(out, "process_resident_memory_bytes", "gauge", "Memory that is resident",
        (double)f.pages * (double)sysconf(_SC_PAGESIZE));
    put(out, "process_virtual_memory_bytes", "gauge", "Address space", (double)f.virtual_bytes);
    if (clock_gettime(CLOCK_REALTIME, &now) || clock_gettime(CLOCK_BOOTTIME, &up))
        return;
    put(out, "process_start_time_seconds", "gauge", "When the process started, seconds since 1970",
        (double)(now.tv_sec - up.tv_sec) + (double)f.start / ticks);
}

static void write_files(struct ebb_buf *out)
{
    struct rlimit limit;
    DIR *dir = opendir("/proc/self/fd");
    int count = -1; /* the one that reads the folder does not count */

    if (dir) {
        for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir))
            count += entry->d_name[0] != '.';
        closedir(dir);
        put(out, "process_open_fds", "gauge", "File descriptors open", count);
    }
    if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur != RLIM_INFINITY)
        put(out, "process_max_fds", "gauge", "File descriptors that may be open", (double)limit.rlim_cur);
}

void ebb__metrics_process(struct ebb_buf *out)
{
    write_stat(out);
    write_files(out);
    ebb__metrics_head(out, "ebb_build_info", "gauge", "1, with the version of the program");
    ebb_buf_puts(out, "ebb_build_info");
    ebb__metrics_label(out, "version", EBB_VERSION);
    ebb_buf_puts(out, " 1\n");
}
