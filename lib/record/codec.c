/* SPDX-License-Identifier: BSD-3-Clause */
/* codec.c: see codec.h. */
#include "codec.h"

#include "base/strings.h"

#include <endian.h>
#include <string.h>

/* Even numbers are plain values, odd ones specials: 0 is followed by a raw word, 1 to 15 are the
 * special words, 16 and up are constants. */
enum { RAW = 0, FIRST_CONSTANT = 16 };

void codec_put_word(WendBuf *b, int64_t word, const uint32_t *constants)
{
    if (word_is_const(word)) {
        buf_unsigned(b, ((uint64_t)FIRST_CONSTANT + constants[word_const_index(word)]) << 1 | 1);
        return;
    }
    if (word > INT64_MIN && word < INT64_MIN + FIRST_CONSTANT) {
        buf_unsigned(b, (uint64_t)(word - INT64_MIN) << 1 | 1);
        return;
    }
    uint64_t zigzag = buf_zigzag(word);
    if (zigzag >> 62 == 0) {
        buf_unsigned(b, zigzag << 1);
        return;
    }
    uint64_t raw = htole64((uint64_t)word);
    buf_unsigned(b, RAW << 1 | 1);
    buf_bytes(b, &raw, sizeof raw);
}

int64_t codec_word(WendCursor *c, const int64_t *constants, uint32_t n_constants)
{
    uint64_t code = cursor_unsigned(c), special = code >> 1;
    if (!(code & 1))
        return buf_unzigzag(special);
    if (special == RAW) {
        uint64_t raw;
        const uint8_t *p = cursor_bytes(c, sizeof raw);
        if (!p)
            return 0;
        memcpy(&raw, p, sizeof raw);
        int64_t word = (int64_t)le64toh(raw);
        /* a raw word in the range of constants, of which the archive has no name */
        if (word_is_const(word))
            c->failed = true;
        return word;
    }
    if (special < FIRST_CONSTANT)
        return INT64_MIN + (int64_t)special;
    if (special - FIRST_CONSTANT < n_constants)
        return constants[special - FIRST_CONSTANT];
    c->failed = true;
    return 0;
}

void batches_init(Batches *b)
{
    b->by_key = map_of_words(); /* number + 1 */
    b->all = vector_new(sizeof(Batch));
}

void batches_clear(Batches *b)
{
    for (uint32_t i = 0; i < b->all->len; i++)
        vector_unref(VECTOR_AT(b->all, Batch, i).things);
    map_unref(b->by_key);
    vector_unref(b->all);
}

void batches_add(Batches *b, int64_t head, uint32_t n, void *thing)
{
    int64_t key = (int64_t)((uint64_t)head << 32 | n);
    uint32_t number = NUMBER_OF(map_get(b->by_key, &key));
    if (!number) {
        Batch batch = {n, vector_of_pointers(NULL)};
        VECTOR_APPEND(b->all, batch);
        number = b->all->len;
        map_put_word(b->by_key, key, OF_NUMBER(number));
    }
    vector_add(VECTOR_AT(b->all, Batch, number - 1).things, thing);
}

bool batch_by_column(const Batch *b, WendCursor *c)
{
    return b->things->len > 1 && cursor_unsigned(c) == 1;
}

void codec_put_name(WendBuf *b, const char *name)
{
    const size_t n = strlen(CODEC_NAME_PREFIX);
    AUTOFREE char *other =
        string_begins(name, CODEC_NAME_PREFIX) ? NULL : string_print(".%s", name);
    buf_string(b, other ? other : name + n);
}

char *codec_string(WendCursor *c)
{
    WendCursor block = cursor_block(c);
    if (c->failed)
        return string_copy("");
    AUTOFREE char *raw = string_part((const char *)block.p, (size_t)(block.end - block.p));
    return string_valid(raw);
}
