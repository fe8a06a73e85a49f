/* SPDX-License-Identifier: BSD-3-Clause */
/* site-places.h: what is known of the return addresses of a sequence. They are looked up once. All
 * state belongs to one sequence, so no lock is taken. */
#ifndef WEND_SITE_PLACES_H
#define WEND_SITE_PLACES_H

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
} AddressPlace;

typedef struct {
    AddressPlace *at; /* by address, N of MASK + 1 places */
    size_t mask, n;
    KnownModule *modules;
    unsigned long long unloaded; /* modules, when an address was last looked up */
    bool rules;
} SitePlaces;

/* Makes room for the first addresses. RULES as above. False: no memory. */
bool site_places_init(SitePlaces *a, bool rules);
/* All that is known of addresses is not known any more. Modules stay. */
void site_places_forget(SitePlaces *a);
/* The place of ADDRESS, valid until the next call. A module may have been unloaded, and another one
 * may be where it was: then *UNLOADED is set, and all that was known of addresses is not any more.
 * NULL: there is no memory, or there are too many. */
AddressPlace *site_place(SitePlaces *a, uintptr_t address, bool *unloaded);

#endif
