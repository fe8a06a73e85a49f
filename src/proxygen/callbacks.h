/* SPDX-License-Identifier: BSD-3-Clause */
/* callbacks.h: the application's functions, as stubs. */
#ifndef PROXYGEN_CALLBACKS_H
#define PROXYGEN_CALLBACKS_H

#include "plan.h"

void callbacks_free(Callbacks *c);

#endif
