/* SPDX-License-Identifier: BSD-3-Clause */
/* times-codings.h: codings of durations and intervals to compare with, of the Pilgrim paper
 * ("Near-lossless MPI tracing and proxy application autogeneration", sections 2.3.2 and 4.5,
 * table 2). Durations are known, and none is negative. */
#ifndef WEND_TIMES_CODINGS_H
#define WEND_TIMES_CODINGS_H

#include "../lib/times/durations.h"

/* - cfg: exponential bins, and a Sequitur grammar of them.
 * - hist: exponential bins; the 2^K most frequent ones of the first 100 samples in K + 1 bits, all
 *   other times unchanged, as doubles, with one bit more. hist8 has K = 8, as in the paper; hist3
 *   has K = 3.
 * - sz: the idea of SZ for relative errors: logarithms are predicted from the one before, and the
 *   difference is quantized and entropy-coded.
 * - zfp: libzfp, with an absolute error: 10 us for both, or 1 ms and 10 ms. */
extern const WendDurationCoding times_cfg, times_hist3, times_hist8, times_sz;
#ifdef HAVE_ZFP
extern const WendDurationCoding times_zfp_tight, times_zfp_loose;
#endif
/* Seconds of a tick, for errors in seconds. */
extern double times_tick;

/* Codes CALLS clustered: sorted by place, each place in the order of the calls. */
void times_encode_clustered(const WendDurationCoding *coding, void *learned,
                            const WendTimedCall *calls, size_t n, WendBuf *durations,
                            WendBuf *intervals);
bool times_decode_clustered(const WendDurationCoding *coding, void *learned, WendTimedCall *calls,
                            size_t n, WendCursor *durations, WendCursor *intervals);

#endif
