/* SPDX-License-Identifier: BSD-3-Clause */
/* stacks-library.c: a library that stacks.c closes while a function of it is being called. */
void stacks_call(void (*f)(void));
void stacks_call(void (*f)(void))
{
    f();
    __asm__ volatile("");
}
