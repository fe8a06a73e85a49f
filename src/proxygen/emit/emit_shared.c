/* SPDX-License-Identifier: BSD-3-Clause */
/* emit_shared.c: writes waits for objects that several threads use, until another thread has made
 * the object or no longer uses it. */
#include "emitter.h"
#include "variable_names.h"
#include "src/proxygen/model/model.h"

void emit_shared(Emitter *e, Statements *out, guint terminal, gboolean after, gboolean of_several)
{
    static const char *const functions[2][4] = {
        {"shared_use", NULL, "shared_end", "shared_make"},
        {"shared_used", "shared_made", "shared_ended", "shared_made"}};
    if (g_hash_table_size(e->plan->shared) == 0)
        return;
    g_autoptr(GArray) uses = plan_threads_shared(e->plan, terminal);
    for (guint i = 0; i < uses->len; i++) {
        const SharedUse *use = &g_array_index(uses, SharedUse, i);
        e->needs[use->role == SHARED_MAKE || use->role == SHARED_COMMIT ? HELPER_SHARED_MAKE
                 : use->role == SHARED_END                              ? HELPER_SHARED_END
                 : use->kind == WEND_KIND_REQUEST                       ? HELPER_SHARED_REQUEST
                 : use->kind == WEND_KIND_SEGMENT                       ? HELPER_SHARED_MEMORY
                                                                        : HELPER_SHARED_USE] = TRUE;
        if (!functions[after][use->role] || (after && use->role == SHARED_MAKE && use->late))
            continue;
        if (use->role != SHARED_USE || use->kind != WEND_KIND_REQUEST) {
            statements_add(out, "%s%s(%u);", functions[after][use->role],
                           use->kind == WEND_KIND_SEGMENT && use->role == SHARED_USE && !after
                               ? "_memory"
                               : "",
                           use->number);
        } else if (after) {
            g_autofree char *variable =
                variable_name_of_request(e, use->word, e->plan->terminal_ranks[terminal]);
            statements_add(out, "shared_request_used(%u, %s);", use->number, variable);
        } else {
            statements_add(out, "shared_request(%u, %u, %d);", use->number,
                           wend_word_handle_tid(use->word), of_several);
        }
    }
}

void emit_borrowed(Emitter *e, Statements *out, gint64 segment)
{
    const GArray *requests = g_hash_table_lookup(e->plan->borrowed, &segment);
    for (guint i = 0, n; requests && i < requests->len; i += n) {
        guint first = g_array_index(requests, guint, i);
        for (n = 1; i + n < requests->len && g_array_index(requests, guint, i + n) == first + n;)
            n++;
        statements_add(out, "shared_requests_done(%u, %u);", first, n);
        e->needs[HELPER_SHARED_DONE] = TRUE;
    }
}
