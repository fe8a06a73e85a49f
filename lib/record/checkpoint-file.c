/* SPDX-License-Identifier: BSD-3-Clause */
/* checkpoint-file.c: see checkpoint-file.h. */
#include "checkpoint-file.h"

#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "functions.h"

uint64_t checkpoint_file_build(void)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < mpi_n_functions; i++) {
        const WendFunction *f = &mpi_functions[i];
        hash = XXH64(f->name, strlen(f->name) + 1, hash);
        for (int p = 0; p < f->n_params; p++) {
            const int facts[] = {(int)f->params[p].kind, (int)f->params[p].dir,
                                 (int)f->params[p].place, f->params[p].array};
            hash = XXH64(facts, sizeof facts, hash);
        }
    }
    for (size_t i = 0; i < mpi_n_constants; i++)
        hash = XXH64(mpi_constants[i], strlen(mpi_constants[i]) + 1, hash);
    return hash;
}

WendCheckpointHeader checkpoint_header(uint64_t build, uint64_t number, const void *part,
                                       size_t bytes)
{
    WendCheckpointHeader h = {.build = build, .number = number, .bytes = bytes};
    memcpy(h.magic, WEND_CHECKPOINT_MAGIC, sizeof h.magic);
    h.hash = XXH64(part, bytes, XXH64(&h, offsetof(WendCheckpointHeader, hash), 0));
    return h;
}

bool checkpoint_file_is_whole(const void *file, size_t n, WendCheckpointHeader *h)
{
    if (n < sizeof *h)
        return false;
    memcpy(h, file, sizeof *h);
    if (memcmp(h->magic, WEND_CHECKPOINT_MAGIC, sizeof h->magic) != 0 || h->bytes > n - sizeof *h)
        return false;
    return checkpoint_header(h->build, h->number, (const char *)file + sizeof *h, h->bytes).hash
           == h->hash;
}
