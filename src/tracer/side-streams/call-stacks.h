/* SPDX-License-Identifier: BSD-3-Clause */
/* call-stacks.h: the call stack of a call: follows the frames by the rules of the modules
 * (frame-rules.h), and recognises the stack of the call before (docs/side-streams.md, "Call
 * stacks").
 *
 * No memory is touched that cannot be read, whatever is on the stack. Only for x86-64; elsewhere
 * a stack ends where the call came from. */
#ifndef WEND_CALL_STACKS_H
#define WEND_CALL_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frame-rules.h"

/* -- known-addresses.c -- */

/* What is known of the return addresses of a sequence. They are looked up once. All state belongs
 * to one sequence, so no lock is taken. */

/* A file of code that addresses are in. */
typedef struct KnownModule {
    struct KnownModule *next;
    uint32_t number; /* for the table of the stream; WEND_SITE_NONE: not there so far */
    uintptr_t last;  /* likewise: the offset that was put last */
    uint8_t id[CODE_MODULE_ID];
    size_t n_id;
    char file[];
} KnownModule;

typedef struct {
    uintptr_t address;   /* 0: the place is free */
    bool layer;          /* it is in a layer (code-modules.h) */
    bool runtime;        /* it is in the C library, which calls main and the functions of threads */
    FrameRule rule;      /* of the frame there; known for layers, or if RULES says so for all */
    uint32_t site;       /* for the user: its number; WEND_SITE_NONE: none so far */
    KnownModule *module; /* NULL: it is in none */
    uintptr_t offset;    /* in the module */
} KnownAddress;

typedef struct {
    KnownAddress *at; /* by address, N of MASK + 1 places */
    size_t mask, n;
    KnownModule *modules;
    unsigned long long unloaded; /* modules, when an address was last looked up */
    bool rules;
} KnownAddresses;

/* Makes room for the first addresses. RULES as above. False: no memory. */
bool known_addresses_init(KnownAddresses *a, bool rules);
/* All that is known of addresses is not known any more. Modules stay. */
void known_addresses_forget(KnownAddresses *a);
/* What is known of ADDRESS, valid until the next call. A module may have been unloaded, and another
 * one may be where it was: then *UNLOADED is set, and all that was known of addresses is not any
 * more. NULL: there is no memory, or there are too many. */
KnownAddress *known_address(KnownAddresses *a, uintptr_t address, bool *unloaded);

/* -- call-stacks.c -- */

/* Something on the stack that a function was called from. */
typedef struct {
    uintptr_t address;          /* the return address */
    uintptr_t stack_pointer;    /* after the function has returned */
    uintptr_t frame_pointer_at; /* where the frame pointer is that is then in the register */
    KnownModule *module;        /* what ADDRESS is in, and where; NULL: in none */
    uintptr_t offset;
    bool skipped; /* it is of a layer, or of what called the outermost function */
    bool runtime; /* likewise in KnownAddress */
    /* Of the words that the walk has read, those from here on were read to find the next ones. */
    uint32_t words;
    uint32_t inner;  /* frames that are not skipped, before it */
    uint32_t caller; /* for the user: what is called from it has this caller (site-recording.c) */
} StackFrame;

/* A word that the walk has read. */
typedef struct {
    const uintptr_t *at;
    uintptr_t value;
} StackWord;

/* The last stack of a sequence. */
typedef struct {
    uint32_t most; /* frames that are not skipped */
    /* N frames, the innermost comes first. Those from KEPT on are those of the stack before, and so
     * are their callers. */
    StackFrame *frames;
    uint32_t n, kept;
    uint32_t site;    /* the frame that is not of a layer, or the last one */
    uint32_t counted; /* frames that are not skipped */
    bool whole;       /* the last frame is the outermost one */
    bool too_deep;    /* it had more than MOST frames */
    bool sure;        /* the walk has not lost its way */
    StackWord *words;
    uint32_t n_words;
    const uintptr_t *frame; /* of the wrapper; NULL: there is no stack */
    uint32_t number;        /* for the user: the number of the stack */
    /* Of the walk at hand. */
    StackFrame *new_frames;
    StackWord *new_words;
} CallStack;

/* A stack of so many frames at most. NULL: no memory. */
CallStack *call_stack_new(uint32_t most);
void call_stack_forget(CallStack *s); /* the next stack is another one */

/* Whether the call that returns to ADDRESS, in whose wrapper FRAME is, has the stack S. A walk
 * depends on nothing but the words that it reads, so it has if these are as they were. */
bool call_stack_is(const CallStack *s, uintptr_t address, const uintptr_t *frame);

/* Makes S the stack of the call. False: there is no memory, and S is forgotten. */
bool call_stack_walk(CallStack *s, KnownAddresses *known, uintptr_t address,
                     const uintptr_t *frame);

#endif
