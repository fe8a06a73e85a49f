/* SPDX-License-Identifier: BSD-3-Clause */
/* model.h: the interface of this folder: the program to be compiled. */
#ifndef PROXYGEN_MODEL_H
#define PROXYGEN_MODEL_H

#include "call_pattern.h"
#include "job_worlds.h"
#include "plan.h"
#include "plan_threads.h"

#endif
