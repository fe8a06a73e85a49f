/* pending.c: stands for parts that are not in the tree yet; what is there takes precedence, and then this file goes. */
#include "config.h"

#include <stdio.h>

#include "command.h"
#include "merge.h"

static int pending(const char *name)
{
    fprintf(stderr, "wend %s: not in this build\n", name);
    return WEND_EXIT_SYSTEM;
}

#define PENDING(name) \
    __attribute__((weak)) int wend_##name##_main(int argc, char **argv) \
    { \
        (void)argc, (void)argv; \
        return pending(#name); \
    }
PENDING(show)
PENDING(dump)
PENDING(diff)

__attribute__((weak)) GQuark wend_error_quark(void)
{
    return g_quark_from_static_string("wend-error-quark");
}
