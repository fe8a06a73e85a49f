/* SPDX-License-Identifier: BSD-3-Clause */
/* functions.h: the table of MPI functions, generated from spec/mpi.spec (the same in every
 * build). */
#ifndef WEND_FUNCTIONS_H
#define WEND_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/record/functions.gen.h"

/* Kinds of parameters: WEND_KIND_COMM and so on. spec/mpispec.py describes them, docs/recording.md
 * has the words of each. */
typedef enum {
#define X(kind, public) WEND_KIND_##kind,
    WEND_KIND_TABLE(X)
#undef X
        WEND_KINDS
} WendKind;

/* RETURN: the function's value, an out */
typedef enum { WEND_DIR_IN, WEND_DIR_OUT, WEND_DIR_INOUT, WEND_DIR_RETURN } WendDir;
/* Where the words of a parameter's elements go. Lengths and segments go where docs/recording.md
 * says. */
typedef enum { WEND_PLACE_SHAPE, WEND_PLACE_SLOT, WEND_PLACE_OUTCOME } WendPlace;

typedef struct {
    const char *name; /* as in the standard */
    WendKind kind;
    WendDir dir;
    WendPlace place;
    bool array;
    /* of the parameter, or of an element if array: "int", "MPI_Count", "void *"; for the
     * compiler */
    const char *ctype;
    const char *group; /* constants that a value may be: "ranks", "threads"; NULL none */
    /* For buf: the parameters that say how much memory the call touches, -1 none: index of count
     * (or counts), datatype(s), displacements. */
    int16_t count, type, displs;
    uint8_t extent;     /* how they combine: WEND_EXTENT_… */
    const char *length; /* of an array: the spec's length rule, for people; NULL for a scalar */
    /* For status and a request that is made: what the words of its status are relative to; -1 none.
     * source: the parameter with the source (of MPI_Mrecv and MPI_Imrecv: the message, which knows
     * source and tag; tag is -1), tag; count and type: the posted size, and if displs is not -1 it
     * is the number of partitions that the size is a multiple of. All -1 in a send, a collective, a
     * wait. */
    int16_t source, tag;
    bool frees; /* the handle, request or memory is gone after success; no part of the digest */
} WendParam;

/* How much memory a buffer argument needs, in the terms of the standard. "size" is that of the
 * communicator (remote if inter). A count of -1 is one element. */
enum WendExtent {
    WEND_EXTENT_NONE,       /* an address only */
    WEND_EXTENT_COUNT,      /* count elements of type */
    WEND_EXTENT_COUNT_SIZE, /* count elements for each member: gather's receive buffer, alltoall */
    WEND_EXTENT_VECTOR,     /* counts[i] elements at displs[i] extents (v collectives) */
    /* counts[i] elements of types[i] at displs[i] bytes (w collectives) */
    WEND_EXTENT_VECTOR_BYTES,
    WEND_EXTENT_COUNTS_SUM, /* sum of counts[] elements (reduce_scatter) */
    /* count elements for each in (out) neighbour */
    WEND_EXTENT_NEIGHBORS_IN,
    WEND_EXTENT_NEIGHBORS_OUT,
    /* count bytes (windows, pack buffers, MPI_Alloc_mem, attached buffers) */
    WEND_EXTENT_BYTES,
    /* count elements for each of as many partitions as the parameter displs says */
    WEND_EXTENT_PARTITIONS,
    /* count elements for each member of the caller's own group (reduce_scatter_block on an
     * intercommunicator) */
    WEND_EXTENT_COUNT_OWN_SIZE
};

/* Properties of a function. */
enum {
    WEND_F_SELF = 1 << 0,      /* has the hidden parameter self, which is params[0] */
    WEND_F_POLL = 1 << 1,      /* may find nothing: Test*, Iprobe, … */
    WEND_F_COMPLETES = 1 << 2, /* completes requests: Wait*, Test*, (not Request_free) */
    WEND_F_ANY = 1 << 3,       /* completes some of a set: Waitany, Waitsome, Testany, Testsome */
    WEND_F_CREATES_COMM = 1 << 4,
    /* takes a message from a source: Recv, Irecv, Recv_init, Sendrecv, Mprobe, Probe … */
    WEND_F_RECV = 1 << 5,
    WEND_F_SEND = 1 << 6,
    WEND_F_COLLECTIVE = 1 << 7,
    WEND_F_PSEUDO = 1 << 8, /* wend_free, wend_return */
    WEND_F_LARGE = 1 << 9,  /* a _c variant */
    WEND_F_QUERY = 1 << 10, /* local, changes nothing: MPI_Comm_rank, MPI_Wtime, MPI_Get_count */
    WEND_F_PERSISTENT = 1 << 11, /* makes a persistent request */
    /* These are no part of the digest. */
    WEND_F_MATCHED = 1 << 16, /* Mprobe, Improbe; Mrecv, Imrecv */
    /* changes datatypes, infos, statuses and memory of the process alone, and waits for nobody */
    WEND_F_LOCAL = 1 << 17,
    /* is recorded even while recording is off: it makes, ends or changes an object */
    WEND_F_KEPT = 1 << 18,
    WEND_F_NEIGHBORS = 1 << 19, /* communicates with the neighbours in a topology */
    WEND_F_BEGINS = 1 << 20,    /* the first half of a split collective */
    WEND_F_ENDS = 1 << 21,      /* the second half */
    WEND_F_LIFETIME = 1 << 22,  /* MPI starts or ends in it */
    WEND_F_REFERS = 1 << 23     /* returns references to objects that exist already */
};

typedef enum {
    WEND_MODE_NONE, /* no send */
    WEND_MODE_STANDARD,
    WEND_MODE_BUFFERED,
    WEND_MODE_SYNCHRONOUS,
    WEND_MODE_READY
} WendSendMode;

/* When a call returns. */
typedef enum {
    WEND_BLOCKING,    /* when its operation is complete */
    WEND_NONBLOCKING, /* at once: it makes a request, or looks whether something has happened */
    WEND_PERSISTENT   /* at once: it makes a persistent request */
} WendProgress;

/* Who waits for whom in a collective call. Reduce: the root needs the data of all members. */
typedef enum {
    WEND_SYNC_NONE,      /* not collective, or not over a communicator that all members know */
    WEND_SYNC_LOOSE,     /* members may wait for each other */
    WEND_SYNC_ALL,       /* each member waits for all */
    WEND_SYNC_FROM_ROOT, /* all members wait for the root */
    WEND_SYNC_TO_ROOT    /* the root waits for all members */
} WendSync;

/* How a function makes a communicator. */
typedef enum {
    WEND_MAKES_NONE,           /* it makes none, or in another way */
    WEND_MAKES_DUP,            /* a copy, with its topology and attributes */
    WEND_MAKES_TOPOLOGY,       /* a copy with another topology, perhaps of fewer processes */
    WEND_MAKES_SPLIT,          /* one for each part of the members */
    WEND_MAKES_GROUP,          /* only members of the new one call it */
    WEND_MAKES_PAIR,           /* an intercommunicator of two communicators */
    WEND_MAKES_PAIR_OF_GROUPS, /* the same, of two groups */
    WEND_MAKES_MERGE,          /* one of the two groups of an intercommunicator */
    WEND_MAKES_SPAWN,          /* with processes that it starts */
    WEND_MAKES_CONNECT         /* with processes that meet it at a port */
} WendMakes;

typedef struct {
    const char *name; /* "MPI_Send" */
    uint32_t flags;
    uint16_t n_params; /* self and the return value included */
    const WendParam *params;
    uint32_t digest; /* of everything that the spec says about decoding its calls */
    uint16_t id;     /* WEND_FN_MPI_Send: its index in mpi_functions */
    /* Of MPI_Isend_c and MPI_Bsend_init WEND_FN_MPI_Send: the function that it is a variant of.
     * Its own id if it is no variant. */
    uint16_t operation;
    uint8_t mode;     /* WendSendMode */
    uint8_t progress; /* WendProgress */
    /* WendSync: who must wait, and who waits as a rule. In a call that has buffers and moves no
     * data nobody must wait (call_plan_sync). */
    uint8_t sync, usual_sync;
    uint8_t makes; /* WendMakes */
} WendFunction;

/* In the spec's order. The ids WEND_FN_… are the same in all builds of one version of Wend. */
extern const WendFunction mpi_functions[];
extern const size_t mpi_n_functions;
extern const char *const mpi_constants[]; /* names: "MPI_COMM_WORLD", "MPI_ANY_SOURCE" */
/* mpi_constant_groups[i]: first group of constant i */
extern const char *const mpi_constant_groups[];
extern const size_t mpi_n_constants;

/* A group's constants, as indices, in the spec's order (bit i of a parameter of kind bits is member
 * i of its group). A constant such as MPI_UNDEFINED is in several groups and has one index. Groups
 * of handles have the name of the kind: "comm", "datatype". */
typedef struct {
    const char *name;
    uint16_t n;
    const uint16_t *members;
} WendConstantGroup;
extern const WendConstantGroup mpi_groups[];
extern const size_t mpi_n_groups;
const WendConstantGroup *constant_group_by_name(const char *name); /* NULL: none */
int functions_constant_by_name(const char *name);                  /* index, -1: none */

/* An archive names functions but does not describe their parameters. So it has a digest of its
 * functions' descriptions: WEND_DIGEST_START, and each function added in its order. A reader with
 * another description of one of them cannot decode its calls. */
#define WEND_DIGEST_START UINT32_C(2166136261)
uint32_t function_digest_add(uint32_t digest, const WendFunction *f);

/* The function called NAME, or NULL. */
const WendFunction *function_by_name(const char *name);

/* Does a parameter have words that the caller gives? */
static inline bool param_has_in(const WendParam *p)
{
    return p->kind != WEND_KIND_SKIP && p->kind != WEND_KIND_STATUS
           && (p->dir == WEND_DIR_IN || p->dir == WEND_DIR_INOUT);
}

static inline bool kind_is_handle(WendKind kind)
{
    return kind >= WEND_KIND_COMM && kind <= WEND_KIND_EVENT;
}

/* Does a parameter have words that the call returns? */
static inline bool param_has_out(const WendParam *p)
{
    if (p->kind == WEND_KIND_SKIP || p->dir == WEND_DIR_IN)
        return false;
    if (p->dir != WEND_DIR_INOUT)
        return true;
    /* The caller fills an inout status (MPI_Status_set_elements): no call has returned it yet. */
    return !kind_is_handle(p->kind) && p->kind != WEND_KIND_REQUEST && p->kind != WEND_KIND_BUF
           && p->kind != WEND_KIND_STATUS;
}

/* Are the words that the call returns for a parameter part of its outcome? */
static inline bool param_is_outcome(const WendParam *p)
{
    if (!param_has_out(p))
        return false;
    switch (p->kind) {
    case WEND_KIND_STATUS:
    case WEND_KIND_STRING:
    case WEND_KIND_STRINGS:
    case WEND_KIND_STRINGS2:
    case WEND_KIND_ATTR:
        return true;
    case WEND_KIND_REQUEST:
    case WEND_KIND_BUF:
    case WEND_KIND_FUNC:
    case WEND_KIND_SEGMENT:
        return false;
    default:
        return p->place == WEND_PLACE_OUTCOME && !kind_is_handle(p->kind);
    }
}

/* Is an element of a parameter of this kind a number of the program's, of one word? */
static inline bool kind_is_number(WendKind kind)
{
    switch (kind) {
#define X(number) case WEND_KIND_##number:
        WEND_NUMBER_KINDS(X)
#undef X
        return true;
    default:
        return false;
    }
}

/* Is the word of an element in the slots? If not, it is in the shape. For parameters whose elements
 * have one word. */
static inline bool param_is_in_slots(const WendParam *p)
{
    switch (p->kind) {
    case WEND_KIND_SELF:
        return true;
    case WEND_KIND_LOGICAL:
    case WEND_KIND_ENUM:
    case WEND_KIND_BITS:
        return p->place == WEND_PLACE_SLOT;
    case WEND_KIND_FOUND:
        return p->place != WEND_PLACE_SHAPE;
    default:
        return kind_is_number(p->kind) && p->place != WEND_PLACE_SHAPE;
    }
}

/* Is a parameter of a call that makes a request an amount of data? Amounts do not distinguish
 * request pools (docs/recording.md, "Requests"). */
static inline bool param_is_amount(const WendFunction *f, const WendParam *p)
{
    return !(f->flags & WEND_F_PERSISTENT) && !p->array
           && (p->kind == WEND_KIND_COUNT || p->kind == WEND_KIND_OFFSET);
}

#endif
