/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <sys/random.h>

#include "io/http_server_priv.h"

enum { BURST = 10, TOKEN = 1000 };

void ebb__httpd_addresses_init(struct ebb__httpd_addresses *all)
{
    memset(all, 0, sizeof *all);
    if (getrandom(&all->seed, sizeof all->seed, GRND_NONBLOCK) != (ssize_t)sizeof all->seed)
        all->seed = (uint64_t)(uintptr_t)all;
}

void ebb__httpd_addresses_fini(struct ebb__httpd_addresses *all)
{
    while (all->newest) {
        struct ebb__httpd_address *next = all->newest->next;

        free(all->newest);
        all->newest = next;
    }
    all->oldest = NULL;
    all->count = 0;
}

static bool is_v4(const struct sockaddr *sa, uint64_t *key)
{
    const struct sockaddr_in6 *v6 = (const void *)sa;
    struct in_addr v4;

    if (sa->sa_family == AF_INET)
        v4 = ((const struct sockaddr_in *)(const void *)sa)->sin_addr;
    else if (IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr))
        memcpy(&v4, v6->sin6_addr.s6_addr + 12, sizeof v4);
    else
        return false;
    *key = v4.s_addr;
    return true;
}

static struct ebb__httpd_address **slot(struct ebb__httpd_addresses *all, uint64_t key, bool is_v6)
{
    uint64_t h = (key ^ all->seed ^ is_v6) * UINT64_C(0x9E3779B97F4A7C15);

    return &all->hash[(h >> 32) % EBB__HTTPD_HASH_SIZE];
}

static void unlink_use(struct ebb__httpd_addresses *all, struct ebb__httpd_address *a)
{
    *(a->prev ? &a->prev->next : &all->newest) = a->next;
    *(a->next ? &a->next->prev : &all->oldest) = a->prev;
}

static void link_newest(struct ebb__httpd_addresses *all, struct ebb__httpd_address *a)
{
    a->prev = NULL;
    a->next = all->newest;
    *(all->newest ? &all->newest->prev : &all->oldest) = a;
    all->newest = a;
}

static void drop(struct ebb__httpd_addresses *all, struct ebb__httpd_address *a)
{
    struct ebb__httpd_address **at = slot(all, a->key, a->is_v6);

    while (*at != a)
        at = &(*at)->next_in_hash;
    *at = a->next_in_hash;
    unlink_use(all, a);
    all->count--;
    free(a);
}

static void make_room(struct ebb__httpd_addresses *all)
{
    struct ebb__httpd_address *a = all->oldest;

    while (a && a->connections)
        a = a->prev;
    if (a)
        drop(all, a);
}

static struct ebb__httpd_address *add(struct ebb__httpd_addresses *all, uint64_t key, bool is_v6)
{
    struct ebb__httpd_address **at = slot(all, key, is_v6), *a;

    if (all->count >= EBB__HTTPD_ADDRESSES_MAX)
        make_room(all);
    a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    a->key = key;
    a->is_v6 = is_v6;
    a->next_in_hash = *at;
    *at = a;
    link_newest(all, a);
    all->count++;
    return a;
}

struct ebb__httpd_address *ebb__httpd_address_get(struct ebb__httpd_addresses *all, const struct sockaddr *sa,
                                                  unsigned requests_per_s, uint64_t now_ms)
{
    struct ebb__httpd_address *a;
    uint64_t key = 0;
    bool is_v6 = !is_v4(sa, &key);

    if (is_v6)
        memcpy(&key, ((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr.s6_addr, sizeof key);
    for (a = *slot(all, key, is_v6); a && (a->key != key || a->is_v6 != is_v6);)
        a = a->next_in_hash;
    if (a) {
        unlink_use(all, a);
        link_newest(all, a);
        return a;
    }
    a = add(all, key, is_v6);
    if (a) {
        a->at_ms = now_ms;
        a->tokens = (int64_t)requests_per_s * BURST * TOKEN;
    }
    return a;
}

bool ebb__httpd_address_allows(struct ebb__httpd_address *a, unsigned requests_per_s, uint64_t now_ms)
{
    const int64_t most = (int64_t)requests_per_s * BURST * TOKEN;
    uint64_t passed = now_ms > a->at_ms ? now_ms - a->at_ms : 0;

    a->at_ms = now_ms;
    if (passed >= BURST * TOKEN || (int64_t)passed * requests_per_s >= most - a->tokens)
        a->tokens = most;
    else
        a->tokens += (int64_t)passed * requests_per_s;
    if (a->tokens < TOKEN)
        return false;
    a->tokens -= TOKEN;
    return true;
}
