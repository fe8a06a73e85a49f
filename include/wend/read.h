/* SPDX-License-Identifier: BSD-3-Clause */
/* wend/read.h: libwend-read, a C library that reads recordings of MPI programs (wend-read(3)).
 *
 * A recording is what `wend trace -o DIRECTORY` leaves. A reader, WendRead, opens it once; all else
 * is asked of the reader:
 *
 *     WendRead *r = wend_read_new();
 *     if (wend_read_open(r, "trace.dir") < 0)
 *         errx(1, "%s", wend_read_message(r));
 *     ...
 *     wend_read_free(r);
 *
 * Words. A *world* is the processes of one MPI_COMM_WORLD; an application that spawns processes has
 * several. A *rank*, unless a comment says otherwise, is a rank of the job: that in MPI_COMM_WORLD
 * plus the ranks of all worlds before. In a recording of one world it is the rank in
 * MPI_COMM_WORLD. A *sequence* is the calls of one thread, or of one callback, of one rank. A
 * *signature* is a call without what the run decided: two calls with equal arguments have the same
 * one. Ranks whose calls have equal shapes in the same order form a *class*.
 *
 * Results. A function that can fail returns WEND_READ_OK (0) or a negative WendReadResult. It then
 * leaves its results as they were, and wend_read_message gives one line that names the file and
 * says what to do. NULL as a reader, a call or a place for a result is a usage error. A recording
 * is checked when it is opened; a damaged one is refused there, never read halfway.
 *
 * Ownership. What a function gives as `const TYPE *` belongs to the reader and stays valid until
 * wend_read_free or another wend_read_open; calls and what is in them until the next call is asked
 * for. Structures that the library gives may get more members at their ends in later versions; do
 * not make or copy them by sizeof. Structures that the caller provides never change.
 *
 * Threads. Different readers may be used by different threads at the same time, also of the same
 * recording. One reader is for one thread at a time.
 *
 * Memory. A reader refuses recordings that would take more memory than wend_read_set_memory allows.
 * Where the system has no memory left at all, the library ends the process, as GLib does.
 */
#ifndef WEND_READ_H
#define WEND_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** \defgroup reader Readers and errors
 * @{
 */

/** What functions return. Commands of Wend exit with the same numbers, without the sign. */
typedef enum {
    WEND_READ_OK = 0,
    WEND_READ_ERROR_NONE = -1,  /**< the recording has no such thing */
    WEND_READ_ERROR_USAGE = -2, /**< an argument is out of range, or nothing is open */
    WEND_READ_ERROR_INPUT = -3, /**< no recording, or a damaged one, or of another version */
    WEND_READ_ERROR_SYSTEM = -4 /**< it cannot be read, or takes more memory than there is */
} WendReadResult;

/** Numbers that stand for no number. */
#define WEND_READ_UNKNOWN (INT64_MIN + 2) /**< the recording does not tell */
#define WEND_READ_ABSENT (INT64_MIN + 1)  /**< there is none: not significant at this rank */
#define WEND_READ_NO_INDEX UINT32_MAX     /**< no class, communicator, function or parameter */
#define WEND_READ_JOB UINT32_MAX          /**< in place of a world: all worlds of the job */

typedef struct WendRead WendRead;

/** The version of the library, as "MAJOR.MINOR.PATCH". Static. */
const char *wend_read_version(void);

/** A reader with nothing open, to be freed with wend_read_free. */
WendRead *wend_read_new(void);

/** Frees a reader with all that it gave. Free its WendReadCalls before. NULL: nothing happens. */
void wend_read_free(WendRead *r);

/** Limits the memory that the next recording may take while it is open, in bytes; 0, the default:
 * 1,024 times the size of its files, at least 1 GiB and at most 8 GiB or half of RLIMIT_AS.
 * A recording that wants more is refused with WEND_READ_ERROR_INPUT. */
int wend_read_set_memory(WendRead *r, uint64_t bytes);

/** Opens the recording at PATH: its directory (all worlds), or an archive in it (one world).
 * Closes what R had open. Takes time and memory by the size of the archive, not of the run. */
int wend_read_open(WendRead *r, const char *path);

/** The same for world number WORLD alone, from 0: ranks are then those of its MPI_COMM_WORLD. */
int wend_read_open_world(WendRead *r, const char *path, uint32_t world);

/** What went wrong in the last function of R that failed: one line without a newline, valid until
 * the next function of R that fails. "" if none did. */
const char *wend_read_message(const WendRead *r);

/** @} */

/** \defgroup facts Facts of the run, worlds, ranks, classes
 * @{
 */

/** Facts of a job or a world. Texts are NULL, and times negative, where they are not known. They
 * come from the application and its system: escape control characters before you print them. */
typedef struct {
    const char *program;      /**< the command, without arguments */
    const char *arguments;    /**< separated by blanks */
    const char *mpi_library;  /**< its name and version */
    const char *mpi_version;  /**< of the standard, "4.0" */
    const char *thread_level; /**< that MPI gave: "MPI_THREAD_MULTIPLE" */
    const char *hosts;        /**< "login;node[0-3,7]" */
    const char *job;          /**< what the batch system calls it */
    uint64_t n_hosts;         /**< 0: not known */
    int64_t start;            /**< seconds since the epoch */
    double elapsed;           /**< seconds from MPI_Init to MPI_Finalize */
    double clock_resolution;  /**< seconds; what is shorter cannot be told from 0 */
    bool complete;            /**< all ranks came to MPI_Finalize, and all calls are there */
    uint32_t n_worlds;        /**< 1 for a world */
    uint32_t n_ranks;
    /* Of the job, also in the facts of a world: */
    uint32_t n_classes, n_rules, n_signatures, n_shapes;
    uint64_t archive_bytes; /**< size of the files */
    uint64_t member_bytes;  /**< the same, uncompressed */
} WendReadFacts;

/** Facts of world WORLD, or of the whole job (WEND_READ_JOB: texts are those of world 0). */
int wend_read_facts(WendRead *r, uint32_t world, const WendReadFacts **facts);

/** Entry number INDEX, from 0, of the file of facts of WORLD (WEND_READ_JOB: of the job), group by
 * group: all that the recorder wrote down, also what WendReadFacts does not have (docs/format.md).
 * WEND_READ_ERROR_NONE: there are no more. A group without entries has one with KEY NULL. */
int wend_read_meta(WendRead *r, uint32_t world, uint32_t index, const char **group,
                   const char **key, const char **value);

/** One world. */
typedef struct {
    const char *name;    /**< tells who started it ("0.2": the second that rank 0 of the first
                               world started); "" the first */
    uint32_t first_rank; /**< its rank 0, as a rank of the job */
    uint32_t n_ranks;
} WendReadWorld;

/** Valid until the next wend_read_world. */
int wend_read_world(WendRead *r, uint32_t world, const WendReadWorld **w);

/** One process. */
typedef struct {
    uint32_t world;          /**< its number, and */
    uint32_t world_rank;     /**< its rank in the MPI_COMM_WORLD of that world */
    uint32_t class_index;    /**< WEND_READ_NO_INDEX: nothing was recorded of it */
    uint32_t n_sequences;    /**< threads that call MPI, by number, then callbacks */
    const char *termination; /**< how it ended; NULL: in MPI_Finalize */
} WendReadRank;

/** Valid until the next wend_read_rank. */
int wend_read_rank(WendRead *r, uint32_t rank, const WendReadRank **info);

/** The calls of one thread, or of one callback, of one rank. */
typedef struct {
    bool callback;    /**< the calls that a function of the user's made, which MPI called */
    int64_t id;       /**< number of the thread or function; < 0: a function of MPI's */
    uint32_t rule;    /**< the start rule of its grammar */
    uint64_t n_calls; /**< without unsuccessful polls, with the recorder's notes */
    uint64_t n_polls; /**< unsuccessful polls */
} WendReadSequence;

/** Sequence number INDEX of RANK, from 0. Valid until the next wend_read_sequence. */
int wend_read_sequence(WendRead *r, uint32_t rank, uint32_t index, const WendReadSequence **s);

/** Ranks whose calls have equal shapes in the same order, as often. */
typedef struct {
    uint32_t n_ranks;
    const uint32_t *ranks; /**< ascending */
    uint32_t n_sequences;
    uint64_t n_mpi_calls; /**< MPI calls of each of its ranks, without unsuccessful polls */
} WendReadClass;

/** Class number INDEX, from 0. Valid until the next wend_read_class. The first time takes time by
 * the size of the grammar. */
int wend_read_class(WendRead *r, uint32_t index, const WendReadClass **c);

/** @} */

/** \defgroup functions Functions and their parameters
 * @{
 */

/** What a parameter is. More kinds may follow. */
typedef enum {
    WEND_READ_KIND_OTHER, /**< not recorded */
    WEND_READ_KIND_SELF,  /**< no parameter in C: the caller's rank in the communicator */
    WEND_READ_KIND_COMMUNICATOR,
    WEND_READ_KIND_GROUP,
    WEND_READ_KIND_DATATYPE,
    WEND_READ_KIND_OP,
    WEND_READ_KIND_ERRHANDLER,
    WEND_READ_KIND_INFO,
    WEND_READ_KIND_FILE,
    WEND_READ_KIND_WINDOW,
    WEND_READ_KIND_MESSAGE,
    WEND_READ_KIND_SESSION,
    WEND_READ_KIND_KEYVAL,
    WEND_READ_KIND_REQUEST,
    WEND_READ_KIND_T_ENUM,
    WEND_READ_KIND_T_CVAR,
    WEND_READ_KIND_T_PVAR,
    WEND_READ_KIND_T_PVAR_SESSION,
    WEND_READ_KIND_T_EVENT_REGISTRATION,
    WEND_READ_KIND_T_EVENT,
    WEND_READ_KIND_FUNCTION, /**< a callback */
    WEND_READ_KIND_BUFFER,
    WEND_READ_KIND_ADDRESS, /**< an MPI_Aint: a number, an address or a distance */
    WEND_READ_KIND_COUNT,
    WEND_READ_KIND_INTEGER,
    WEND_READ_KIND_DISPLACEMENT,
    WEND_READ_KIND_OFFSET,
    WEND_READ_KIND_RANK,
    WEND_READ_KIND_TAG,
    WEND_READ_KIND_COLOR,
    WEND_READ_KIND_INDEX,
    WEND_READ_KIND_ERROR_CODE,
    WEND_READ_KIND_LOGICAL,
    WEND_READ_KIND_ENUMERATION,
    WEND_READ_KIND_BITS,
    WEND_READ_KIND_STRING,
    WEND_READ_KIND_ATTRIBUTE, /**< an attribute's value */
    WEND_READ_KIND_STATUS,
    WEND_READ_KIND_MEMORY,    /**< of the recorder's notes: a block of memory */
    WEND_READ_KIND_FILE_SIZE, /**< no parameter in C: bytes of a file before the call */
    WEND_READ_KIND_TARGET,    /**< displacement at the target of a one-sided operation */
    WEND_READ_KIND_NEIGHBOURS /**< no parameter in C: neighbours, in the library's order */
} WendReadKind;

typedef enum {
    WEND_READ_IN,
    WEND_READ_OUT,
    WEND_READ_INOUT,
    WEND_READ_RETURN /**< the function's value, where that is no error code */
} WendReadDirection;

typedef struct {
    const char *name; /**< as in the standard */
    WendReadKind kind;
    WendReadDirection direction;
    bool array;
    bool named; /**< an output that names what MPI made (a handle, memory), the
                                       same in each call of a signature; other outputs are what
                                       the run decided */
} WendReadParameter;

/** What holds of a function. */
enum {
    WEND_READ_SENDS = 1 << 0,    /**< hands a message to MPI, or makes a request that will */
    WEND_READ_RECEIVES = 1 << 1, /**< takes or looks for a message */
    WEND_READ_COLLECTIVE = 1 << 2,
    WEND_READ_COMPLETES = 1 << 3,  /**< completes requests: MPI_Wait, MPI_Testsome */
    WEND_READ_POLLS = 1 << 4,      /**< may find nothing: MPI_Test, MPI_Iprobe */
    WEND_READ_CHOOSES = 1 << 5,    /**< completes some of many: MPI_Waitany, MPI_Testsome */
    WEND_READ_PERSISTENT = 1 << 6, /**< makes a persistent request */
    WEND_READ_LOCAL = 1 << 7,      /**< asks for something and changes nothing: MPI_Comm_rank */
    WEND_READ_NOTE = 1 << 8        /**< no function of MPI's, but a note of the recorder's: memory
                                        was freed, a callback returned. "wend_free" */
};

typedef struct {
    const char *name;      /**< "MPI_Send" */
    uint32_t index;        /**< for wend_read_function; differs between versions of Wend */
    uint32_t flags;        /**< WEND_READ_SENDS and so on */
    uint32_t n_parameters; /**< as in the standard, with those that C does not have */
} WendReadFunction;

/** Function number INDEX of those that Wend knows, called or not, from 0.
 * WEND_READ_ERROR_NONE: there are no more. */
int wend_read_function(WendRead *r, uint32_t index, const WendReadFunction **f);

/** The function called NAME, in O(1). WEND_READ_ERROR_NONE: Wend knows none. */
int wend_read_function_named(WendRead *r, const char *name, const WendReadFunction **f);

/** Parameter number INDEX of F, from 0; NULL: it has fewer. Static. */
const WendReadParameter *wend_read_parameter(const WendReadFunction *f, uint32_t index);

/** The number of the parameter called NAME; WEND_READ_NO_INDEX: F has none. */
uint32_t wend_read_parameter_named(const WendReadFunction *f, const char *name);

/** @} */

/** \defgroup calls Calls
 * @{
 */

/** One call. */
typedef struct {
    const WendReadFunction *function;
    uint32_t rank, sequence;
    uint32_t signature;    /**< its number */
    uint64_t index;        /**< how many calls of the sequence were before, unsuccessful polls
                                   aside; 0 in wend_read_signature */
    uint64_t polls_before; /**< unsuccessful polls between the call before and this one */
    bool poll;             /**< it is an unsuccessful poll */
    bool failed;           /**< it returned an error, or did not return: there are no outputs */
    bool unfinished;       /**< it had not returned when the recording ended */
    bool repeats;          /**< all calls of this signature in this sequence have these arguments
                                   and outputs; return codes may differ */
    bool bare;             /**< of wend_read_signature: without what the run decided */
    int64_t return_code;   /**< error class, as the recorded MPI library numbers it; 0:
                                   MPI_SUCCESS. wend_read_error_name */
} WendReadCall;

typedef struct WendReadCalls WendReadCalls;

enum {
    WEND_READ_WITH_POLLS = 1 << 0,       /**< unsuccessful polls too, where they happened */
    WEND_READ_WITHOUT_TRANSFERS = 1 << 1 /**< handles are not followed, which is faster;
                                              wend_read_transfer gives what the call alone says */
};

/** Goes through the calls of a sequence in order, from the first. FLAGS: some of those above, or 0.
 * The caller frees *CALLS (wend_read_calls_free) before R. A reader can have several at a time. */
int wend_read_calls(WendRead *r, uint32_t rank, uint32_t sequence, unsigned flags,
                    WendReadCalls **calls);

/** Gives the next call, valid until CALLS gives the one after it or is freed. *CALL is NULL behind
 * the last one. Time does not depend on the length of the sequence. */
int wend_read_next(WendReadCalls *calls, const WendReadCall **call);

/** NULL: nothing happens. */
void wend_read_calls_free(WendReadCalls *calls);

/** The name of an error class, such as "MPI_ERR_TRUNCATE"; NULL: the recording has none. */
const char *wend_read_error_name(WendRead *r, int64_t return_code);

/** @} */

/** \defgroup values Arguments as typed values
 * @{
 */

typedef enum {
    WEND_READ_NOTHING,         /**< the argument has no such side, or nothing was there */
    WEND_READ_NOT_SIGNIFICANT, /**< MPI does not look at it at this rank */
    WEND_READ_NOT_KNOWN,       /**< the recorder could not tell */
    WEND_READ_NULL,            /**< a NULL pointer */
    WEND_READ_NUMBER,
    WEND_READ_LOGICAL,
    WEND_READ_CONSTANT, /**< MPI_ANY_SOURCE, MPI_INT, MPI_IN_PLACE, MPI_STATUS_IGNORE */
    WEND_READ_HANDLE,
    WEND_READ_PLACE,    /**< an address */
    WEND_READ_DISTANCE, /**< of two addresses */
    WEND_READ_STATUS,
    WEND_READ_STRING,
    WEND_READ_LIST /**< an array: wend_read_element */
} WendReadType;

/** An object that the application made. Its number is given anew once it was freed. */
typedef struct {
    WendReadKind kind;
    uint32_t thread;       /**< that made it, */
    uint32_t number;       /**< and the object's number among those of the rank and thread */
    uint32_t communicator; /**< communicators: the number for wend_read_communicator, the same on
                                 all its members; WEND_READ_NO_INDEX: not known, or another kind */
    int64_t facts[5];      /**< where the call has just made it, else WEND_READ_UNKNOWN. Datatypes:
                                 size, lower bound, extent, true lower bound, true extent, in bytes.
                                 Communicators: size, the caller's rank, the rank in MPI_COMM_WORLD
                                 of its rank 0, size of the remote group, and its rank 0 likewise;
                                 -1: none */
} WendReadHandle;

typedef enum {
    WEND_READ_HEAP,
    WEND_READ_STACK,
    WEND_READ_STATIC,
    WEND_READ_MPI_MEMORY,    /**< MPI_Alloc_mem */
    WEND_READ_WINDOW_MEMORY, /**< that MPI allocated for a window */
    WEND_READ_MAPPING,       /**< any other */
    WEND_READ_CUDA
} WendReadMemory;

/** A block of memory, and a place in it. */
typedef struct {
    WendReadMemory memory;
    uint32_t thread, number; /**< the thread that the block is named by, and its number there */
    int32_t remote;          /**< -1: the caller's; else of that rank of the caller's world */
    int64_t offset;          /**< bytes from the start of the block (stacks: from its upper end) */
} WendReadAddress;

typedef struct {
    int64_t source; /**< rank in the communicator */
    int64_t tag;
    int64_t bytes;           /**< that were received */
    const char *source_name; /**< NULL, or a constant: "MPI_ANY_SOURCE" in an empty status */
    const char *tag_name;
    int64_t error; /**< error class in the status; 0: none */
    bool cancelled;
} WendReadStatus;

/** PLACE: to; DISTANCE: to - from, in bytes. */
typedef struct {
    WendReadAddress to, from;
} WendReadPlace;

typedef struct {
    const char *bytes; /**< with a NUL behind; may have others in it */
    size_t length;     /**< bytes, without that NUL */
} WendReadString;

/** A value. The caller provides it; it is valid as long as the call that it is of. */
typedef struct {
    WendReadType type;
    union {
        int64_t number;       /**< NUMBER, LOGICAL (0 or 1) */
        const char *constant; /**< CONSTANT: its name */
        WendReadHandle handle;
        WendReadPlace place; /**< PLACE, DISTANCE */
        WendReadStatus status;
        WendReadString string;
        uint64_t length; /**< LIST: number of elements */
        int64_t reserved[10];
    };
    const void *internal[4];
} WendReadValue;

/** What the caller gave as parameter PARAMETER of CALL; of parameters with `named`, the object that
 * MPI made. Neighbours are lists: sources, destinations and, with weights, those of both. */
int wend_read_input(const WendReadCall *call, uint32_t parameter, WendReadValue *value);

/** What MPI gave: what the run decided. Statuses are as MPI gave them to the application, with all
 * ranks in communicators. */
int wend_read_output(const WendReadCall *call, uint32_t parameter, WendReadValue *value);

/** Element INDEX, from 0, of a LIST. ELEMENT may be a list again. */
int wend_read_element(const WendReadValue *list, uint64_t index, WendReadValue *element);

/** Size in bytes of a datatype, a handle or a constant, as it was at CALL.
 * WEND_READ_ERROR_NONE: it is not known. */
int wend_read_datatype_size(const WendReadCall *call, const WendReadValue *datatype,
                            int64_t *bytes);

/** The requests that CALL completed, as a LIST of handles. */
int wend_read_completed(const WendReadCall *call, WendReadValue *list);

typedef struct {
    bool active; /**< started and not completed */
    bool persistent;
    uint32_t signature; /**< of the call that made it; WEND_READ_NO_INDEX: not known */
} WendReadRequest;

/** What is known of a request at CALL, before the call completes it.
 * WEND_READ_ERROR_NONE: nothing. */
int wend_read_request(const WendReadCall *call, const WendReadValue *request,
                      WendReadRequest *state);

/** @} */

/** \defgroup transfers Who communicates with whom
 * @{
 */

/** What a call says to whom, with handles followed. Numbers are WEND_READ_ABSENT where the call has
 * no such thing, and WEND_READ_UNKNOWN where the recording does not tell. */
typedef struct {
    uint32_t communicator; /**< number of the communicator, also behind a request or a message;
                                WEND_READ_NO_INDEX: none, or not known */
    int64_t comm_size;     /**< processes in the caller's group of it */
    int64_t remote_size;   /**< processes in the remote group of an intercommunicator */
    int64_t peer;          /**< destination, source or root, as a rank in the communicator (of an
                                intercommunicator: in the remote group). Of a receive from any
                                source, and of a call that completes one request: who it was */
    int64_t peer_world;    /**< the same as a rank of the job; WEND_READ_UNKNOWN if it is a process
                                of another world. Of a call that completes several requests:
                                wend_read_completed_transfer */
    int64_t bytes;         /**< size of the call's send buffer, or of the receive buffer if that is
                                all it has: count x size of the datatype, for all counts. Of
                                MPI_Start and MPI_Startall: of all that they start */
} WendReadTransfer;

int wend_read_transfer(const WendReadCall *call, WendReadTransfer *transfer);

/** The same of request number INDEX, from 0, of those that CALL completed (wend_read_completed): of
 * a receive from any source who it was. `bytes` is WEND_READ_ABSENT: they are of the call that
 * posted or started the request. WEND_READ_ERROR_USAGE: CALL completed fewer requests.
 * WEND_READ_ERROR_NONE: nothing is known of the request, or CALLS do not follow handles. */
int wend_read_completed_transfer(const WendReadCall *call, uint32_t index,
                                 WendReadTransfer *transfer);

/** Numbers of communicators that are always there. */
#define WEND_READ_COMM_WORLD 0u         /**< MPI_COMM_WORLD, of the caller's world */
#define WEND_READ_COMM_SELF 0x7ffffffeu /**< MPI_COMM_SELF, of the caller */

/** A communicator. Its number is the same on all members, and is never given anew. */
typedef struct {
    uint32_t number;
    const char *function;   /**< that made it: "MPI_Comm_split"; NULL: MPI */
    uint32_t n_members;     /**< of the group; of an intercommunicator: of the first of both, by
                                  the rank in the job of their first members */
    const int64_t *members; /**< rank in the communicator -> rank of the job; WEND_READ_UNKNOWN */
    uint32_t n_remote;      /**< of the other group; 0: no intercommunicator */
    const int64_t *remote;
} WendReadCommunicator;

/** How many communicators there are: their numbers are 1 to *N, and WEND_READ_COMM_WORLD. The first
 * time takes time by the number of calls that make communicators. */
int wend_read_n_communicators(WendRead *r, uint32_t *n);

/** The communicator with that number (WEND_READ_COMM_WORLD: of world 0). Valid until the next
 * wend_read_communicator. A number that no member knows any more has no members. */
int wend_read_communicator(WendRead *r, uint32_t number, const WendReadCommunicator **c);

/** Who PEER is, a rank in communicator COMMUNICATOR as RANK, a rank of the job and a member, gives
 * it (intercommunicators: in the remote group). *WORLD_RANK is a rank of the job.
 * WEND_READ_ERROR_NONE: the recording does not tell, as of processes of another world. */
int wend_read_world_rank(WendRead *r, uint32_t rank, uint32_t communicator, int64_t peer,
                         int64_t *world_rank);

/** @} */

/** \defgroup grammar The grammar: loops without expansion
 *
 * The calls of a sequence are the expansion of its start rule. A rule is a row of symbols; a symbol
 * is a signature or a rule, and how often it repeats. So a symbol with more than one repetition is
 * a loop. Rules use only rules with smaller numbers.
 * @{
 */

typedef struct {
    uint32_t n_symbols;
    uint64_t length; /**< calls in one expansion */
} WendReadRule;

/** Valid until the next wend_read_rule. */
int wend_read_rule(WendRead *r, uint32_t rule, const WendReadRule **info);

typedef struct {
    bool is_rule;
    uint32_t number;  /**< of the rule, or of the signature */
    uint64_t repeats; /**< at least 1 */
} WendReadSymbol;

int wend_read_symbol(WendRead *r, uint32_t rule, uint32_t index, WendReadSymbol *symbol);

/** The call of a signature as RANK, which has to have it, makes it; without what the run decided.
 * Valid until the next wend_read_signature. */
int wend_read_signature(WendRead *r, uint32_t signature, uint32_t rank, const WendReadCall **call);

typedef struct {
    uint32_t signature;
    uint64_t calls; /**< of each rank of the class */
} WendReadCount;

/** How often each signature occurs in sequence SEQUENCE of class CLASS_INDEX, in no order, without
 * expansion. Valid until the next wend_read_counts. */
int wend_read_counts(WendRead *r, uint32_t class_index, uint32_t sequence,
                     const WendReadCount **counts, uint32_t *n);

/** Times of calls, in seconds. */
typedef struct {
    uint64_t count; /**< calls that were timed; 0: none, and the rest means nothing */
    double mean, min, max, deviation;
    double mean_error; /**< by which part of itself the mean may be off, */
    double rest_error; /**< and the extremes and the standard deviation */
} WendReadTiming;

/** Times of a signature on the ranks of a class: how long its calls took (DURATION), and the time
 * from the end of the call before to their begin (INTERVAL). Either may be NULL. A recording has no
 * times of single calls. */
int wend_read_timing(WendRead *r, uint32_t class_index, uint32_t sequence, uint32_t signature,
                     WendReadTiming *duration, WendReadTiming *interval);

/** @} */

/** \defgroup totals Totals and the communication matrix
 * @{
 */

/** Kinds of transfers, as bits in what takes several. */
enum {
    WEND_READ_POINT_TO_POINT = 1 << 0, /**< each send, also to oneself; of persistent and
                                            partitioned ones each start. None to MPI_PROC_NULL */
    WEND_READ_COLLECTIVES = 1 << 1,    /**< the send buffer of each rank (MPI_Bcast, MPI_Scatter: of
                                            the root), whatever the library makes of it */
    WEND_READ_ONE_SIDED = 1 << 2,      /**< each put, get and accumulate, by its origin buffer */
    WEND_READ_FILE_WRITES = 1 << 3,
    WEND_READ_FILE_READS = 1 << 4
};
#define WEND_READ_N_TRANSFER_KINDS 5

/** How much; sizes are count x datatype size. Sums stick at the largest number. */
typedef struct {
    uint64_t operations; /**< calls or starts */
    uint64_t bytes;
    uint64_t unsized; /**< operations whose size the recording does not tell */
} WendReadAmount;

/** Over all ranks, threads and callbacks. */
typedef struct {
    uint64_t mpi_calls;  /**< without unsuccessful polls and the recorder's notes */
    uint64_t polls;      /**< unsuccessful polls */
    uint64_t frees;      /**< frees of memory that MPI had used: notes of the recorder's */
    uint64_t failed;     /**< MPI calls that returned an error */
    uint64_t unfinished; /**< MPI calls that had not returned when the recording ended */
    WendReadAmount amounts[WEND_READ_N_TRANSFER_KINDS]; /**< by number of the kind's bit */
    /* What the run decided: */
    uint64_t wildcard_receives, wildcard_probes; /**< MPI_ANY_SOURCE or MPI_ANY_TAG */
    uint64_t probes;                             /**< messages that a probe found */
    uint64_t any_completions;  /**< MPI_Waitany, MPI_Waitsome, MPI_Testany, MPI_Testsome */
    uint64_t tests;            /**< MPI_Test and MPI_Testall that succeeded */
    uint64_t neighbour_orders; /**< calls that go by the order that MPI_Dist_graph_create gave */
    uint32_t min_threads, max_threads, max_callbacks; /**< sequences of a rank */
    uint32_t n_functions;                             /**< that were called */
    uint64_t n_symbols;                               /**< of all rules */
    double seconds_in_mpi;       /**< of all threads, without MPI_Init and MPI_Finalize */
    double seconds_in_mpi_error; /**< by how much that may be off */
    double seconds_of_run;       /**< of all threads, from MPI_Init to MPI_Finalize */
} WendReadTotals;

/** Takes time by the size of the grammar, not of the run; the first time. */
int wend_read_totals(WendRead *r, const WendReadTotals **totals);

/** Of one function that was called. */
typedef struct {
    const WendReadFunction *function;
    uint64_t calls;
    WendReadTiming duration; /**< over all ranks and signatures */
    double seconds;          /**< that threads spent in it; 0 for MPI_Init and MPI_Finalize */
    WendReadAmount amount;   /**< what it hands to MPI, or reads */
} WendReadFunctionTotals;

/** Number INDEX, from 0, of the functions that were called, most calls first. Valid until the next
 * wend_read_function_totals. WEND_READ_ERROR_NONE: there are no more. */
int wend_read_function_totals(WendRead *r, uint32_t index, const WendReadFunctionTotals **totals);

/** One entry of the communication matrix. */
typedef struct {
    int64_t source;      /**< rank of the job that sends; of MPI_Get the target */
    int64_t destination; /**< rank of the job. Both may be WEND_READ_UNKNOWN */
    WendReadAmount amount;
} WendReadPair;

/** Who sends how much to whom: the pairs of ranks that communicate, by source and destination.
 * KINDS: WEND_READ_POINT_TO_POINT or WEND_READ_ONE_SIDED or both. Exact: where a handle stood for
 * different objects in turn, it goes through the calls of that rank. *PAIRS is valid until the next
 * wend_read_matrix. WEND_READ_ERROR_INPUT: the matrix takes more memory than allowed. */
int wend_read_matrix(WendRead *r, unsigned kinds, const WendReadPair **pairs, uint64_t *n);

#define WEND_READ_N_SIZES 65

/** Sizes by powers of two: slot 0 is of 0 bytes, slot I of 2^(I-1) to 2^I - 1 bytes. */
typedef struct {
    WendReadAmount sizes[WEND_READ_N_SIZES];
    uint64_t unsized;
} WendReadSizes;

/** How large the transfers of KINDS (bits) are. Takes time as wend_read_matrix does. Valid until
 * the next wend_read_sizes. */
int wend_read_sizes(WendRead *r, unsigned kinds, const WendReadSizes **sizes);

/** @} */

#ifdef __cplusplus
}
#endif
#endif
