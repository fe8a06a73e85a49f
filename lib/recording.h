/* recording.h: the whole of a merged recording as it goes to the archive: terminals and rules shared by all classes. */
#ifndef WEND_RECORDING_H
#define WEND_RECORDING_H

#include "class.h"

typedef struct { guint32 shape; guint n_slots; Vector *slots; } Signature;
typedef struct { guint n; WendSymbol *symbols; } Rule;

/* How the numbers of one table became the recording's. */
typedef struct { guint32 *shapes, *terminals; } TableMap;

/* A grammar as it is in a part: rule 0 is the start. */
typedef struct { guint n_rules; Rule *rules; } RuleRow;

typedef struct {
    const Sequence *sequence;
    guint32 rule;               /* M */
    TableMap main;
    TableMap *polls;            /* by sequence->poll_tables */
} RecordedSequence;

typedef struct {
    const Class *class;
    RecordedSequence *sequences;
} RecordedClass;

typedef struct {
    const WendMerge *merge;
    GArray *shapes;             /* ShapeRow */
    GArray *signatures;         /* Signature: the terminals */
    GArray *rules;              /* Rule; a rule uses only rules before it */
    GArray *classes;            /* RecordedClass, by lowest rank */
} Recording;

Recording *recording_unify(WendMerge *m, GError **error);
void recording_free(Recording *r);
gboolean recording_write(const Recording *r, const char *dir, const char *file, WendMergeResult *result, GError **error);

/* Reads a grammar as wend_grammar_encode wrote it; terminals must be below n_terminals. FALSE: damaged. Rules may use each other in any order, but not in circles. */
gboolean rules_read(RuleRow *row, WendCursor *c, guint32 n_terminals);
void rules_clear(RuleRow *row);
/* The rules of ROW, each after all those that it uses; g_free. Only those that the start rule needs; NULL: a rule uses itself. */
guint32 *rules_bottom_up(const RuleRow *row, guint *n);
/* Terminals in an expansion of the start rule; FALSE if they are more than 2^62. */
gboolean rules_length(const RuleRow *row, guint64 *length);

#endif
