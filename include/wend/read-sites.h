/* SPDX-License-Identifier: BSD-3-Clause */
/* wend/read-sites.h: call sites and call stacks. A part of wend/read.h, which has the terms, and
 * the rules for results, ownership and threads. */
#ifndef WEND_READ_SITES_H
#define WEND_READ_SITES_H

#include "read.h"

#ifdef __cplusplus
extern "C" {
#endif

/** \defgroup sites Call sites
 *
 * A *site* is the address in the application to which a call of MPI returned: an address in the
 * file of the program or of a library, equal on all ranks and in all runs. A recording made with
 * `wend trace --no-sites` has none. The library does not read programs.
 * What function and line an address is in, wend_read_site_frame tells if the recording has names;
 * else `wend show --sites` or addr2line(1).
 * @{
 */

typedef struct {
    bool known;              /**< false: the recorder could not say in which file the address is,
                                  and all else is 0 or NULL */
    const char *file;        /**< the path of the library; "" is the program of WORLD */
    uint32_t world;          /**< of a library: the first world that has it */
    const uint8_t *build_id; /**< what the linker has named the file by; NULL: nothing */
    size_t n_build_id;       /**< bytes */
    uint64_t offset;         /**< the return address, as an address in the file. The call itself is
                                  just before it */
} WendReadSite;

/** Gives the number of sites, 0 if the recording has none. Fails with WEND_READ_ERROR_INPUT if they
 * are damaged or take too much memory. */
int wend_read_n_sites(WendRead *r, uint32_t *n);

/** Gives site number SITE, from 0, valid until the next wend_read_site. Numbers are by first use in
 * the recording, lowest rank first. */
int wend_read_site(WendRead *r, uint32_t site, const WendReadSite **s);

/** A function in which a site is. The texts are those of the debug information of a program: treat
 * them as text that anybody may have written. */
typedef struct {
    const char *function; /**< NULL: not known */
    const char *file;     /**< its source file. NULL: not known */
    uint32_t line;        /**< 0: not known */
} WendReadSiteFrame;

/** Gives function number INDEX, from 0, that SITE is in, if the recording has its names
 * (`wend trace --symbols`): the function itself, and if that was inlined, those that it was inlined
 * into. SITE is what wend_read_site or wend_read_stack_frame gave. Valid until the next
 * wend_read_site_frame. Fails with WEND_READ_ERROR_NONE if there are no more, or none. */
int wend_read_site_frame(WendRead *r, const WendReadSite *site, uint32_t index,
                         const WendReadSiteFrame **frame);

/** Gives the site of the call that had not returned when the recording ended, the last one of the
 * sequence, without a walk over the calls. *SITE is WEND_READ_NO_INDEX if it is not known, or there
 * is no such call. */
int wend_read_unfinished_site(WendRead *r, uint32_t rank, uint32_t sequence, uint32_t *site);

/** The calls of one function from one site, of all ranks. */
typedef struct {
    uint32_t site; /**< WEND_READ_NO_INDEX: not known */
    const WendReadFunction *function;
    uint64_t calls; /**< without unsuccessful polls */
    uint64_t polls;
    WendReadAmount amount;
    double seconds; /**< of the calls of threads; negative: not measured */
    bool shared;    /**< SECONDS is in part an estimate. Without the time of each call (`wend trace
                         --times`) the recording has times by signature. If a signature was called
                         from several sites, each then has a part of its time by the number of
                         calls */
    uint32_t n_ranks;     /**< that call the function here */
    uint64_t least_calls; /**< calls and polls of one of these ranks */
    uint64_t most_calls;
    uint32_t least_calls_rank; /**< the lowest rank with so many */
    uint32_t most_calls_rank;
    uint64_t least_bytes, most_bytes;
    uint32_t least_bytes_rank, most_bytes_rank;
    uint32_t n_sites; /**< that count as SITE, itself included (wend_read_group_sites) */
    double
        least_seconds;   /**< of the calls of threads of one of these ranks. Negative: the recording
                               does not have the times of the ranks, and the members below mean
                               nothing. Without the time of each call, a world of more than 1,024
                               ranks has none */
    double mean_seconds; /**< SECONDS by the number of ranks */
    double most_seconds;
    uint32_t least_seconds_rank, most_seconds_rank; /**< as for calls */
    bool rank_seconds_shared; /**< LEAST_SECONDS and MOST_SECONDS are in part estimates. Without the
                                   time of each call the recording has how long each rank was in
                                   each function (wend_read_rank_times). If a rank called it from
                                   several sites, each has a part of this time by the mean times of
                                   its signatures */
} WendReadSiteTotals;

/** Gives entry number INDEX, from 0, of the sites and functions: those with the most time first,
 * then those with the most calls. Valid until the next wend_read_site_totals. Fails with
 * WEND_READ_ERROR_NONE after the last one. The first time goes through the calls: once for all
 * ranks of a class whose calls come from the same sites, and once for each rank with unsuccessful
 * polls. If the recording has the time of each call, it goes through the calls of each rank. */
int wend_read_site_totals(WendRead *r, uint32_t index, const WendReadSiteTotals **totals);

/** The call stack of a site. */
typedef struct {
    bool recorded;     /**< false: the recording was made without `wend trace --stacks`, and the
                            site is the only frame */
    bool whole;        /**< the last frame is in the outermost function: main, or that of a thread.
                            false: the stack was cut there, since it has more frames than were to be
                            recorded, or could not be followed any further */
    uint32_t n_frames; /**< at least 1 */
} WendReadStack;

/** Gives the call stack of site number SITE, valid until the next wend_read_stack. */
int wend_read_stack(WendRead *r, uint32_t site, const WendReadStack **stack);

/** Gives frame number INDEX of the stack of site number SITE. Frame 0 is the site itself, and each
 * is from where the function of the one before it was called. A function that the compiler has
 * inlined has no frame of its own. Valid until the next wend_read_stack_frame. Fails with
 * WEND_READ_ERROR_NONE after the last frame. */
int wend_read_stack_frame(WendRead *r, uint32_t site, uint32_t index, const WendReadSite **frame);

/** From now on, wend_read_site_totals and wend_read_wait count calls from site S as calls from site
 * COUNTS_AS[S]. N is the number of sites. With N 0, each site counts as itself again. Fails with
 * WEND_READ_ERROR_USAGE if N is another number, or a site is not below it. */
int wend_read_group_sites(WendRead *r, const uint32_t *counts_as, uint32_t n);

/** @} */

#ifdef __cplusplus
}
#endif
#endif
