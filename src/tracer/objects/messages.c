/* SPDX-License-Identifier: BSD-3-Clause */
/* messages.c: messages of matched probes. */
#include "objects.h"

#define VALUE(handle) ((uintptr_t)(handle))

void message_made(MPI_Message m, int self, int source, int tag)
{
    MessageMetadata *facts = handle_facts_new(sizeof *facts);
    if (!facts) {
        state_break("out of memory");
        return;
    }
    *facts = (MessageMetadata){self, source, tag};
    handle_set_metadata(HANDLE_MESSAGE, VALUE(m), facts);
}

MessageMetadata message_metadata(MPI_Message m)
{
    const MessageMetadata *facts = handle_metadata(HANDLE_MESSAGE, VALUE(m));
    return facts ? *facts : (MessageMetadata){0, MPI_ANY_SOURCE, MPI_ANY_TAG};
}
