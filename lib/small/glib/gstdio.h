/* gstdio.h: see ../glib.h. */
#ifndef WEND_SMALL_GSTDIO_H
#define WEND_SMALL_GSTDIO_H

#include <glib.h>
#include <stdio.h>
#include <unistd.h>

#define g_rename rename
#define g_unlink unlink

#endif
