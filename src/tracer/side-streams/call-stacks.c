/* SPDX-License-Identifier: BSD-3-Clause */
/* call-stacks.c: see call-stacks.h. */
#include "call-stacks.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "side-private.h"

enum {
    MORE_FRAMES = 64, /* that are skipped */
    FRAME_WORDS = 4,  /* that are read to get from one frame to the next, at most */
};

/* -- memory that may not be there -- */

/* Where words can be read: from the frame of the wrapper to the end of its page, since that is the
 * stack of the caller, and in the page that was asked for last. */
typedef struct {
    uintptr_t frame, frame_end, page;
} Readable;

enum { PAGE = 4096, WORD = sizeof(uintptr_t) };

static uintptr_t page_of(uintptr_t at)
{
    return at & ~(uintptr_t)(PAGE - 1);
}

static Readable readable_at(const uintptr_t *frame)
{
    uintptr_t at = (uintptr_t)frame;
    return (Readable){at, page_of(at) + PAGE, page_of(at)};
}

/* Whether the kernel can read the word at AT. It looks there before it sees that no signals are
 * blocked in such a way. */
static bool kernel_reads(uintptr_t at)
{
    enum { NO_WAY = -1, MASK_BYTES = 8 };
    int saved = errno;
    bool reads = syscall(SYS_rt_sigprocmask, NO_WAY, at, NULL, MASK_BYTES) == -1 && errno == EINVAL;
    errno = saved;
    return reads;
}

/* Whether the kernel says that the first page cannot be read, which no process has. One that looks
 * at signals first says of each page that it can. Then only the page of the wrapper is read. */
static bool kernel_tells;

/* Whether the word at AT can be read, and is on the stack above the wrapper. */
static bool is_readable(Readable *r, uintptr_t at)
{
    if (at % WORD != 0 || at < r->frame)
        return false;
    if (at < r->frame_end || page_of(at) == r->page)
        return true;
    if (!kernel_tells || !kernel_reads(at))
        return false;
    r->page = page_of(at);
    return true;
}

/* -- stacks -- */

static size_t frames_most(const CallStack *s)
{
    return (size_t)s->most + MORE_FRAMES;
}

CallStack *call_stack_new(uint32_t most)
{
    CallStack *s = side_stream_memory(sizeof *s);
    if (!s)
        return NULL;
    s->most = most;
    kernel_tells = !kernel_reads(WORD);
    size_t n = frames_most(s);
    uint8_t *p =
        side_stream_memory(2 * n * sizeof *s->frames + 2 * n * FRAME_WORDS * sizeof *s->words);
    if (!p)
        return NULL; /* what is lost is a page */
    s->frames = (StackFrame *)p;
    s->new_frames = s->frames + n;
    s->words = (StackWord *)(s->new_frames + n);
    s->new_words = s->words + n * FRAME_WORDS;
    return s;
}

void call_stack_forget(CallStack *s)
{
    s->frame = NULL;
    s->n = s->n_words = 0;
}

/* -- the same stack -- */

static bool words_are(const CallStack *s, uint32_t from)
{
    for (uint32_t i = from; i < s->n_words; i++)
        if (*s->words[i].at != s->words[i].value)
            return false;
    return true;
}

/* The same for the words of a walk that may have lost its way: who knows whether they are there. */
static bool doubtful_words_are(const CallStack *s, uint32_t from, Readable r)
{
    for (uint32_t i = from; i < s->n_words; i++)
        if (!is_readable(&r, (uintptr_t)s->words[i].at) || *s->words[i].at != s->words[i].value)
            return false;
    return true;
}

static bool are_as_before(const CallStack *s, uint32_t from, const uintptr_t *frame)
{
    return s->sure ? words_are(s, from) : doubtful_words_are(s, from, readable_at(frame));
}

bool call_stack_is(const CallStack *s, uintptr_t address, const uintptr_t *frame)
{
    return s->frame == frame && frame && s->frames[0].address == address
           && are_as_before(s, 0, frame);
}

/* -- a walk -- */

typedef struct {
    CallStack *s;
    const uintptr_t *frame;
    Readable readable;
    uint32_t n, n_words;
    uint32_t inner; /* frames that are not skipped */
    uint32_t site;  /* or the last frame so far */
    bool has_site;
    uint32_t last; /* of the last stack, frames before this one are further inside than this walk */
    bool whole, too_deep, sure;
} Walk;

static bool read_word(Walk *w, uintptr_t at, uintptr_t *value)
{
    if (!is_readable(&w->readable, at) || w->n_words == frames_most(w->s) * FRAME_WORDS)
        return false;
    *value = *(const uintptr_t *)at;
    w->s->new_words[w->n_words++] = (StackWord){(const uintptr_t *)at, *value};
    return true;
}

/* Goes from F to the frame of its caller. False: there is none, or it cannot be found. */
static bool go_up(Walk *w, const FrameRule *rule, StackFrame *f)
{
    uintptr_t cfa, pointer = 0;
    if (rule->base == FRAME_UNKNOWN || rule->base == FRAME_OUTERMOST)
        return false;
    if (rule->base == FRAME_OF_STACK_POINTER)
        cfa = f->stack_pointer + (uintptr_t)(intptr_t)rule->offset;
    else if (!read_word(w, f->frame_pointer_at, &pointer))
        return false;
    else
        cfa = pointer + (uintptr_t)(intptr_t)rule->offset;
    if (rule->base == FRAME_ALIGNED && !read_word(w, cfa, &cfa))
        return false;
    if (cfa % WORD != 0 || cfa <= f->stack_pointer || !read_word(w, cfa - WORD, &f->address))
        return false;
    if (rule->base == FRAME_ALIGNED)
        f->frame_pointer_at = pointer + (uintptr_t)(intptr_t)rule->saved;
    else if (rule->saved != 0)
        f->frame_pointer_at = cfa + (uintptr_t)(intptr_t)rule->saved;
    f->stack_pointer = cfa;
    return true;
}

/* The frame of the last stack that is F, if all that follows is as it was. Its number; 0: there is
 * none. */
static uint32_t find_last(Walk *w, const StackFrame *f)
{
    const CallStack *s = w->s;
    uint32_t at = w->last;
    while (at < s->n && s->frames[at].stack_pointer < f->stack_pointer)
        at++;
    w->last = at;
    if (at >= s->n || at <= s->site)
        return 0;
    const StackFrame *last = &s->frames[at];
    bool same_depth = w->inner == last->inner;
    if (last->stack_pointer != f->stack_pointer || last->address != f->address
        || last->frame_pointer_at != f->frame_pointer_at || last->runtime
        || !(same_depth || (!s->too_deep && w->inner + s->counted - last->inner <= s->most))
        || !are_as_before(s, last->words, w->frame))
        return 0;
    return at;
}

/* Adds F, which is at P. False: the stack ends before it. */
static bool add_frame(Walk *w, StackFrame *f, const KnownAddress *p)
{
    CallStack *s = w->s;
    f->module = p->module;
    f->offset = p->offset;
    f->skipped = p->layer;
    f->runtime = p->runtime;
    if (w->n == frames_most(s) || (w->has_site && !p->module))
        return false;
    bool calls_runtime =
        p->rule.base == FRAME_OUTERMOST && w->n > 0 && s->new_frames[w->n - 1].runtime;
    if (!p->layer && !p->runtime && !calls_runtime && w->inner >= s->most) {
        w->too_deep = w->sure = true;
        return false;
    }
    f->inner = w->inner;
    s->new_frames[w->n] = *f;
    if (!w->has_site)
        w->site = w->n;
    w->has_site |= !p->layer;
    w->inner += !p->layer;
    w->n++;
    return p->module != NULL;
}

/* What has called the outermost function of the application is no part of the stack: the C library,
 * and in the program the function that called that. */
static void skip_last(Walk *w)
{
    StackFrame *frames = w->s->new_frames;
    uint32_t n = w->n;
    if (w->sure && w->whole && n > w->site + 1 && frames[n - 2].runtime)
        frames[n - 1].runtime = true;
    for (; w->whole && n > w->site + 1 && frames[n - 1].runtime; n--)
        frames[n - 1].skipped = true;
    for (; n > w->site + 1 && frames[n - 1].inner >= w->s->most; n--)
        frames[n - 1].skipped = true;
}

/* Puts the new frames, and words, before those of the last stack from frame KEPT on. */
static void join(Walk *w, uint32_t kept)
{
    CallStack *s = w->s;
    uint32_t from = s->frames[kept].words, moved = w->n_words - from;
    memmove(s->frames + w->n, s->frames + kept, (s->n - kept) * sizeof *s->frames);
    memmove(s->words + w->n_words, s->words + from, (s->n_words - from) * sizeof *s->words);
    uint32_t inner = w->inner - s->frames[w->n].inner;
    s->n = w->n + s->n - kept;
    s->n_words += moved;
    for (uint32_t i = w->n; i < s->n; i++) {
        s->frames[i].words += moved;
        s->frames[i].inner += inner;
    }
    s->counted += inner;
}

static bool fits(const Walk *w, uint32_t kept)
{
    const CallStack *s = w->s;
    return w->n + (s->n - kept) <= frames_most(s)
           && w->n_words + (s->n_words - s->frames[kept].words) <= frames_most(s) * FRAME_WORDS;
}

static void end(Walk *w, uint32_t kept)
{
    CallStack *s = w->s;
    if (kept > 0) {
        join(w, kept);
    } else {
        skip_last(w);
        s->n = w->n;
        s->n_words = w->n_words;
        s->whole = w->whole;
        s->too_deep = w->too_deep;
        s->sure = w->sure;
    }
    memcpy(s->frames, s->new_frames, w->n * sizeof *s->frames);
    memcpy(s->words, s->new_words, w->n_words * sizeof *s->words);
    s->kept = w->n;
    s->site = w->site;
    if (kept > 0)
        return;
    s->counted = 0;
    for (uint32_t i = 0; i < s->n; i++)
        s->counted += !s->frames[i].skipped;
}

bool call_stack_walk(CallStack *s, KnownAddresses *known, uintptr_t address, const uintptr_t *frame)
{
    Walk w = {.s = s, .frame = frame, .readable = readable_at(frame)};
    StackFrame f = {.address = address,
                    .stack_pointer = (uintptr_t)(frame + 2),
                    .frame_pointer_at = (uintptr_t)frame};
    uint32_t kept = 0;
    for (;;) {
        bool unloaded = false;
        f.words = w.n_words;
        if (w.n > 0 && (kept = find_last(&w, &f)) > 0) {
            if (fits(&w, kept))
                break;
            kept = 0;
        }
        const KnownAddress *p = known_address(known, f.address, &unloaded);
        if (unloaded)
            call_stack_forget(s);
        if (!p) {
            call_stack_forget(s);
            return false;
        }
        if (!add_frame(&w, &f, p))
            break;
        FrameRule rule = p->rule;
        w.whole = w.sure = rule.base == FRAME_OUTERMOST;
        if (!go_up(&w, &rule, &f))
            break;
        if (f.address == 0) { /* as of a function that has a stack of its own making */
            w.whole = true;
            break;
        }
    }
    end(&w, kept);
    s->frame = frame;
    return true;
}
