/* SPDX-License-Identifier: BSD-3-Clause */
/* archive.c: fuzzes the reader. An input that begins as Zstandard does is a whole archive; any
 * other is a row of members (members.h).
 *
 * With clang -fsanitize=fuzzer it is a fuzzer; with replay.c a program that runs the files it
 * is given. See tests/fuzz/local.mk. */
#include <glib.h>
#include <string.h>

#include "../../lib/read/program-private.h"
#include "exercise.h"
#include "members.h"

int LLVMFuzzerTestOneInput(const guint8 *data, size_t size)
{
    static const guint8 zstandard[] = {0x28, 0xb5, 0x2f, 0xfd};
    AUTO(Error) error = NULL;
    Container *b;
    if (size >= 4 && memcmp(data, zstandard, 4) == 0) {
        AUTO(Bytes) bytes = bytes_new(data, size);
        b = container_from_bytes(bytes, "fuzz", &error);
    } else {
        b = members_unpack(data, size);
    }
    WendProgram *p = b ? program_from_container(b, &error) : NULL;
    if ((p != NULL) == (error != NULL))
        g_error("a result and an error, or neither");
    if (p)
        exercise(p);
#ifndef FUZZING
    if (!p)
        g_print("refused: %s\n", error->message);
#endif
    program_free(p);
    return 0;
}
