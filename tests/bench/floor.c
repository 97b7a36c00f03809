/* SPDX-License-Identifier: Apache-2.0
 *
 * The least work that any orphan scan has to do, to compare ebb with: list every directory of a table (getdents64 with
 * a 64 KiB buffer, d_type, no stat), then read every Avro file of metadata/ and inflate its blocks into one reused
 * buffer. Nothing is decoded, looked up or kept. Prints the CPU seconds of both halves and what they went through.
 */
#include <dirent.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { LIST_BYTES = 65536, MAGIC_BYTES = 4, SYNC_BYTES = 16 };

struct entry {
    uint64_t ino;
    int64_t off;
    unsigned short reclen;
    unsigned char type;
    char name[];
};

struct work {
    char **folders; /* still to be listed */
    size_t folder_count, folder_cap;
    long files;
    long avro_files;
    long long in_bytes, out_bytes;
    struct libdeflate_decompressor *inflater;
    unsigned char *in, *out;
    size_t in_cap, out_cap;
};

static void die(const char *what)
{
    perror(what);
    exit(3);
}

static void *grow(void *p, size_t n)
{
    p = realloc(p, n);
    if (!p)
        die("memory");
    return p;
}

static double cpu_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void folder_add(struct work *w, const char *folder, const char *name)
{
    size_t n = strlen(folder) + strlen(name) + 2;

    if (w->folder_count == w->folder_cap) {
        w->folder_cap = w->folder_cap ? 2 * w->folder_cap : 1024;
        w->folders = grow(w->folders, w->folder_cap * sizeof *w->folders);
    }
    w->folders[w->folder_count] = grow(NULL, n);
    snprintf(w->folders[w->folder_count++], n, "%s/%s", folder, name);
}

static void list_folder(struct work *w, const char *folder, char *buffer)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    long n;

    if (fd < 0)
        die(folder);
    while ((n = syscall(SYS_getdents64, fd, buffer, LIST_BYTES)) > 0) {
        for (long at = 0; at < n;) {
            const struct entry *e = (const struct entry *)(const void *)(buffer + at);

            at += e->reclen;
            if (e->type != DT_DIR)
                w->files++;
            else if (strcmp(e->name, ".") && strcmp(e->name, ".."))
                folder_add(w, folder, e->name);
        }
    }
    if (n < 0)
        die(folder);
    close(fd);
}

static void walk(struct work *w, const char *root)
{
    char *buffer = grow(NULL, LIST_BYTES);

    folder_add(w, root, ".");
    while (w->folder_count) {
        char *folder = w->folders[--w->folder_count];

        list_folder(w, folder, buffer);
        free(folder);
    }
    free(buffer);
}

/* A zigzag varint; a cut file ends the program. */
static int64_t get_long(const unsigned char **p, const unsigned char *end)
{
    uint64_t u = 0;

    for (int shift = 0; *p < end && shift < 64; shift += 7) {
        unsigned char c = *(*p)++;

        u |= (uint64_t)(c & 0x7f) << shift;
        if (c < 0x80)
            return (int64_t)(u >> 1) ^ -(int64_t)(u & 1);
    }
    fprintf(stderr, "floor: cut number in an Avro file\n");
    exit(3);
}

static const unsigned char *skip(const unsigned char *p, const unsigned char *end, int64_t n)
{
    if (n < 0 || n > end - p) {
        fprintf(stderr, "floor: cut Avro file\n");
        exit(3);
    }
    return p + n;
}

static const unsigned char *skip_head(const unsigned char *p, const unsigned char *end)
{
    int64_t pairs;

    p = skip(p, end, MAGIC_BYTES);
    while ((pairs = get_long(&p, end)) != 0) {
        if (pairs < 0) {
            pairs = -pairs;
            get_long(&p, end);
        }
        for (int64_t i = 0; i < 2 * pairs; i++) {
            int64_t n = get_long(&p, end);

            p = skip(p, end, n);
        }
    }
    return skip(p, end, SYNC_BYTES);
}

static void inflate_block(struct work *w, const unsigned char *p, size_t n)
{
    size_t written = 0;
    enum libdeflate_result result;

    for (;;) {
        result = libdeflate_deflate_decompress(w->inflater, p, n, w->out, w->out_cap, &written);
        if (result != LIBDEFLATE_INSUFFICIENT_SPACE)
            break;
        w->out_cap *= 2;
        w->out = grow(w->out, w->out_cap);
    }
    if (result != LIBDEFLATE_SUCCESS) {
        fprintf(stderr, "floor: a block is not deflate\n");
        exit(3);
    }
    w->out_bytes += (long long)written;
}

static void inflate_file(struct work *w, size_t n)
{
    const unsigned char *end = w->in + n;
    const unsigned char *p;

    if (n < MAGIC_BYTES || memcmp(w->in, "Obj\1", MAGIC_BYTES))
        return; /* planted litter that is named like a manifest */
    p = skip_head(w->in, end);
    while (p < end) {
        int64_t size;

        get_long(&p, end);
        size = get_long(&p, end);
        skip(p, end, size);
        inflate_block(w, p, (size_t)size);
        p = skip(p, end, size + SYNC_BYTES);
    }
}

static void read_avro(struct work *w, int folder_fd, const char *name)
{
    struct stat st;
    int fd = openat(folder_fd, name, O_RDONLY | O_CLOEXEC);
    size_t have = 0;

    if (fd < 0 || fstat(fd, &st))
        die(name);
    if ((size_t)st.st_size > w->in_cap) {
        w->in_cap = (size_t)st.st_size;
        w->in = grow(w->in, w->in_cap);
    }
    while (have < (size_t)st.st_size) {
        ssize_t n = read(fd, w->in + have, (size_t)st.st_size - have);

        if (n <= 0)
            die(name);
        have += (size_t)n;
    }
    close(fd);
    w->avro_files++;
    w->in_bytes += (long long)have;
    inflate_file(w, have);
}

static void inflate_all(struct work *w, const char *root)
{
    char path[4096];
    DIR *folder;
    const struct dirent *e;

    snprintf(path, sizeof path, "%s/metadata", root);
    folder = opendir(path);
    if (!folder)
        die(path);
    w->out_cap = 1 << 20;
    w->out = grow(NULL, w->out_cap);
    w->inflater = libdeflate_alloc_decompressor();
    if (!w->inflater)
        die("memory");
    while ((e = readdir(folder))) {
        size_t n = strlen(e->d_name);

        if (n > 5 && !strcmp(e->d_name + n - 5, ".avro"))
            read_avro(w, dirfd(folder), e->d_name);
    }
    closedir(folder);
    libdeflate_free_decompressor(w->inflater);
}

int main(int argc, char **argv)
{
    struct work w = {0};
    double t0, t1, t2;

    if (argc != 2) {
        fprintf(stderr, "usage: floor TABLE_FOLDER\n");
        return 64;
    }
    t0 = cpu_s();
    walk(&w, argv[1]);
    t1 = cpu_s();
    inflate_all(&w, argv[1]);
    t2 = cpu_s();
    printf("{\"walk_cpu_s\":%.4f,\"inflate_cpu_s\":%.4f,\"files\":%ld,\"avro_files\":%ld,\"in_bytes\":%lld,\"out_"
           "bytes\":%lld}\n",
           t1 - t0, t2 - t1, w.files, w.avro_files, w.in_bytes, w.out_bytes);
    free(w.folders);
    free(w.in);
    free(w.out);
    return 0;
}
