/* SPDX-License-Identifier: BSD-3-Clause */
/* known-addresses.h: what is known of the return addresses of a sequence. They are looked up once.
 * All state belongs to one sequence, so no lock is taken. */
#ifndef WEND_KNOWN_ADDRESSES_H
#define WEND_KNOWN_ADDRESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "code-modules.h"
#include "frame-rules.h"

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

#endif
