/* SPDX-License-Identifier: BSD-3-Clause */
/* durations.c: the table of codings, their names, and rows. */
#include "durations.h"

#include <stdlib.h>
#include <string.h>

#include "duration-codings.h"

static const WendDurationCoding *const codings[WEND_DURATIONS] = {
    [WEND_DURATIONS_LOSSLESS] = &durations_lossless,
    [WEND_DURATIONS_BINS] = &durations_bins,
};

const WendDurationCoding *durations_coding(uint64_t number)
{
    return number < WEND_DURATIONS ? codings[number] : NULL;
}

enum { USUAL_PERCENT = 10 };

/* Reads "10%". */
static bool parse_percent(const char *text, unsigned *percent)
{
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    unsigned long n = strtoul(text, &end, 10);
    *percent = n > WEND_DURATION_MOST ? 0 : (unsigned)n;
    return strcmp(end, "%") == 0 && *percent >= WEND_DURATION_LEAST;
}

bool durations_parse(const char *text, WendDurationsForm *form)
{
    size_t name = strcspn(text, ":");
    form->coding = WEND_DURATIONS_BINS;
    if (parse_percent(text, &form->percent))
        return true;
    for (unsigned i = 0; i < WEND_DURATIONS; i++) {
        const WendDurationCoding *c = codings[i];
        if (strlen(c->name) != name || strncmp(text, c->name, name) != 0)
            continue;
        form->coding = (WendDurationsNumber)i;
        form->percent = c->lossy ? USUAL_PERCENT : 0;
        return text[name] == '\0' || (c->lossy && parse_percent(text + name + 1, &form->percent));
    }
    return false;
}

static bool code_call(void *learned, DurationCode code, const RangeCoder coders[DURATION_KINDS],
                      WendTimedCall *call)
{
    return code(learned, &coders[INTERVAL_BEFORE_CALL], INTERVAL_BEFORE_CALL, call->place,
                &call->interval)
           && code(learned, &coders[DURATION_OF_CALL], DURATION_OF_CALL, call->place,
                   &call->duration);
}

void duration_encode(void *learned, DurationCode code, const WendTimedCall *calls, size_t n,
                     WendBuf *durations, WendBuf *intervals)
{
    RangeEncoder to[DURATION_KINDS];
    const RangeCoder coders[DURATION_KINDS] = {{.encoder = &to[0]}, {.encoder = &to[1]}};
    range_encoder_begin(&to[DURATION_OF_CALL], durations);
    range_encoder_begin(&to[INTERVAL_BEFORE_CALL], intervals);
    for (size_t i = 0; i < n; i++) {
        WendTimedCall call = calls[i];
        code_call(learned, code, coders, &call);
    }
    range_encoder_end(&to[DURATION_OF_CALL]);
    range_encoder_end(&to[INTERVAL_BEFORE_CALL]);
}

bool duration_decode(void *learned, DurationCode code, WendTimedCall *calls, size_t n,
                     WendCursor *durations, WendCursor *intervals)
{
    RangeDecoder from[DURATION_KINDS];
    const RangeCoder coders[DURATION_KINDS] = {{.decoder = &from[0]}, {.decoder = &from[1]}};
    range_decoder_begin(&from[DURATION_OF_CALL], durations);
    range_decoder_begin(&from[INTERVAL_BEFORE_CALL], intervals);
    for (size_t i = 0; i < n; i++)
        if (!code_call(learned, code, coders, &calls[i]) || durations->failed || intervals->failed)
            return false;
    range_decoder_end(&from[DURATION_OF_CALL]);
    range_decoder_end(&from[INTERVAL_BEFORE_CALL]);
    return !durations->failed && !intervals->failed;
}

void durations_put_head(WendBuf *out, const WendDurationsHead *head)
{
    buf_unsigned(out, head->form.coding);
    buf_unsigned(out, head->form.percent);
    buf_double(out, head->tick);
    buf_signed(out, head->origin);
    if (head->clock.measured == 0)
        return;
    buf_unsigned(out, head->clock.measured);
    buf_signed(out, head->clock.shift);
    buf_double(out, head->clock.drift);
    buf_unsigned(out, head->clock.error);
}

/* False: the correction at C is damaged. */
static bool read_correction(WendCursor *c, WendDurationsHead *head)
{
    int64_t origin;
    uint64_t measured = cursor_unsigned(c);
    WendClockCorrection *clock = &head->clock;
    clock->shift = cursor_signed(c);
    clock->drift = cursor_double(c);
    clock->error = cursor_unsigned(c);
    clock->measured = (unsigned)measured;
    return !c->failed && (measured == 1 || measured == 2) && clock->drift > -0.5
           && clock->drift < 0.5 && !__builtin_add_overflow(head->origin, clock->shift, &origin);
}

bool durations_read_head(WendCursor *c, WendDurationsHead *head)
{
    uint64_t coding = cursor_unsigned(c), percent = cursor_unsigned(c);
    const WendDurationCoding *known = durations_coding(coding);
    *head = (WendDurationsHead){.form = {(WendDurationsNumber)coding, (unsigned)percent}};
    head->tick = cursor_double(c);
    head->origin = cursor_signed(c);
    bool good = known && head->tick > 0 && head->tick < 1 && percent <= WEND_DURATION_MOST
                && (percent >= WEND_DURATION_LEAST) == known->lossy;
    if (good && !c->failed && c->p < c->end)
        good = read_correction(c, head);
    c->failed |= !good || c->p < c->end;
    return !c->failed;
}

void durations_correct(WendDurationsHead *head)
{
    head->tick *= 1 + head->clock.drift;
    head->origin += head->clock.shift;
}

bool durations_put_row(const WendDurationCoding *coding, void *learned, const WendTimedCall *calls,
                       size_t n, WendBuf scratch[2], WendBuf *out)
{
    for (int i = 0; i < 2; i++) {
        scratch[i].len = 0;
        scratch[i].failed = false;
    }
    coding->encode(learned, calls, n, &scratch[0], &scratch[1]);
    buf_block(out, &scratch[0]);
    buf_block(out, &scratch[1]);
    return !scratch[0].failed && !scratch[1].failed && !out->failed;
}

bool durations_read_row(const WendDurationCoding *coding, void *learned, WendTimedCall *calls,
                        size_t n, WendCursor *c)
{
    WendCursor durations = cursor_block(c), intervals = cursor_block(c);
    return !c->failed && coding->decode(learned, calls, n, &durations, &intervals)
           && durations.p == durations.end && intervals.p == intervals.end;
}
