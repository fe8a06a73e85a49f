/* SPDX-License-Identifier: BSD-3-Clause */
/* wend/read.h: libwend-read, a C library that reads recordings of MPI programs (wend-read(3)).
 *
 * `wend trace -o DIRECTORY` makes a recording. A reader, WendRead, opens one recording. All further
 * functions ask the reader:
 *
 *     WendRead *r = wend_read_new();
 *     if (wend_read_open(r, "trace.dir") < 0)
 *         errx(1, "%s", wend_read_message(r));
 *     ...
 *     wend_read_free(r);
 *
 * Terms. A *world* is the processes of one MPI_COMM_WORLD; an application that spawns processes has
 * several. A *rank* is a rank of the job, unless a comment says otherwise: the rank in
 * MPI_COMM_WORLD plus the ranks of all worlds before. In a recording of one world it is the rank in
 * MPI_COMM_WORLD. A *sequence* is the calls of one thread, or of one callback, of one rank. A
 * *signature* is a call without the values that the run decided: two calls with equal arguments
 * have the same signature. Ranks whose calls have equal shapes in the same order form a *class*.
 *
 * Results. A function that can fail returns WEND_READ_OK (0) or a negative WendReadResult. On
 * failure it does not change its results, and wend_read_message gives one line that names the file
 * and says what to do. NULL as a reader, a call or a result is a usage error. A recording is
 * checked when it is opened. A damaged recording is refused then, and never read in part.
 *
 * Ownership. A `const TYPE *` that a function gives belongs to the reader. It is valid until
 * wend_read_free or another wend_read_open. A call and its contents are valid until the next call
 * is read. Later versions may add members at the ends of the structures that the library gives, so
 * do not make or copy these by sizeof. Structures that the caller provides never change.
 *
 * Threads. Several threads may use different readers at the same time, even of the same recording.
 * One thread at a time may use one reader.
 *
 * Memory. A reader refuses a recording that takes more memory than wend_read_set_memory allows. If
 * the system has no memory left, the library ends the process, as GLib does. */
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

/** Results of functions. The exit status of Wend's commands is the same number without the sign. */
typedef enum {
    WEND_READ_OK = 0,
    WEND_READ_ERROR_NONE = -1,  /**< the recording lacks the object that was asked for */
    WEND_READ_ERROR_USAGE = -2, /**< an argument is out of range, or nothing is open */
    WEND_READ_ERROR_INPUT = -3, /**< no recording, or it is damaged or of another version */
    WEND_READ_ERROR_SYSTEM = -4 /**< the file cannot be read, or memory is short */
} WendReadResult;

/** Values that stand for no number. */
#define WEND_READ_UNKNOWN (INT64_MIN + 2) /**< the recording does not have the number */
#define WEND_READ_ABSENT (INT64_MIN + 1)  /**< there is no number: not significant at this rank */
#define WEND_READ_NO_INDEX UINT32_MAX     /**< no class, communicator, function or parameter */
#define WEND_READ_JOB UINT32_MAX          /**< in place of a world: all worlds of the job */

typedef struct WendRead WendRead;

/** The version of the library, as "MAJOR.MINOR.PATCH". Static. */
const char *wend_read_version(void);

/** Makes a reader with nothing open. The caller frees it with wend_read_free. */
WendRead *wend_read_new(void);

/** Frees a reader and all that it gave. NULL is allowed. Free its WendReadCalls before. */
void wend_read_free(WendRead *r);

/** Limits the memory of the next recording while it is open, in bytes. The default, 0, is 1,024
 * times the size of its files, at least 1 GiB and at most 8 GiB or half of RLIMIT_AS. A recording
 * that takes more is refused with WEND_READ_ERROR_INPUT. */
int wend_read_set_memory(WendRead *r, uint64_t bytes);

/** Opens the recording at PATH: its directory (all worlds), or an archive in it (one world). Closes
 * the recording that R had open. Time and memory depend on the size of the archive, not on the
 * length of the run. */
int wend_read_open(WendRead *r, const char *path);

/** Opens world number WORLD alone, from 0. Ranks are then ranks in its MPI_COMM_WORLD. */
int wend_read_open_world(WendRead *r, const char *path, uint32_t world);

/** The reason why the last function of R failed: one line without a newline, valid until another
 * function of R fails. "" if none has failed. */
const char *wend_read_message(const WendRead *r);

/** @} */

/** \defgroup facts Facts of the run, worlds, ranks, classes
 * @{
 */

/** Facts of a job or a world. Unknown texts are NULL, unknown times negative. Texts come from the
 * application and its system: escape control characters before you print them. */
typedef struct {
    const char *program;      /**< the command, without arguments */
    const char *arguments;    /**< separated by blanks */
    const char *mpi_library;  /**< its name and version */
    const char *mpi_version;  /**< version of the standard: "4.0" */
    const char *thread_level; /**< the level that MPI provides: "MPI_THREAD_MULTIPLE" */
    const char *hosts;        /**< "login;node[0-3,7]" */
    const char *job;          /**< the batch system's name of the job */
    uint64_t n_hosts;         /**< 0 if unknown */
    int64_t start;            /**< seconds since the epoch */
    double elapsed;           /**< seconds from MPI_Init to MPI_Finalize */
    double clock_resolution;  /**< seconds; shorter times cannot be told from 0 */
    double clock_error;       /**< seconds by which the clock of a host may differ from rank 0's in
                                   times of calls; negative: one host, or they were not compared */
    bool complete;            /**< all ranks reached MPI_Finalize, and all calls are recorded */
    uint32_t n_worlds;        /**< 1 for a world */
    uint32_t n_ranks;
    /* These are of the job, in the facts of a world, too: */
    uint32_t n_classes, n_rules, n_signatures, n_shapes;
    uint64_t archive_bytes; /**< size of the files */
    uint64_t member_bytes;  /**< the same, uncompressed */
} WendReadFacts;

/** Gives the facts of world WORLD, or of the job (WEND_READ_JOB). The job has the texts of world
 * 0. */
int wend_read_facts(WendRead *r, uint32_t world, const WendReadFacts **facts);

/** Gives entry number INDEX, from 0, of the metadata of WORLD (WEND_READ_JOB: of the job), group by
 * group. The metadata is all that the recorder noted about the run (docs/format.md). A group
 * without entries has one entry whose KEY is NULL. Fails with WEND_READ_ERROR_NONE after the last
 * entry. */
int wend_read_meta(WendRead *r, uint32_t world, uint32_t index, const char **group,
                   const char **key, const char **value);

/** One world. */
typedef struct {
    const char *name;    /**< who started it: "0.2" is the second world that rank 0 of world 0
                              started; "" is the first world */
    uint32_t first_rank; /**< its rank 0, as a rank of the job */
    uint32_t n_ranks;
} WendReadWorld;

/** Gives world number WORLD, valid until the next wend_read_world. */
int wend_read_world(WendRead *r, uint32_t world, const WendReadWorld **w);

/** One process. */
typedef struct {
    uint32_t world;          /**< the number of its world */
    uint32_t world_rank;     /**< its rank in the MPI_COMM_WORLD of that world */
    uint32_t class_index;    /**< WEND_READ_NO_INDEX: none of its calls was recorded */
    uint32_t n_sequences;    /**< threads that call MPI, by number, then callbacks */
    const char *termination; /**< how the process ended; NULL: in MPI_Finalize */
} WendReadRank;

/** Gives rank RANK, valid until the next wend_read_rank. */
int wend_read_rank(WendRead *r, uint32_t rank, const WendReadRank **info);

/** The calls of one thread, or of one callback, of one rank. */
typedef struct {
    bool callback;    /**< calls that a function of the application made when MPI called it */
    int64_t id;       /**< number of the thread or function; < 0: a function of the MPI library */
    uint32_t rule;    /**< the start rule of its grammar */
    uint64_t n_calls; /**< without unsuccessful polls, with the recorder's notes */
    uint64_t n_polls; /**< unsuccessful polls */
} WendReadSequence;

/** Gives sequence number INDEX of RANK, from 0, valid until the next wend_read_sequence. */
int wend_read_sequence(WendRead *r, uint32_t rank, uint32_t index, const WendReadSequence **s);

/** Ranks whose calls have equal shapes in the same order. Loops run equally often on all of
 * them. */
typedef struct {
    uint32_t n_ranks;
    const uint32_t *ranks; /**< ascending */
    uint32_t n_sequences;
    uint64_t n_mpi_calls; /**< MPI calls of each of its ranks, without unsuccessful polls */
} WendReadClass;

/** Gives class number INDEX, from 0, valid until the next wend_read_class. The first call takes
 * time in proportion to the size of the grammar. */
int wend_read_class(WendRead *r, uint32_t index, const WendReadClass **c);

/** @} */

/** \defgroup functions Functions and their parameters
 * @{
 */

/** Kinds of parameters. Later versions may add more. */
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
    WEND_READ_KIND_MEMORY,    /**< a block of memory in one of the recorder's notes */
    WEND_READ_KIND_FILE_SIZE, /**< no parameter in C: bytes of a file before the call */
    WEND_READ_KIND_TARGET,    /**< displacement at the target of a one-sided operation */
    WEND_READ_KIND_NEIGHBOURS /**< no parameter in C: neighbours, in the library's order */
} WendReadKind;

typedef enum {
    WEND_READ_IN,
    WEND_READ_OUT,
    WEND_READ_INOUT,
    WEND_READ_RETURN /**< the return value of a function that returns no error code */
} WendReadDirection;

typedef struct {
    const char *name; /**< as in the standard */
    WendReadKind kind;
    WendReadDirection direction;
    bool array;
    bool named; /**< an output that names an object that MPI made (a handle, memory). It is equal in
                     all calls of a signature. The run decides all other outputs */
} WendReadParameter;

/** Properties of a function. */
enum {
    WEND_READ_SENDS = 1 << 0,    /**< hands a message to MPI, or makes a request that will */
    WEND_READ_RECEIVES = 1 << 1, /**< takes or looks for a message */
    WEND_READ_COLLECTIVE = 1 << 2,
    WEND_READ_COMPLETES = 1 << 3,  /**< completes requests: MPI_Wait, MPI_Testsome */
    WEND_READ_POLLS = 1 << 4,      /**< may find nothing: MPI_Test, MPI_Iprobe */
    WEND_READ_CHOOSES = 1 << 5,    /**< completes some of many: MPI_Waitany, MPI_Testsome */
    WEND_READ_PERSISTENT = 1 << 6, /**< makes a persistent request */
    WEND_READ_LOCAL = 1 << 7,      /**< queries a value and changes nothing: MPI_Comm_rank */
    WEND_READ_NOTE = 1 << 8,       /**< no function of MPI but a note of the recorder: memory was
                                        freed ("wend_free"), a callback returned */
    WEND_READ_TAKES = 1 << 9,      /**< takes the message that it finds, or receives a message so
                                        taken: MPI_Mprobe, MPI_Mrecv */
    WEND_READ_LIFETIME = 1 << 10   /**< MPI starts or ends in it: MPI_Init, MPI_Session_finalize */
};

typedef struct {
    const char *name;      /**< "MPI_Send" */
    uint32_t index;        /**< for wend_read_function; differs between versions of Wend */
    uint32_t flags;        /**< WEND_READ_SENDS and so on */
    uint32_t n_parameters; /**< as in the standard, and those that C does not have */
} WendReadFunction;

/** Gives function number INDEX, from 0, of all functions that Wend knows. Fails with
 * WEND_READ_ERROR_NONE after the last one. */
int wend_read_function(WendRead *r, uint32_t index, const WendReadFunction **f);

/** Gives the function called NAME, in O(1). Fails with WEND_READ_ERROR_NONE if Wend does not know
 * it. */
int wend_read_function_named(WendRead *r, const char *name, const WendReadFunction **f);

/** Parameter number INDEX of F, from 0. NULL if F has fewer. Static. */
const WendReadParameter *wend_read_parameter(const WendReadFunction *f, uint32_t index);

/** The number of the parameter called NAME. WEND_READ_NO_INDEX if F has none. */
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
    uint64_t index;        /**< number of calls of the sequence before it, without unsuccessful
                                polls; 0 in wend_read_signature */
    uint64_t polls_before; /**< unsuccessful polls between the call before and this one */
    bool poll;             /**< the call is an unsuccessful poll */
    bool failed;           /**< the call returned an error, or did not return: it has no outputs */
    bool unfinished;       /**< the call had not returned when the recording ended */
    bool repeats;          /**< all calls of this signature in this sequence have these arguments
                                   and outputs; return codes may differ */
    bool bare;             /**< of wend_read_signature: without outputs that the run decided */
    int64_t return_code;   /**< error class, as the recorded MPI library numbers it; 0 is
                                MPI_SUCCESS. See wend_read_error_name */
    uint32_t site;         /**< with WEND_READ_WITH_SITES: from where in the application the call
                                came (wend_read_site); else, and if it is not known,
                                WEND_READ_NO_INDEX */
} WendReadCall;

typedef struct WendReadCalls WendReadCalls;

enum {
    WEND_READ_WITH_POLLS = 1 << 0,        /**< include unsuccessful polls, where they happened */
    WEND_READ_WITHOUT_TRANSFERS = 1 << 1, /**< do not resolve handles, which is faster.
                                               wend_read_transfer then gives only what the call
                                               itself has */
    WEND_READ_WITH_TIMES = 1 << 2,        /**< wend_read_time gives the time of each call */
    WEND_READ_WITH_SITES = 1 << 3         /**< give the site of each call. All unsuccessful polls
                                               are gone through, also if they are not given */
};

/** Begins to walk the calls of a sequence, in order. FLAGS is a combination of the flags above, or
 * 0. The caller frees *CALLS with wend_read_calls_free before it frees R. A reader can have several
 * at a time. */
int wend_read_calls(WendRead *r, uint32_t rank, uint32_t sequence, unsigned flags,
                    WendReadCalls **calls);

/** Gives the next call. It is valid until CALLS gives another call or is freed. *CALL is NULL after
 * the last call. The time does not depend on the length of the sequence. */
int wend_read_next(WendReadCalls *calls, const WendReadCall **call);

/** When a call was made, in seconds. */
typedef struct {
    double start;    /**< since the start of the run, by rank 0's clock */
    double duration; /**< NaN: unknown, as that of MPI_Finalize */
} WendReadTime;

/** Gives the time of the call that CALLS gave last. CALLS has WEND_READ_WITH_TIMES. Fails with
 * WEND_READ_ERROR_NONE if the recording does not have it: it was made without `wend trace --times`,
 * or the call had not returned. Fails with WEND_READ_ERROR_INPUT if the times are damaged. */
int wend_read_time(WendReadCalls *calls, WendReadTime *time);

/** Frees CALLS. NULL is allowed. */
void wend_read_calls_free(WendReadCalls *calls);

/** The name of an error class, such as "MPI_ERR_TRUNCATE". NULL if the recording has no name for
 * it. */
const char *wend_read_error_name(WendRead *r, int64_t return_code);

/** @} */

/** \defgroup values Arguments as typed values
 * @{
 */

typedef enum {
    WEND_READ_NOTHING,         /**< the argument has no such side, or no value */
    WEND_READ_NOT_SIGNIFICANT, /**< MPI does not use it at this rank */
    WEND_READ_NOT_KNOWN,       /**< the recorder did not know it */
    WEND_READ_NULL,            /**< a NULL pointer */
    WEND_READ_NUMBER,
    WEND_READ_LOGICAL,
    WEND_READ_CONSTANT, /**< MPI_ANY_SOURCE, MPI_INT, MPI_IN_PLACE, MPI_STATUS_IGNORE */
    WEND_READ_HANDLE,
    WEND_READ_PLACE,    /**< an address */
    WEND_READ_DISTANCE, /**< the difference of two addresses */
    WEND_READ_STATUS,
    WEND_READ_STRING,
    WEND_READ_LIST /**< an array; see wend_read_element */
} WendReadType;

/** An object that the application made. After the object is freed, another one may get its
 * number. */
typedef struct {
    WendReadKind kind;
    uint32_t thread;       /**< the thread that made it */
    uint32_t number;       /**< the object's number, unique for its rank and thread */
    uint32_t communicator; /**< of a communicator: the number for wend_read_communicator, equal on
                                all its members. WEND_READ_NO_INDEX if unknown, or for another
                                kind */
    int64_t facts[5];      /**< properties, if this call has made the object, else
                                WEND_READ_UNKNOWN. Of a datatype: size, lower bound, extent, true
                                lower bound, true extent, in bytes. Of a communicator: size, the
                                caller's rank, the rank in MPI_COMM_WORLD of its rank 0, size of the
                                remote group, the rank in MPI_COMM_WORLD of its rank 0. -1 if there
                                is none */
} WendReadHandle;

typedef enum {
    WEND_READ_HEAP,
    WEND_READ_STACK,
    WEND_READ_STATIC,
    WEND_READ_MPI_MEMORY,    /**< MPI_Alloc_mem */
    WEND_READ_WINDOW_MEMORY, /**< memory that MPI allocated for a window */
    WEND_READ_MAPPING,       /**< any other mapping */
    WEND_READ_CUDA
} WendReadMemory;

/** A block of memory, and an offset in it. */
typedef struct {
    WendReadMemory memory;
    uint32_t thread, number; /**< the thread in whose numbering the block is, and its number
                                  there */
    int32_t remote; /**< -1: memory of the caller; else memory of that rank of the caller's world */
    int64_t offset; /**< bytes from the start of the block, or from the upper end of a stack */
} WendReadAddress;

typedef struct {
    int64_t source; /**< rank in the communicator */
    int64_t tag;
    int64_t bytes;           /**< bytes received */
    const char *source_name; /**< NULL, or a constant: "MPI_ANY_SOURCE" in an empty status */
    const char *tag_name;
    int64_t error; /**< error class in the status; 0: none */
    bool cancelled;
} WendReadStatus;

/** An address (PLACE: `to`), or a distance in bytes (DISTANCE: `to` - `from`). */
typedef struct {
    WendReadAddress to, from;
} WendReadPlace;

typedef struct {
    const char *bytes; /**< followed by a NUL; may contain others */
    size_t length;     /**< bytes, without that NUL */
} WendReadString;

/** A value. The caller provides the structure. Its contents are valid as long as the call is. */
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

/** Gives the value that the caller passed as parameter PARAMETER of CALL. For a parameter with
 * `named` it gives the object that MPI made. Neighbours are a list of lists: sources, destinations
 * and, with weights, the weights of both. */
int wend_read_input(const WendReadCall *call, uint32_t parameter, WendReadValue *value);

/** Gives the value that MPI returned, which the run decided. Statuses are as the application got
 * them, with ranks in communicators. */
int wend_read_output(const WendReadCall *call, uint32_t parameter, WendReadValue *value);

/** Gives element INDEX, from 0, of a LIST. The element may be a list, too. */
int wend_read_element(const WendReadValue *list, uint64_t index, WendReadValue *element);

/** Gives the size in bytes of a datatype at CALL, a handle or a constant. Fails with
 * WEND_READ_ERROR_NONE if the size is unknown. */
int wend_read_datatype_size(const WendReadCall *call, const WendReadValue *datatype,
                            int64_t *bytes);

/** Gives the requests that CALL completed, as a LIST of handles. */
int wend_read_completed(const WendReadCall *call, WendReadValue *list);

typedef struct {
    bool active; /**< started and not completed */
    bool persistent;
    uint32_t signature; /**< of the call that made it; WEND_READ_NO_INDEX if unknown */
} WendReadRequest;

/** Gives the state of a request at CALL, before the call completes it. Fails with
 * WEND_READ_ERROR_NONE if the request is unknown. */
int wend_read_request(const WendReadCall *call, const WendReadValue *request,
                      WendReadRequest *state);

/** @} */

/** \defgroup transfers Who communicates with whom
 * @{
 */

/** The communicator, peer and bytes of a call, with handles resolved. A number is WEND_READ_ABSENT
 * if the call has no such value, and WEND_READ_UNKNOWN if the recording does not have it. */
typedef struct {
    uint32_t communicator; /**< number of the communicator, of a request or message too;
                                WEND_READ_NO_INDEX if none or unknown */
    int64_t comm_size;     /**< number of processes in the caller's group */
    int64_t remote_size;   /**< number of processes in the remote group of an intercommunicator */
    int64_t peer;          /**< destination, source or root, as a rank in the communicator (in the
                                remote group of an intercommunicator). For a receive from any
                                source, and for a call that completes one request, the process that
                                the message came from or went to */
    int64_t peer_world;    /**< the same as a rank of the job, also for a process of another world.
                                WEND_READ_UNKNOWN for a process of another job. For a call that
                                completes several requests, see wend_read_completed_transfer */
    int64_t bytes;         /**< size of the send buffer, or of the receive buffer if there is no
                                other: the sum of all counts x the size of the datatype. For
                                MPI_Start and MPI_Startall, of all operations that they start */
} WendReadTransfer;

/** Gives the communicator, the peer and the bytes of CALL. */
int wend_read_transfer(const WendReadCall *call, WendReadTransfer *transfer);

/** Gives the transfer of request number INDEX, from 0, of the requests that CALL completed
 * (wend_read_completed). For a receive from any source the peer is the process that sent the
 * message. `bytes` is WEND_READ_ABSENT, because they belong to the call that posted or started the
 * request. Fails with WEND_READ_ERROR_USAGE if CALL completed fewer requests, and with
 * WEND_READ_ERROR_NONE if the request is unknown or handles are not resolved
 * (WEND_READ_WITHOUT_TRANSFERS). */
int wend_read_completed_transfer(const WendReadCall *call, uint32_t index,
                                 WendReadTransfer *transfer);

/** Numbers of the predefined communicators. */
#define WEND_READ_COMM_WORLD 0u         /**< MPI_COMM_WORLD, of the caller's world */
#define WEND_READ_COMM_SELF 0x7ffffffeu /**< MPI_COMM_SELF, of the caller */

/** A communicator. Its number is equal on all members, and is not used again. A communicator of
 * several worlds has one number, unless the recording does not tell how the worlds met: if their
 * processes used MPI_Comm_join, or several threads connected to one port. Then it has a number in
 * each world. */
typedef struct {
    uint32_t number;
    const char *function;   /**< the function that made it: "MPI_Comm_split"; NULL for a predefined
                                 one */
    uint32_t n_members;     /**< size of the group. An intercommunicator has two; the first is the
                                 one whose first member has the lower rank of the job */
    const int64_t *members; /**< ranks of the job, by rank in the communicator; may be
                                 WEND_READ_UNKNOWN */
    uint32_t n_remote;      /**< size of the other group; 0 if it is no intercommunicator */
    const int64_t *remote;
} WendReadCommunicator;

/** Gives the number of communicators. They are numbered from 1 to *N, besides WEND_READ_COMM_WORLD.
 * The first call takes time in proportion to the number of calls that make communicators. */
int wend_read_n_communicators(WendRead *r, uint32_t *n);

/** Gives the communicator with that number (WEND_READ_COMM_WORLD: of world 0), valid until the next
 * wend_read_communicator. It has no members if none of them is known. */
int wend_read_communicator(WendRead *r, uint32_t number, const WendReadCommunicator **c);

/** Resolves PEER to a rank of the job. PEER is a rank in communicator COMMUNICATOR (in its remote
 * group, if it is an intercommunicator), as its member RANK names it. RANK and *WORLD_RANK are
 * ranks of the job. Fails with WEND_READ_ERROR_NONE if the process is unknown, as processes of
 * another job are. */
int wend_read_world_rank(WendRead *r, uint32_t rank, uint32_t communicator, int64_t peer,
                         int64_t *world_rank);

/** @} */

/** \defgroup messages Which send met which receive
 * @{
 */

#define WEND_READ_NO_CALL UINT64_MAX /**< in place of the number of a call */

/** Where a call is: call number CALL of wend_read_calls(RANK, SEQUENCE). */
typedef struct {
    uint32_t rank, sequence;
    uint32_t signature; /**< for wend_read_signature; WEND_READ_NO_INDEX if there is no call */
    uint64_t call;      /**< its index; WEND_READ_NO_CALL if there is no call */
} WendReadCallPlace;

typedef enum {
    WEND_READ_MATCHED,    /**< a message that was received */
    WEND_READ_UNRECEIVED, /**< a send that met no receive */
    WEND_READ_UNSENT      /**< a receive that met no send */
} WendReadMessageState;

/** A message, a send without receive, or a receive without send. */
typedef struct {
    WendReadMessageState state;
    uint32_t communicator; /**< its number; WEND_READ_NO_INDEX if unknown */
    int64_t tag;           /**< WEND_READ_UNKNOWN: a receive with any tag that met no send */
    int64_t source;        /**< ranks of the job; WEND_READ_UNKNOWN: not in the recording, or a
                                receive from any source that met no send */
    int64_t destination;
    WendReadCallPlace sent;      /**< the send, or the MPI_Start of a persistent one */
    WendReadCallPlace posted;    /**< the receive or MPI_Start; MPI_Mprobe or MPI_Improbe for a
                                      message that these took */
    WendReadCallPlace completed; /**< where the receive returned, or the call that completed its
                                      request. No call: it did not complete */
    int64_t send_request;    /**< thread x 2^32 + number, as in a WendReadHandle, of the request */
    int64_t receive_request; /**< likewise; WEND_READ_ABSENT if there is none */
    int64_t bytes_sent;      /**< WEND_READ_UNKNOWN: unknown */
    int64_t bytes_received;
    bool cancelled;  /**< the send or receive was cancelled */
    bool truncated;  /**< the message was longer than the receive, or the receive failed */
    bool unfinished; /**< the send or receive had not returned when the recording ended */
    bool outside;    /**< the partner is not in the recording: of another job, or without calls */
    bool uncertain;  /**< several threads of a rank use this communicator, partner and tag, and the
                          recording does not have their order. The first message before which that
                          is seen may lack the mark */
    /* With WEND_READ_WITH_TIMES, in seconds; NaN: not known, or there is no call. */
    double sent_start, completed_start; /**< when SENT and COMPLETED began */
    double waited; /**< how long the receiver waited for a send that began later (wend_read_wait) */
    /* With WEND_READ_WITH_SITES; WEND_READ_NO_INDEX: not known. */
    uint32_t sent_site, completed_site;
} WendReadMessage;

typedef struct WendReadMessages WendReadMessages;

/** Begins to match the messages of the recording. The n-th send from a rank to another with one tag
 * on one communicator meets the n-th receive that is posted for it. The calls of all ranks are gone
 * through together in causal order, with memory in proportion to the messages in flight at a time.
 * The caller frees *MESSAGES with wend_read_messages_free before it frees R. */
int wend_read_messages(WendRead *r, WendReadMessages **messages);

/** The same with the times and sites of the calls: FLAGS is WEND_READ_WITH_TIMES,
 * WEND_READ_WITH_SITES, or both. */
int wend_read_messages_with(WendRead *r, unsigned flags, WendReadMessages **messages);

/** Gives the next message, valid until the next call of this function. Messages come in a causal
 * order of their completions; what met nothing comes in the end, or when it is certain. *MESSAGE is
 * NULL after the last one. Fails with WEND_READ_ERROR_INPUT if messages in flight take more memory
 * than allowed. */
int wend_read_next_message(WendReadMessages *messages, const WendReadMessage **message);

/** Facts of the messages that were given so far. */
typedef struct {
    uint64_t in_flight;      /**< messages that are sent and not received at present */
    uint64_t most_in_flight; /**< the largest number so far */
    uint64_t out_of_order;   /**< calls that were gone through before what they wait for. This is 0
                                  if the recording has all ranks up to their ends, and the order in
                                  which threads of a rank communicate */
} WendReadMessageFacts;

/** Gives the facts of the messages that were given so far: fills in *FACTS. */
int wend_read_message_facts(const WendReadMessages *messages, WendReadMessageFacts *facts);

/** Frees MESSAGES. NULL is allowed. */
void wend_read_messages_free(WendReadMessages *messages);

/** @} */

/** \defgroup grammar The grammar: loops without expansion
 *
 * The calls of a sequence are the expansion of its start rule. A rule is an array of symbols. A
 * symbol is a signature or a rule, with a repetition count. So a symbol with a count above 1 is a
 * loop. Rules use only rules with smaller numbers. @{ */

typedef struct {
    uint32_t n_symbols;
    uint64_t length; /**< calls in one expansion */
} WendReadRule;

/** Gives rule number RULE, valid until the next wend_read_rule. */
int wend_read_rule(WendRead *r, uint32_t rule, const WendReadRule **info);

typedef struct {
    bool is_rule;
    uint32_t number;  /**< number of the rule or of the signature */
    uint64_t repeats; /**< at least 1 */
} WendReadSymbol;

/** Gives symbol number INDEX, from 0, of rule RULE. */
int wend_read_symbol(WendRead *r, uint32_t rule, uint32_t index, WendReadSymbol *symbol);

/** Gives the call of a signature as RANK makes it, without outputs that the run decided. RANK must
 * have that signature. Valid until the next wend_read_signature. */
int wend_read_signature(WendRead *r, uint32_t signature, uint32_t rank, const WendReadCall **call);

typedef struct {
    uint32_t signature;
    uint64_t calls; /**< of each rank of the class */
} WendReadCount;

/** Gives how often each signature occurs in sequence SEQUENCE of class CLASS_INDEX, in no order and
 * without expansion. Valid until the next wend_read_counts. */
int wend_read_counts(WendRead *r, uint32_t class_index, uint32_t sequence,
                     const WendReadCount **counts, uint32_t *n);

/** Times of calls, in seconds. */
typedef struct {
    uint64_t count; /**< calls that were timed; if 0, the other members are undefined */
    double mean, min, max, deviation;
    double mean_error; /**< relative error of the mean */
    double rest_error; /**< relative error of the extremes and the standard deviation */
} WendReadTiming;

/** Gives statistics of a signature's times on the ranks of a class: how long its calls took
 * (DURATION), and the time from the end of the previous call to their start (INTERVAL). Either may
 * be NULL. wend_read_time gives the times of single calls. */
int wend_read_timing(WendRead *r, uint32_t class_index, uint32_t sequence, uint32_t signature,
                     WendReadTiming *duration, WendReadTiming *interval);

/** @} */

/** \defgroup totals Totals and the communication matrix
 * @{
 */

/** Kinds of transfers, to be combined as bits. */
enum {
    WEND_READ_POINT_TO_POINT = 1 << 0, /**< each send, also to the caller itself; each start of a
                                            persistent or partitioned send. Sends to MPI_PROC_NULL
                                            do not count */
    WEND_READ_COLLECTIVES = 1 << 1,    /**< the send buffer of each rank, whatever messages the
                                            library makes of it. In MPI_Bcast and MPI_Scatter, that
                                            of the root */
    WEND_READ_ONE_SIDED = 1 << 2,      /**< the origin buffer of each put, get and accumulate */
    WEND_READ_FILE_WRITES = 1 << 3,
    WEND_READ_FILE_READS = 1 << 4
};
#define WEND_READ_N_TRANSFER_KINDS 5

/** An amount of transfers. The size of one is count x datatype size. Sums are clamped to the
 * largest number. */
typedef struct {
    uint64_t operations; /**< calls or starts */
    uint64_t bytes;
    uint64_t unsized; /**< operations of unknown size */
} WendReadAmount;

/** Totals over all ranks, threads and callbacks. */
typedef struct {
    uint64_t mpi_calls;  /**< without unsuccessful polls and the recorder's notes */
    uint64_t polls;      /**< unsuccessful polls */
    uint64_t frees;      /**< notes of frees of memory that MPI had used */
    uint64_t failed;     /**< MPI calls that returned an error */
    uint64_t unfinished; /**< MPI calls that had not returned when the recording ended */
    WendReadAmount amounts[WEND_READ_N_TRANSFER_KINDS]; /**< indexed by the number of the kind's
                                                             bit */
    /* Numbers of calls whose results the run decided: */
    uint64_t wildcard_receives, wildcard_probes; /**< MPI_ANY_SOURCE or MPI_ANY_TAG */
    uint64_t probes;                             /**< messages that a probe found */
    uint64_t any_completions;  /**< MPI_Waitany, MPI_Waitsome, MPI_Testany, MPI_Testsome */
    uint64_t tests;            /**< MPI_Test and MPI_Testall that succeeded */
    uint64_t neighbour_orders; /**< calls that depend on the order of neighbours of
                                    MPI_Dist_graph_create */
    uint32_t min_threads, max_threads, max_callbacks; /**< sequences of a rank */
    uint32_t n_functions;                             /**< number of functions that were called */
    uint64_t n_symbols;                               /**< number of symbols in all rules */
    double seconds_in_mpi;       /**< of all threads, without MPI_Init and MPI_Finalize */
    double seconds_in_mpi_error; /**< the largest error of seconds_in_mpi */
    double seconds_of_run;       /**< of all threads, from MPI_Init to MPI_Finalize */
} WendReadTotals;

/** Gives the totals. The first call takes time in proportion to the size of the grammar. */
int wend_read_totals(WendRead *r, const WendReadTotals **totals);

/** Totals of one function that was called. */
typedef struct {
    const WendReadFunction *function;
    uint64_t calls;
    WendReadTiming duration; /**< over all ranks and signatures */
    double seconds;          /**< time that threads spent in it; 0 for MPI_Init and MPI_Finalize */
    WendReadAmount amount;   /**< bytes that it hands to MPI, or reads from a file */
} WendReadFunctionTotals;

/** Gives entry number INDEX, from 0, of the functions that were called, in descending order of
 * calls. Valid until the next wend_read_function_totals. Fails with WEND_READ_ERROR_NONE after the
 * last one. */
int wend_read_function_totals(WendRead *r, uint32_t index, const WendReadFunctionTotals **totals);

/** Tells whether the recording has the time of any call (`wend trace --times`). */
int wend_read_has_times(WendRead *r, bool *has);

/** A percentile of durations. */
typedef struct {
    uint64_t calls; /**< that have a duration, without unsuccessful polls */
    double seconds; /**< the shortest duration that so many per cent of these do not exceed */
    double error;   /**< its relative error: that of the recorded times, and 0.4 % */
} WendReadPercentile;

/** Gives a percentile of how long the calls of F took, on all ranks. PERCENT is above 0, and at
 * most 100. Fails with WEND_READ_ERROR_NONE if the recording has no times of these calls. The first
 * call goes through the calls of all ranks. */
int wend_read_percentile(WendRead *r, const WendReadFunction *f, double percent,
                         WendReadPercentile *percentile);

/** How long the ranks of a world were in one function, unsuccessful polls included. A time is off
 * by at most 3 %. */
typedef struct {
    const WendReadFunction *function;
    uint32_t n; /**< number of elements of the arrays, at least 1 */
    const double *seconds;
    /** Up to 1,024 ranks in the world: the ranks of the job that have these times, ascending. Else
     * NULL. */
    const uint32_t *ranks;
    /** Of more ranks: how many ranks have each of these times, which ascend. Else NULL. */
    const uint32_t *counts;
    uint32_t fastest, slowest; /**< with COUNTS: a rank of the job with the first and one with the
                                    last time */
} WendReadRankTimes;

/** Gives entry number INDEX, from 0, of the functions whose calls were timed in world WORLD. Valid
 * until the next wend_read_rank_times. Fails with WEND_READ_ERROR_NONE after the last one. */
int wend_read_rank_times(WendRead *r, uint32_t world, uint32_t index,
                         const WendReadRankTimes **times);

/** One entry of the communication matrix. */
typedef struct {
    int64_t source;      /**< rank of the job that sends; for MPI_Get, the target */
    int64_t destination; /**< rank of the job. Both may be WEND_READ_UNKNOWN */
    WendReadAmount amount;
} WendReadPair;

/** Gives the communication matrix: the pairs of ranks that communicate, by source and destination.
 * KINDS is WEND_READ_POINT_TO_POINT or WEND_READ_ONE_SIDED or both. *PAIRS is valid until the next
 * wend_read_matrix. The matrix is exact: if a handle stood for several objects over time, the
 * function walks all calls of that rank. Fails with WEND_READ_ERROR_INPUT if the matrix takes more
 * memory than allowed. */
int wend_read_matrix(WendRead *r, unsigned kinds, const WendReadPair **pairs, uint64_t *n);

#define WEND_READ_N_SIZES 65

/** Sizes by powers of two. Element 0 has the transfers of 0 bytes, element I those of 2^(I-1) to
 * 2^I - 1 bytes. */
typedef struct {
    WendReadAmount sizes[WEND_READ_N_SIZES];
    uint64_t unsized;
} WendReadSizes;

/** Gives the sizes of the transfers of KINDS (bits), valid until the next wend_read_sizes. The time
 * is that of wend_read_matrix. */
int wend_read_sizes(WendRead *r, unsigned kinds, const WendReadSizes **sizes);

/** @} */

/** \defgroup recorded Values beside the calls
 *
 * With `wend trace --values` a recording also has what the program got from the clock, as random
 * numbers, process ids and host names. The values of one thread, or of one callback, are a stream,
 * in the order in which the program got them.
 * @{
 */

/** One stream of a rank. */
typedef struct {
    bool callback;     /**< of a callback; else of a thread */
    int64_t id;        /**< as of a sequence. A thread that never calls MPI has no sequence */
    uint64_t n_values; /**< a damaged stream may have fewer */
} WendReadValueStream;

/** Gives stream number INDEX, from 0, of RANK, valid until the next wend_read_value_stream. Fails
 * with WEND_READ_ERROR_NONE after the last one. */
int wend_read_value_stream(WendRead *r, uint32_t rank, uint32_t index,
                           const WendReadValueStream **stream);

/** A value that the program got. */
typedef struct {
    const char *function; /**< "MPI_Wtime", "clock_gettime", … */
    uint32_t clock;       /**< of clock_gettime: the clock; 15: one of a higher number */
    uint64_t steps;       /**< calls and unsuccessful polls of the sequence that ended before */
    bool of_call; /**< it belongs to the call of number STEPS, from 0: the time of MPI_Wtime, a
                               result of one-sided communication, the place of a lock */
    const double *seconds;  /**< of MPI_Wtime; else NULL */
    const int64_t *numbers; /**< NULL: bytes, or seconds */
    uint32_t n_numbers;
    const void *bytes; /**< NULL: numbers, or seconds. Longer values are in pieces of 1,024 bytes,
                            of which the last alone is shorter */
    size_t n_bytes;
} WendReadRecorded;

typedef struct WendReadValues WendReadValues;

/** Goes through the values of stream number INDEX of RANK. The caller frees *VALUES with
 * wend_read_values_free, before the reader. */
int wend_read_values(WendRead *r, uint32_t rank, uint32_t index, WendReadValues **values);

/** Gives the next value, valid until the next use of VALUES, or NULL after the last one. Fails with
 * WEND_READ_ERROR_INPUT if the stream is damaged. */
int wend_read_next_value(WendReadValues *values, const WendReadRecorded **value);

/** Frees VALUES. NULL is allowed. */
void wend_read_values_free(WendReadValues *values);

/** @} */

#ifdef __cplusplus
}
#endif

#include "read-sites.h"
#include "read-waits.h"
#endif
