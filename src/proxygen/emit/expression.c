/* SPDX-License-Identifier: BSD-3-Clause */
/* expression.c: writes words, handles, pointers and values by rank as C expressions. */
#include <string.h>

#include "src/proxygen/emit/emit.h"
#include "src/proxygen/analysis/call-analysis.h"

char *expression_string(Emitter *e, const char *text, gssize n)
{
    gsize length = n < 0 ? strlen(text) : (gsize)n;
    g_autofree char *contents = c_token_string(text, (gssize)length);
    if (length <= C_LITERAL_MOST)
        return g_steal_pointer(&contents);
    g_autofree char *dimensions = g_strdup_printf("[%" G_GSIZE_FORMAT "]", length + 1);
    g_autofree char *table = emit_literal_table(e, "char", "text", dimensions, contents);
    return g_strdup_printf("(char *)%s", table); /* lists of strings are not const */
}

/* A number as C, and what matters where it is part of another expression. */
typedef struct {
    char *text;
    gboolean zero;        /* it is 0 */
    gboolean negative;    /* it begins with a minus sign */
    gboolean conditional; /* "rank < 1 ? 0 : 5" */
} Number;

/* Consecutive ranks with values of one form. */
typedef struct {
    guint first, last; /* indices into the ranks */
    gboolean relative;
    gint64 value;
} RankPiece;

/* The largest number of pieces in a readable expression. */
enum { PIECES = 3 };

static gboolean plain(gint64 value)
{
    return !word_is_special(value) && value < G_MAXINT64 / 2;
}

/* Splits values over keys (ranks, or residues of ranks) into pieces. Returns FALSE if there are
 * more than LIMIT. */
static gboolean split_pieces(guint n, const guint *ranks, const gint64 *values, guint limit,
                             GArray *pieces)
{
    g_array_set_size(pieces, 0);
    for (guint i = 0; i < n;) {
        guint same = i + 1, shifted = i + 1;
        while (same < n && values[same] == values[i])
            same++;
        if (plain(values[i]))
            while (shifted < n && plain(values[shifted])
                   && values[shifted] - (gint64)ranks[shifted] == values[i] - (gint64)ranks[i])
                shifted++;
        RankPiece piece = {i, MAX(same, shifted) - 1, shifted > same,
                           shifted > same ? values[i] - (gint64)ranks[i] : values[i]};
        if (pieces->len == limit)
            return FALSE;
        g_array_append_val(pieces, piece);
        i = piece.last + 1;
    }
    return TRUE;
}

static Number constant_number(const Plan *plan, gint64 value)
{
    gboolean known = !word_is_special(value);
    return (Number){emit_literal(plan, value), known ? value == 0 : !word_is_const(value),
                    known && value < 0, FALSE};
}

static char *piece_text(const Plan *plan, RankPiece piece)
{
    if (!piece.relative)
        return emit_literal(plan, piece.value);
    if (piece.value == 0)
        return g_strdup("rank");
    return piece.value > 0 ? g_strdup_printf("rank + %" G_GINT64_FORMAT, piece.value)
                           : g_strdup_printf("rank - %" G_GINT64_FORMAT, -piece.value);
}

/* "rank < 1 ? MPI_PROC_NULL : rank - 1". KEY is "rank" or "rank % 4", BOUNDS are the keys. */
static Number conditional(const Plan *plan, const GArray *pieces, const char *key,
                          const guint *bounds)
{
    const RankPiece *only = &g_array_index(pieces, RankPiece, 0);
    if (pieces->len == 1 && !only->relative)
        return constant_number(plan, only->value);
    GString *s = g_string_new("");
    for (guint i = 0; i < pieces->len; i++) {
        RankPiece piece = g_array_index(pieces, RankPiece, i);
        g_autofree char *text = piece_text(plan, piece);
        if (i + 1 == pieces->len) {
            g_string_append(s, text);
            break;
        }
        guint next = bounds[g_array_index(pieces, RankPiece, i + 1).first];
        if (piece.first == piece.last)
            g_string_append_printf(s, "%s == %u ? %s : ", key, bounds[piece.first], text);
        else
            g_string_append_printf(s, "%s < %u ? %s : ", key, next, text);
    }
    return (Number){g_string_free(s, FALSE), FALSE, FALSE, pieces->len > 1};
}

static const Number no_number = {NULL, FALSE, FALSE, FALSE};

/* The value as a function of the column rank % m: for each column a constant or a shift. */
static Number by_column(const Plan *plan, RankList ranks, const gint64 *values, GArray *pieces,
                        guint m)
{
    /* The first rank of each residue. The others must agree with it, all as constants or all as
     * shifts. */
    g_autofree gint64 *first = g_new(gint64, m);
    g_autofree guint *keys = g_new(guint, m), *at = g_new(guint, m);
    g_autofree char *constant = g_malloc(m), *shift = g_malloc(m);
    memset(at, 0xff, m * sizeof *at);
    memset(constant, 1, m);
    memset(shift, 1, m);
    for (guint i = 0; i < ranks.n; i++) {
        guint q = ranks.ranks[i] % m;
        if (at[q] == G_MAXUINT) {
            at[q] = i;
            shift[q] = plain(values[i]);
            continue;
        }
        constant[q] &= values[i] == values[at[q]];
        shift[q] &=
            plain(values[i])
            && values[i] - (gint64)ranks.ranks[i] == values[at[q]] - (gint64)ranks.ranks[at[q]];
        if (!constant[q] && !shift[q])
            return no_number;
    }
    g_array_set_size(pieces, 0);
    guint n = 0;
    for (guint q = 0; q < m; q++) {
        if (at[q] == G_MAXUINT)
            continue;
        keys[n] = q;
        first[n] = values[at[q]];
        RankPiece piece = {n, n, !constant[q],
                           constant[q] ? first[n] : first[n] - (gint64)ranks.ranks[at[q]]};
        RankPiece *last = pieces->len ? &g_array_index(pieces, RankPiece, pieces->len - 1) : NULL;
        if (last && last->relative == piece.relative && last->value == piece.value)
            last->last = n;
        else
            g_array_append_val(pieces, piece);
        n++;
    }
    if (pieces->len > PIECES)
        return no_number;
    g_autofree char *key = g_strdup_printf("rank %% %u", m);
    return conditional(plan, pieces, key, keys);
}

static gboolean goes_on(RankList ranks, const gint64 *values, guint i)
{
    return values[i] == values[i - 1]
           || (plain(values[i]) && plain(values[i - 1])
               && values[i] - values[i - 1] == (gint64)ranks.ranks[i] - (gint64)ranks.ranks[i - 1]);
}

/* Tries the columns of grids of any width. Small widths are tried one by one. Larger widths are the
 * distances between ranks where one form ends and another begins. */
static Number by_residue(const Plan *plan, RankList ranks, const gint64 *values, GArray *pieces)
{
    enum { ONE_BY_ONE = 128 };
    Number number = no_number;
    for (guint m = 2; m <= ONE_BY_ONE && m <= ranks.n / 2 && !number.text; m++)
        number = by_column(plan, ranks, values, pieces, m);
    guint first = 0, ends = 0;
    for (guint i = 1; i < ranks.n && ends <= 2 * PIECES && !number.text; i++) {
        if (goes_on(ranks, values, i))
            continue;
        guint m = ranks.ranks[i] - first;
        if (ends++ == 0)
            first = ranks.ranks[i];
        else if (m > ONE_BY_ONE && m <= ranks.ranks[ranks.n - 1] / 2)
            number = by_column(plan, ranks, values, pieces, m);
    }
    return number;
}

typedef struct {
    GString *text;
    gboolean negative; /* it begins with a minus sign */
} DigitSum;

/* Adds FACTOR times TERM to a sum. DIVIDED: the term is a quotient or a remainder, which needs
 * parentheses behind a factor. */
static void add_term(DigitSum *sum, gint64 factor, const char *term, gboolean divided)
{
    GString *s = sum->text;
    if (factor == 0 && (*term || s->len))
        return;
    gint64 size = factor < 0 ? -factor : factor;
    if (!s->len)
        sum->negative = factor < 0;
    g_string_append(s, s->len ? (factor < 0 ? " - " : " + ") : factor < 0 ? "-" : "");
    if (*term && size == 1)
        g_string_append(s, term);
    else if (*term)
        g_string_append_printf(
            s, divided ? "%" G_GINT64_FORMAT " * (%s)" : "%" G_GINT64_FORMAT " * %s", size, term);
    else
        g_string_append_printf(s, "%" G_GINT64_FORMAT, size);
}

/* N values as a sum over the digits of X, the index of the value, in some base: row and column of a
 * grid, the halves that a butterfly exchanges, the divisions of a tree. Within each stretch of
 * WIDTH values the steps are equal, and the first values of the stretches are such a sum again.
 * Returns FALSE if the values have no such form, or exceed an int. */
static gboolean by_digits(DigitSum *s, const gint64 *values, guint n, const char *x, guint depth)
{
    enum { DIGITS = 4 };
    gint64 step = n > 1 ? values[1] - values[0] : 0;
    guint first = 1, second;
    while (first < n && values[first] - values[first - 1] == step)
        first++;
    if (first == n) {
        add_term(s, step, x, depth > 0);
        add_term(s, values[0], "", FALSE);
        return TRUE;
    }
    /* the first stretch may begin before the first value; the next one is whole */
    step = first + 1 < n ? values[first + 1] - values[first] : 0;
    for (second = first + 1; second < n && values[second] - values[second - 1] == step;)
        second++;
    guint width = second - first, phase = (width - first % width) % width,
          rows = (n + phase + width - 1) / width;
    if (depth == DIGITS || width < 2 || rows > n / 2 + 1)
        return FALSE;
    g_autofree gint64 *row = g_new(gint64, rows);
    for (guint q = 0; q < rows; q++)
        row[q] = q * width >= phase ? values[q * width - phase] : values[0] - step * (gint64)phase;
    for (guint i = 0; i < n; i++)
        if (values[i] != row[(i + phase) / width] + step * (gint64)((i + phase) % width))
            return FALSE;
    g_autofree char *number = phase ? g_strdup_printf("(%s + %u)", x, phase) : g_strdup(x),
                    *of_row = g_strdup_printf("%s / %u", number, width),
                    *of_column = g_strdup_printf("%s %% %u", number, width);
    if (!by_digits(s, row, rows, of_row, depth + 1))
        return FALSE;
    add_term(s, step, of_column, TRUE);
    return TRUE;
}

static Number by_digits_of_rank(RankList ranks, const gint64 *values)
{
    guint low = ranks.ranks[0];
    if (ranks.n < 3 || ranks.ranks[ranks.n - 1] - low + 1 != ranks.n)
        return no_number;
    for (guint i = 0; i < ranks.n; i++)
        /* so that each partial sum of a few terms is an int */
        if (!plain(values[i]) || values[i] > G_MAXINT32 / 8 || values[i] < G_MININT32 / 8)
            return no_number;
    g_autofree char *x = low ? g_strdup_printf("(rank - %u)", low) : g_strdup("rank");
    DigitSum sum = {g_string_new(""), FALSE};
    gboolean good = by_digits(&sum, values, ranks.n, x, 0);
    return (Number){g_string_free(sum.text, !good), FALSE, sum.negative, FALSE};
}

/* The same between ends of one value each: the root of a tree has no parent, and its leaves have no
 * children. */
static Number by_digits_between_ends(const Plan *plan, RankList ranks, const gint64 *values)
{
    guint n = ranks.n, begin = 1, end = n - 1;
    while (begin < n && values[begin] == values[0])
        begin++;
    while (end > 0 && values[end - 1] == values[n - 1])
        end--;
    const guint stretches[][2] = {{0, n}, {begin, n}, {0, end}, {begin, end}};
    for (guint i = 0; i < G_N_ELEMENTS(stretches); i++) {
        guint from = stretches[i][0], to = stretches[i][1];
        Number between =
            from < to ? by_digits_of_rank((RankList){to - from, ranks.ranks + from}, values + from)
                      : no_number;
        if (!between.text)
            continue;
        if (from == 0 && to == n)
            return between;
        g_autofree char *first = emit_literal(plan, values[0]),
                        *last = emit_literal(plan, values[n - 1]), *middle = between.text;
        GString *s = g_string_new("");
        if (from > 0)
            g_string_append_printf(s, "rank < %u ? %s : ", ranks.ranks[from], first);
        if (to < n)
            g_string_append_printf(s, "rank > %u ? %s : ", ranks.ranks[to - 1], last);
        g_string_append(s, middle);
        return (Number){g_string_free(s, FALSE), FALSE, FALSE, TRUE};
    }
    return no_number;
}

/* Partners in a butterfly, in parentheses, because a comparison binds more strongly. NULL if they
 * are none, or form a single pair. */
static char *by_bits(RankList ranks, const gint64 *values)
{
    gint64 bits = values[0] ^ (gint64)ranks.ranks[0];
    /* with a bit that no rank has, the values are not ranks */
    if (ranks.n < 3 || bits <= 0
        || g_bit_storage((gulong)bits) > g_bit_storage(ranks.ranks[ranks.n - 1]))
        return NULL;
    for (guint i = 0; i < ranks.n; i++)
        if (values[i] < 0 || (values[i] ^ (gint64)ranks.ranks[i]) != bits)
            return NULL;
    return g_strdup_printf("(rank ^ %" G_GINT64_FORMAT ")", bits);
}

static Number number_by_rank(Emitter *e, RankList ranks, const gint64 *values, const char *ctype,
                             const char *name)
{
    g_autoptr(GArray) pieces = g_array_new(FALSE, FALSE, sizeof(RankPiece));
    if (ranks.n == 0)
        return constant_number(e->plan, 0);
    Number number = {by_bits(ranks, values), FALSE, FALSE, FALSE};
    if (number.text)
        return number;
    if (split_pieces(ranks.n, ranks.ranks, values, PIECES, pieces))
        return conditional(e->plan, pieces, "rank", ranks.ranks);
    number = by_residue(e->plan, ranks, values, pieces);
    if (!number.text)
        number = by_digits_between_ends(e->plan, ranks, values);
    if (number.text)
        return number;
    guint low = ranks.ranks[0], n = ranks.ranks[ranks.n - 1] - low + 1;
    g_autoptr(GString) contents = g_string_new("");
    for (guint r = 0, i = 0; r < n; r++) {
        gboolean here = i < ranks.n && ranks.ranks[i] == low + r;
        g_autofree char *text = here ? emit_literal(e->plan, values[i]) : g_strdup("0");
        g_string_append_printf(contents, "%s%s", r ? ", " : "", text);
        i += here;
    }
    g_autofree char *dimensions = g_strdup_printf("[%u]", n),
                    *table = emit_literal_table(e, ctype, name, dimensions, contents->str);
    number.text = low == 0 ? g_strdup_printf("%s[rank]", table)
                           : g_strdup_printf("%s[rank - %u]", table, low);
    return number;
}

char *expression_by_rank(Emitter *e, RankList ranks, const gint64 *values, const char *ctype,
                         const char *name)
{
    return number_by_rank(e, ranks, values, ctype, name).text;
}

/* Takes the text of NUMBER. */
static char *as_operand(Number number)
{
    g_autofree char *text = number.text;
    return number.conditional ? g_strdup_printf("(%s)", text) : g_steal_pointer(&text);
}

char *expression_operand_by_rank(Emitter *e, RankList ranks, const gint64 *values,
                                 const char *ctype, const char *name)
{
    return as_operand(number_by_rank(e, ranks, values, ctype, name));
}

/* The caller's rank in the call's communicator. NULL if only a table would work. */
static char *self_expression(Emitter *e, const CallPattern *c)
{
    const Arg *comm = call_pattern_arg_of_kind(c, WEND_KIND_COMM);
    if (!comm || !comm->has_in)
        return NULL;
    g_autofree char *handle = expression_handle(e, WEND_KIND_COMM, comm->in[0].value);
    e->needs[HELPER_rank_in] = TRUE;
    return g_strdup_printf("rank_in(%s)", handle);
}

/* Replaces numbers that are not significant by those of neighbours in the list. */
static void fill_absent(gint64 *values, guint n)
{
    guint first = 0;
    while (first < n && values[first] == WEND_ABSENT)
        first++;
    for (guint i = 0; i < n && first < n; i++)
        if (values[i] == WEND_ABSENT)
            values[i] = i < first ? values[first] : values[i - 1];
}

/* The caller's rank in the call's communicator, for a slot of the form WEND_SLOT_SELF. NULL if
 * VALUES are simpler. */
static char *self_number(Emitter *e, const CallPattern *c, Word w, RankList ranks,
                         const gint64 *values)
{
    const WendSlot *slot = &c->slots->slots[w.slot];
    if (slot->form != WEND_SLOT_SELF || w.value != 0 || !(c->function->flags & WEND_F_SELF))
        return NULL;
    g_autoptr(GArray) pieces = g_array_new(FALSE, FALSE, sizeof(RankPiece));
    if (split_pieces(ranks.n, ranks.ranks, values, 2, pieces))
        return NULL;
    g_autofree char *self = self_expression(e, c);
    if (!self || slot->value == 0)
        return g_steal_pointer(&self);
    return g_strdup_printf("%s %c %" G_GINT64_FORMAT, self, slot->value > 0 ? '+' : '-',
                           ABS(slot->value));
}

static Number number_of_word(Emitter *e, const CallPattern *c, Word w)
{
    gint64 constant;
    Number number = no_number;
    if (call_pattern_word_is_constant(c, w, &constant)) {
        if (e->columns && w.by_slot && plain(constant))
            number.text = column_of_number(e, constant);
        return number.text ? number : constant_number(e->plan, constant);
    }
    RankList ranks = e->plan->terminal_ranks[c->terminal];
    g_autofree gint64 *values = g_new(gint64, MAX(ranks.n, 1));
    for (guint i = 0; i < ranks.n; i++)
        values[i] = call_pattern_value(c, w, ranks.ranks[i]);
    fill_absent(values, ranks.n);
    gboolean in_row = e->columns && e->columns->by_rank && ranks.n > 0;
    /* A value that is equal in all rows must not depend on values that differ: a communicator would
     * be one more number of the row. */
    number.text = in_row ? column_of_ranks(e, ranks, values) : self_number(e, c, w, ranks, values);
    if (number.text)
        return number;
    /* A table is named after the parameter of its word. */
    const Arg *arg = call_pattern_arg_of_slot(c, w.slot);
    const char *name = !arg                                ? "value"
                       : arg->param->kind == WEND_KIND_BUF ? "offset"
                                                           : arg->param->name,
               *ctype = "int";
    for (guint i = 0; i < ranks.n; i++)
        if (!word_is_special(values[i]) && (values[i] > G_MAXINT32 || values[i] < G_MININT32))
            ctype = "long";
    return number_by_rank(e, ranks, values, ctype, name);
}

char *expression_number(Emitter *e, const CallPattern *c, Word w)
{
    return number_of_word(e, c, w).text;
}

/* -- handles, pointers -- */

char *expression_handle(Emitter *e, WendKind kind, gint64 word)
{
    if (word_is_handle(word))
        return variable_name_of_handle(e, kind, word);
    if (word_is_const(word)) {
        const char *name = program_constant_name(e->plan->program, word);
        if (name)
            return c_token_identifier(name);
    }
    /* These arguments are not significant, but some libraries check that they are valid and
     * match. */
    if (word == WEND_ABSENT && kind == WEND_KIND_DATATYPE)
        return g_strdup("MPI_BYTE");
    if (word == WEND_ABSENT && kind == WEND_KIND_OP)
        return g_strdup("MPI_BOR");
    return g_strdup(
        variable_name_handle_null(kind)); /* absent, or a handle whose creation Wend has not seen */
}

char *expression_invalid(Emitter *e, WendKind kind)
{
    const HandleVariable *variable = variable_name_handle_kind(kind);
    if (variable->in_f2c)
        return g_strdup_printf("PMPI_%s_f2c(-1)", variable->in_f2c);
    if (kind == WEND_KIND_KEYVAL)
        /* in some libraries 0 and negative numbers are keys */
        return g_strdup_printf("%d", G_MAXINT32);
    if (kind == WEND_KIND_FILE) {
        e->needs[HELPER_no_file] = TRUE;
        return g_strdup("no_file()");
    }
    return g_strdup(variable->null); /* handles of MPI_T: libraries dereference them */
}

char *expression_handle_of(Emitter *e, const CallPattern *c, WendKind kind, gint64 word)
{
    if (word == WEND_UNKNOWN && c->failed)
        return expression_invalid(e, kind);
    return expression_handle(e, kind, word);
}

char *expression_segment(Emitter *e, gint64 segment)
{
    gint64 id = segment_kind(segment) == WEND_SEGMENT_STACK
                    ? word_segment_id(segment)
                    : memory_use_segment_place(e->plan, segment);
    gboolean named =
        segment_kind(segment) == WEND_SEGMENT_STACK || segment_kind(segment) == WEND_SEGMENT_STATIC;
    g_autofree char *index = named ? NULL : column_index(e, id);
    switch (segment_kind(segment)) {
    case WEND_SEGMENT_HEAP:
        e->needs[HELPER_heap] = TRUE;
        return g_strdup_printf("heap(%s)", index);
    case WEND_SEGMENT_STACK:
        return id == 0 ? g_strdup("stack")
                       : g_strdup_printf("stack_of_thread_%" G_GINT64_FORMAT, id);
    case WEND_SEGMENT_STATIC:
        return g_strdup_printf("static_%" G_GINT64_FORMAT, id);
    case WEND_SEGMENT_MPI:
        return g_strdup_printf("mpi_memory[%s]", index);
    case WEND_SEGMENT_WIN:
        return g_strdup_printf("window_memory[%s]", index);
    default:
        e->needs[HELPER_mapped] = TRUE;
        return g_strdup_printf("mapped(%s)", index);
    }
}

/* *COMPOUND: the pointer is a sum, or a cast. */
static char *pointer(Emitter *e, const CallPattern *c, const Word *words, gboolean *compound)
{
    gint64 segment = words[0].value;
    *compound = FALSE;
    if (word_is_const(segment))
        return emit_literal(e->plan, segment);
    if (segment == WEND_UNKNOWN) {
        e->needs[HELPER_unknown_buffer] = TRUE;
        return g_strdup("unknown_buffer");
    }
    if (segment == WEND_ABSENT) {
        /* not significant here, but libraries check that it is not NULL */
        e->needs[HELPER_unused] = TRUE;
        return g_strdup("unused");
    }
    if (segment != WEND_PLAIN && !word_is_segment(segment))
        return g_strdup("NULL");
    g_autofree char *base = segment == WEND_PLAIN ? NULL : expression_segment(e, segment);
    Number number = number_of_word(e, c, words[1]);
    g_autofree char *offset = number.text;
    *compound = !number.zero;
    if (number.zero)
        return base ? g_steal_pointer(&base) : g_strdup("NULL");
    if (!base) /* a small number as a pointer, or an attribute */
        return g_strdup_printf("(void *)(intptr_t)(%s)", offset);
    if (number.negative)
        return g_strdup_printf("%s - %s", base, offset + 1);
    return g_strdup_printf(number.conditional ? "%s + (%s)" : "%s + %s", base, offset);
}

char *expression_pointer(Emitter *e, const CallPattern *c, const Word *words)
{
    gboolean compound;
    return pointer(e, c, words, &compound);
}

char *expression_beginning(Emitter *e, const CallPattern *c, const char *pointer, Word offset)
{
    Number number = number_of_word(e, c, offset);
    g_autofree char *text = number.text;
    return number.zero ? g_strdup(pointer) : g_strdup_printf("(char *)%s - (%s)", pointer, text);
}

/* Memory that another process has attached to a dynamic window. */
static char *expression_remote(Emitter *e, const CallPattern *c, const Word *words)
{
    RankList ranks = e->plan->terminal_ranks[c->terminal];
    g_autofree gint64 *process = g_new(gint64, MAX(ranks.n, 1)),
                      *offset = g_new(gint64, MAX(ranks.n, 1));
    for (guint i = 0; i < ranks.n; i++) {
        gint64 value = call_pattern_value(c, words[1], ranks.ranks[i]);
        process[i] = MIN(word_remote_rank(value), e->plan->n_ranks - 1);
        offset[i] = word_remote_offset(value);
    }
    e->needs[HELPER_places_begin] = e->needs[HELPER_place] = TRUE;
    g_autofree char *who = expression_by_rank(e, ranks, process, "int", "process"),
                    *where = expression_by_rank(e, ranks, offset, "long", "offset");
    return g_strdup_printf("place(%s, %u, %s)", who,
                           dynamic_block(e->plan, word_segment_id(words[0].value)), where);
}

char *expression_target(Emitter *e, const CallPattern *c, const Arg *arg)
{
    RankList ranks = e->plan->terminal_ranks[c->terminal];
    g_autofree gint64 *blocks = g_new(gint64, MAX(ranks.n, 1));
    gboolean numbers = TRUE;
    for (guint i = 0; i < ranks.n; i++) {
        gint64 segment = call_pattern_value(c, arg->in[0], ranks.ranks[i]);
        blocks[i] = segment == WEND_PLAIN ? -1 : (gint64)dynamic_block(e->plan, segment);
        numbers &= segment == WEND_PLAIN;
    }
    if (numbers)
        return expression_number(e, c, arg->in[1]);
    const Arg *win = call_pattern_arg_of_kind(c, WEND_KIND_WIN),
              *target = call_pattern_arg_named(c, "target_rank");
    e->needs[HELPER_places_begin] = e->needs[HELPER_place_in] = TRUE;
    g_autofree char *window = expression_handle(e, WEND_KIND_WIN, win->in[0].value),
                    *rank = expression_number(e, c, target->in[0]),
                    *block = expression_by_rank(e, ranks, blocks, "int", "block"),
                    *offset = expression_number(e, c, arg->in[1]);
    return g_strdup_printf("place_in(%s, %s, %s, %s)", window, rank, block, offset);
}

char *expression_address(Emitter *e, const CallPattern *c, const Word *words, const char *ctype)
{
    if (words[0].value == WEND_PLAIN)
        return expression_number(e, c, words[1]);
    if (word_is_segment(words[0].value) && segment_kind(words[0].value) == WEND_SEGMENT_REMOTE)
        return expression_remote(e, c, words);
    gboolean compound;
    g_autofree char *to_convert = pointer(e, c, words, &compound);
    char *address = g_strdup_printf(compound ? "(%s)(%s)" : "(%s)%s", ctype, to_convert);
    if (!word_is_segment(words[2].value))
        return address;
    const Word from[4] = {words[2], words[3], {.value = WEND_PLAIN}, {.value = 0}};
    g_autofree char *to = address, *origin = expression_address(e, c, from, ctype);
    return g_strdup_printf("%s - %s", to, origin);
}

char *expression_bits(Emitter *e, const char *group, gint64 word)
{
    if (word < 0 || !group)
        return emit_literal(e->plan, word);
    GString *s = g_string_new("");
    const WendConstantGroup *bits = constant_group_by_name(group);
    for (guint bit = 0; bits && bit < bits->n && bit < 63; bit++)
        if (word & ((gint64)1 << bit)) {
            g_string_append_printf(s, "%s%s", s->len ? " | " : "",
                                   mpi_constants[bits->members[bit]]);
            word &= ~((gint64)1 << bit);
        }
    if (word || s->len == 0)
        g_string_append_printf(s, "%s%" G_GINT64_FORMAT, s->len ? " | " : "", word);
    return g_string_free(s, FALSE);
}
