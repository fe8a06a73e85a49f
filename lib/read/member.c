/* SPDX-License-Identifier: BSD-3-Clause */
/* member.c: reads the bytes and words of a member of an archive, and allocates what it claims. */
#include "program-private.h"
#include "record/codec.h"

gboolean member_open(Member *m, WendProgram *p, const char *name, Error **error)
{
    *m = (Member){.p = p, .member = name, .error = error};
    Bytes *bytes = container_member(p->container, name, error);
    if (!bytes)
        return FALSE;
    g_ptr_array_add(p->members, bytes);
    m->start = bytes->data;
    m->c = cursor_of(m->start, bytes->n);
    m->c.allowance = container_allowance(p->container);
    return TRUE;
}

gboolean member_bad(Member *m, const char *what)
{
    if ((m->error && *m->error)
        || allowance_error(m->c.allowance, container_name(m->p->container), m->error))
        return FALSE;
    error_set(m->error, WEND_ERROR_INPUT, "%s: member %s%s%s: %s (at byte %" G_GSIZE_FORMAT ")",
              container_name(m->p->container), m->member, m->part ? ", " : "",
              m->part ? m->part : "", m->c.failed ? "truncated or damaged" : what,
              (gsize)(m->c.p - m->start));
    return FALSE;
}

gboolean member_close(Member *m)
{
    if (m->c.failed)
        return member_bad(m, "truncated or damaged");
    if (m->c.p != m->c.end)
        return member_bad(m, "has more than it should");
    return TRUE;
}

gboolean member_part(Member *m, const char *name)
{
    m->part = name;
    return TRUE;
}

gboolean member_has_part(Member *m)
{
    return cursor_unsigned(&m->c) == 1;
}

gint64 member_word(Member *m)
{
    return codec_word(&m->c, m->p->constants, m->p->n_constants);
}

gpointer member_block(Member *m, guint64 n, gsize size)
{
    gpointer block = allowance_block(m->c.allowance, n, size);
    if (block)
        g_ptr_array_add(m->p->blocks, block);
    else
        member_bad(m, "out of memory");
    return block;
}

gboolean member_admits(Member *m, guint64 n, gsize size)
{
    return allowance_take(m->c.allowance, n, size) || member_bad(m, "out of memory");
}

gboolean member_measure_rule(Member *m, WendRule *rules, guint i)
{
    guint64 length = 0;
    for (guint k = 0; k < rules[i].n; k++) {
        const WendSymbol *y = &rules[i].symbols[k];
        guint64 all;
        if (y->id >= (y->is_rule ? i : m->p->n_terminals) || y->repeats == 0)
            return member_bad(
                m, "a rule uses one that does not come before it, or a terminal that is not there");
        guint64 once = y->is_rule ? rules[y->id].length : 1;
        guint64 times = y->repeats & RULE_TRIP ? 1 : y->repeats;
        if (__builtin_mul_overflow(once, times, &all)
            || __builtin_add_overflow(length, all, &length) || length > G_MAXINT64 / 2)
            return member_bad(m, "a rule stands for more calls than can be counted");
    }
    rules[i].length = length;
    return TRUE;
}
