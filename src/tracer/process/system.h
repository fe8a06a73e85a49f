/* SPDX-License-Identifier: BSD-3-Clause */
/* system.h: what the tracer asks of the system, without malloc and without locks of the C library
 * where it can. None of it knows MPI or the state of the tracer. */
#ifndef WEND_SYSTEM_H
#define WEND_SYSTEM_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

/* -- state.c: failures -- */

/* Stops recording. WHY (a literal) is printed at the end. The application goes on unchanged. */
void state_break(const char *why);

/* Prints one line on standard error, "wend: …". Keeps errno. */
void state_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* -- kernel.c -- */

/* Numbers in the text files of /proc and /sys. Uses system calls alone, without malloc, because it
 * is used when memory is short. */

enum { KERNEL_TEXT = 8 << 10 };

/* Reads the first KERNEL_TEXT - 1 bytes of the file at PATH as text. Returns false if it cannot be
 * read; the text then has what could be read. */
bool kernel_text(const char *path, char text[KERNEL_TEXT]);

/* The number at the beginning of the file at PATH. OTHERWISE if there is no such file, or no number
 * ("max"). */
uint64_t kernel_number(const char *path, uint64_t otherwise);

/* The number of KEY in a file of lines "KEY 123" or "KEY: 123 kB"; in the latter form KEY ends with
 * the colon. OTHERWISE if it is missing. */
uint64_t kernel_number_of(const char *path, const char *key, uint64_t otherwise);

/* -- kernel.c: control groups -- */

/* The memory that the control groups of this process allow. Batch systems and containers give a job
 * less memory than the machine has, and the kernel kills a job that takes more.
 *
 * It reads both versions of control groups, because a machine may have both. The limit is the
 * smallest of those of the process's group and of all groups around it that are visible. A
 * container sees its own group, and in version 1 the smallest limit of the groups around it. */

enum { CGROUP_PATH = 4096 };

/* The folder of the process's own group, for each version; "" if there is none. Its first TOP bytes
 * are the folder of the outermost visible group. */
typedef struct {
    struct {
        char folder[CGROUP_PATH];
        size_t top;
    } of[2];
} Cgroups;

/* Finds the groups of this process, by /proc/self/cgroup and /proc/self/mountinfo. ROOT is
 * prepended to all file names: "", or a folder of a test. */
void cgroup_find(Cgroups *groups, const char *root);

/* The smallest limit in bytes; with LEFT, the smallest unused amount. Cached files that the kernel
 * would drop do not count as used, since the group of a job that reads much is full of them.
 * UINT64_MAX: there is no limit. */
uint64_t cgroup_memory(const Cgroups *groups, bool left);

/* -- mappings.c: the mappings of the process, with neighbours joined -- */

/* Finds the mapping that contains ADDRESS, by /proc/self/maps: from *LOW up to *HIGH. If there is
 * none, returns false and gives the gap between two mappings that contains it. Takes some
 * microseconds, and no memory. */
bool mappings_find(uintptr_t address, uintptr_t *low, uintptr_t *high);

/* -- mappings.c: the stack of a thread -- */

/* Where the stack of a thread is. A thread may also run on memory that the program has made a
 * stack, as coroutines and handlers of signals do.
 *
 * The stack of the main thread grows down, as far as its limit and other mappings allow. Without
 * a limit (ulimit -s unlimited) it could reach the heap. So it is what is mapped, which has all
 * variables that exist, and is looked at again when it may have grown. */

typedef struct {
    uintptr_t low, high; /* from LOW up to HIGH; both 0: not known */
    uintptr_t least;     /* it cannot grow below this address */
} ThreadStack;

/* The stack of the calling thread, which libc is asked for once. */
const ThreadStack *thread_stack(void);

/* The same, after a look at the mappings if ADDRESS is where the stack may have grown to. */
const ThreadStack *thread_stack_down_to(uintptr_t address);

/* -- memory-files.c -- */

/* Files in memory (memfd_create) of the processes of this host.
 *
 * A process shows something to others in such a file, so that nothing remains however it ends.
 * The others find the file by its name among the open files of the process. C11 and libc alone. */

/* Calls FOUND for each file in memory whose name is PREFIX and a number. NUMBER is the number, and
 * openat(FOLDER, ENTRY, …) opens the file. Processes of other users are left out, and those whose
 * open files cannot be read. */
typedef void (*MemoryFileFound)(unsigned long number, int folder, const char *entry);
void memory_files_find(const char *prefix, MemoryFileFound found);

/* -- scratch.c -- */

/* Memory for one task of the watcher, from the system and not from malloc. A thread of the
 * application may hold malloc's locks, and may have been stopped for good. */

/* A WendResize (lib/base/buf.h). Freed memory is returned by scratch_clear only. */
void *scratch_resize(void *p, size_t old, size_t n);
void scratch_clear(void); /* frees all memory */
/* Makes sure that BYTES can be had later, even if the system has no memory left then. It reserves
 * address space if the process has a limit of it, or if the system does not overcommit. Returns
 * false if there is not so much; an earlier reservation stays. Any thread may call it. */
bool scratch_reserve(size_t bytes);

/* -- own-writes.c -- */

/* Keeps signals that Wend's own writes cause from the application: SIGPIPE if no process reads
 * any more, SIGXFSZ if a file may not grow. The write fails instead, and Wend handles the
 * failure. */

typedef struct {
    sigset_t before, own;
} WriteSignals;

/* Between write_signals_block and write_signals_restore the calling thread gets neither signal.
 * Signals that were pending before, or came from elsewhere meanwhile, are pending afterwards. Both
 * functions may be called in a signal handler, and keep errno. */
void write_signals_block(WriteSignals *s);
void write_signals_restore(const WriteSignals *s);

/* Writes a line of Wend to the standard error that the launcher gave, in one piece if the
 * file accepts it, by system calls only. If the program has other plans with that number, the line
 * goes to the copy of process_keep_stderr, and never into a file of the program's. If it cannot be
 * written, it is lost. Keeps errno and the memory of PIECES, but changes PIECES. */
void process_print_line(struct iovec *pieces, size_t n);

/* Keeps a copy of standard error in this process, while it is what the launcher gave. It is closed
 * in children and in programs that are executed. */
void process_keep_stderr(void);

/* -- own-writes.c: files that stay open -- */

/* Files that Wend keeps open in the application's process. The application may close descriptors
 * that it has not opened (closefrom), and get the number for a file of its own. So each use checks
 * that the number still belongs to that file. */

typedef struct {
    int number;
    dev_t device;
    ino_t inode;
} KeptFile;
#define KEPT_NONE    \
    {                \
        .number = -1 \
    }

/* Takes FD, and moves it to a number that programs do not expect: above 200, or else above standard
 * input, output and error. Returns false if FD is -1 or cannot be kept; FD is then closed. */
bool kept_file_take(KeptFile *file, int fd);

/* The number, for one use. -1 if the file is closed. Keeps errno. */
int kept_file_number(const KeptFile *file);
void kept_file_close(KeptFile *file);

#endif
