/* control.h: what control.c tells the others. */
#ifndef WEND_CONTROL_H
#define WEND_CONTROL_H

/* Class of a return code that occurred: its name goes with the recording. */
void control_note_error_class(int class);

#endif
