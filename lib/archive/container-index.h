/* SPDX-License-Identifier: BSD-3-Clause */
/* container-index.h: constants of the container that its writer and its reader share. */
#ifndef WEND_CONTAINER_INDEX_H
#define WEND_CONTAINER_INDEX_H

#include "container.h"

#define CONTAINER_SKIPPABLE 0x184D2A5Eu /* one of the magic numbers that Zstandard skips */
#define CONTAINER_MAGIC "WNDX"
#define CONTAINER_TRAILER 16u /* bytes: hash of the index (8), its length (4), magic (4) */

#endif
