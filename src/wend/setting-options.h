/* SPDX-License-Identifier: BSD-3-Clause */
/* setting-options.h: an option for each setting of the tracer (src/tracer/shared/settings.h). */
#ifndef WEND_SETTING_OPTIONS_H
#define WEND_SETTING_OPTIONS_H

#include <glib.h>

typedef enum { SETTING_OPTIONS_TRACE, SETTING_OPTIONS_REPLAY } SettingOptions;

/* The entries for the settings of a recording, for REPLAY also those of a replay, and then MORE.
 * The caller frees them with g_free. */
GOptionEntry *setting_options(SettingOptions which, const GOptionEntry *more);

/* Sets the variable of each option that was given. Returns a message if one is not valid, which the
 * caller frees. */
char *setting_options_apply(void);

/* Whether the option of the setting output was given. */
gboolean setting_options_has_output(void);

#endif
