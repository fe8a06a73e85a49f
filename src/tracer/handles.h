/* handles.h: between handles.c and its neighbours: facts that hang on a handle, and ids for handles whose value comes later. */
#ifndef WEND_HANDLES_H
#define WEND_HANDLES_H

#include "call.h"

void handles_open(void);                                             /* the predefined ones */
void *handle_facts_new(size_t bytes);                                /* room for some; NULL: no memory */
void handle_facts_free(void *facts);                                 /* that no handle owns; NULL is nothing */
void *handle_facts(HandleKind kind, uintptr_t value);                /* NULL: unknown handle, or none set */
bool handle_set_facts(HandleKind kind, uintptr_t value, void *facts);/* handle_facts_new's, owned by the handle from then on; false: unknown, and FACTS was freed */
int64_t handle_reserve(Call *c, HandleKind kind);                    /* an id without a value yet; WEND_UNKNOWN: no memory */
void handle_arrived(Sequence *maker, HandleKind kind, uintptr_t value, int64_t word, void *facts);

#endif
