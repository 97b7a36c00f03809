/* SPDX-License-Identifier: Apache-2.0
 *
 * Mutations made of words, for inputs that are Lua.
 */
#ifndef EBB_TESTS_FUZZ_WORDS_H
#define EBB_TESTS_FUZZ_WORDS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

/* A word in the place of up to a few bytes at a random spot, or between them. */
static inline size_t fuzz_put_word(const char *const *words, size_t count, uint8_t *data, size_t size, size_t max,
                                   unsigned int seed)
{
    const char *word = words[(seed >> 8) % count];
    size_t n = strlen(word), at = size ? (seed >> 4) % (size + 1) : 0, cut = (seed >> 20) % 24;

    cut = cut > 12 ? 0 : cut;
    if (cut > size - at)
        cut = size - at;
    if (size - cut + n > max)
        return size;
    memmove(data + at + n, data + at + cut, size - at - cut);
    memcpy(data + at, word, n);
    return size - cut + n;
}

/* A few words, or what the fuzzer itself does. */
static inline size_t fuzz_mutate_words(const char *const *words, size_t count, uint8_t *data, size_t size, size_t max,
                                       unsigned int seed)
{
    seed = seed * 1103515245u + 12345u;
    if (seed >> 31)
        return LLVMFuzzerMutate(data, size, max);
    for (unsigned int i = 0; i <= (seed >> 28) % 4; i++)
        size = fuzz_put_word(words, count, data, size, max, seed = seed * 1664525u + 1013904223u);
    return size;
}

#endif
