/* SPDX-License-Identifier: BSD-3-Clause */
/* kernel.c: see system.h. cgroups(7) and proc(5) describe the formats. */
#include "system.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool kernel_text(const char *path, char text[KERNEL_TEXT])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t n = 0;
    ssize_t more = 0;
    while (fd >= 0 && n < KERNEL_TEXT - 1 && (more = read(fd, text + n, KERNEL_TEXT - 1 - n)) > 0)
        n += (size_t)more;
    if (fd >= 0)
        close(fd);
    text[n] = '\0';
    return fd >= 0 && more >= 0;
}

static bool number_at(const char *text, uint64_t *n)
{
    char *end;
    text += strspn(text, " \t");
    *n = strtoull(text, &end, 10);
    return end > text;
}

uint64_t kernel_number(const char *path, uint64_t otherwise)
{
    char text[KERNEL_TEXT];
    uint64_t n;
    return kernel_text(path, text) && number_at(text, &n) ? n : otherwise;
}

uint64_t kernel_number_of(const char *path, const char *key, uint64_t otherwise)
{
    char text[KERNEL_TEXT];
    size_t length = strlen(key);
    uint64_t n;
    if (!kernel_text(path, text))
        return otherwise;
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, length) == 0 && (line[length] == ' ' || line[length] == '\t')
            && number_at(line + length, &n))
            return n;
    }
    return otherwise;
}

/* -- control groups -- */

/* The differences between the versions: the type of a mount, and the files of a group. */
static const struct {
    const char *type, *limit, *high, *used, *around, *files[2];
} versions[] = {
    {"cgroup",
     "memory.limit_in_bytes",
     NULL,
     "memory.usage_in_bytes",
     "hierarchical_memory_limit",
     {"total_inactive_file", "total_active_file"}},
    /* Above memory.high the kernel does not kill processes of the group, but slows them down. */
    {"cgroup2",
     "memory.max",
     "memory.high",
     "memory.current",
     NULL,
     {"inactive_file", "active_file"}},
};
enum { VERSIONS = sizeof versions / sizeof *versions };

/* -- the group -- */

/* Whether WORD is in LIST, whose words are separated by commas. */
static bool lists(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (; *list; list += strcspn(list, ","), list += *list == ',')
        if (strncmp(list, word, n) == 0 && (list[n] == ',' || list[n] == '\0'))
            return true;
    return false;
}

/* Finds the paths of the process's groups in TEXT; NULL if there is none. Lines are
 * "0::/some/group" and "4:memory,hugetlb:/some/group". */
static void find_paths(char *text, const char *paths[VERSIONS])
{
    for (char *line = text, *rest; *line; line = rest) {
        rest = line + strcspn(line, "\n");
        if (*rest)
            *rest++ = '\0';
        char *names = strchr(line, ':'), *path = names ? strchr(++names, ':') : NULL;
        if (!path)
            continue;
        *path++ = '\0';
        if (*names == '\0' || lists(names, "memory"))
            paths[*names == '\0'] = path;
    }
}

/* -- the mount of the groups -- */

/* The next word of LINE, or NULL. */
static char *next_word(char **line)
{
    char *word = *line;
    if (!word || *word == '\0')
        return NULL;
    *line += strcspn(word, " ");
    if (**line)
        *(*line)++ = '\0';
    return word;
}

/* Decodes a path, in which spaces and the like are written as \040. */
static void unescape(char *text)
{
    char *out = text;
    for (const char *p = text; *p; out++) {
        bool escaped = *p == '\\' && strspn(p + 1, "01234567") >= 3;
        *out = escaped ? (char)((p[1] - '0') << 6 | (p[2] - '0') << 3 | (p[3] - '0')) : *p;
        p += escaped ? 4 : 1;
    }
    *out = '\0';
}

typedef struct {
    const char *root, *point;
    int version;
} Mount; /* ROOT is the group that is mounted at POINT */

/* Parses "36 35 0:29 /root /point rw,relatime shared:1 - cgroup source rw,memory", which it
 * changes. Returns false if it is no mount of groups that limit memory. */
static bool parse_mount(char *line, Mount *m)
{
    for (int i = 0; i < 3; i++)
        next_word(&line);
    char *root = next_word(&line), *point = next_word(&line), *word;
    while ((word = next_word(&line)) && strcmp(word, "-") != 0)
        ;
    const char *type = next_word(&line);
    next_word(&line);
    const char *options = next_word(&line);
    if (!type || !options)
        return false;
    for (m->version = 0; m->version < VERSIONS; m->version++)
        if (strcmp(type, versions[m->version].type) == 0)
            break;
    if (m->version == VERSIONS || (m->version == 0 && !lists(options, "memory")))
        return false;
    unescape(root);
    unescape(point);
    m->root = root;
    m->point = point;
    return true;
}

/* PATH relative to the group ROOT, which contains it: "" or "/more"; NULL if it does not. Roots and
 * paths outside of the process's own namespace begin with "/..". */
static const char *below(const char *path, const char *root)
{
    size_t n = strcmp(root, "/") == 0 ? 0 : strlen(root);
    if (strncmp(path, root, n) != 0 || (path[n] != '/' && path[n] != '\0'))
        return NULL;
    path += n;
    if (strncmp(path, "/..", 3) == 0 && (path[3] == '/' || path[3] == '\0'))
        return NULL;
    return strcmp(path, "/") == 0 ? "" : path;
}

typedef struct {
    Cgroups *groups;
    const char *root;
    const char *paths[VERSIONS];
    size_t roots[VERSIONS]; /* length of the root of the chosen mount, + 1 */
} Search;

/* Examines a mount. Of several mounts the one that shows more of the surrounding groups is chosen,
 * and of such mounts the last. */
static void look_at_mount(Search *s, char *line)
{
    Mount m;
    if (!parse_mount(line, &m) || !s->paths[m.version])
        return;
    const char *path = below(s->paths[m.version], m.root);
    size_t length = strlen(m.root) + 1;
    if (!path || (s->roots[m.version] > 0 && length > s->roots[m.version]))
        return;
    /* A truncated name is too long for its files to be opened; the surrounding groups still
     * work. */
    snprintf(s->groups->of[m.version].folder, CGROUP_PATH, "%s%s%s", s->root, m.point, path);
    s->groups->of[m.version].top = strlen(s->root) + strlen(m.point);
    s->roots[m.version] = length;
}

/* Examines all mounts, in pieces, because there may be many. A line longer than TEXT is left
 * out. */
static void look_at_mounts(Search *s, int fd)
{
    char text[KERNEL_TEXT];
    size_t n = 0;
    bool whole = true; /* whether TEXT begins with the beginning of a line */
    ssize_t more;
    while ((more = read(fd, text + n, sizeof text - n)) > 0) {
        char *line = text, *end;
        n += (size_t)more;
        while ((end = memchr(line, '\n', n))) {
            *end++ = '\0';
            if (whole)
                look_at_mount(s, line);
            whole = true;
            n -= (size_t)(end - line);
            line = end;
        }
        if (n == sizeof text) {
            whole = false;
            n = 0;
        }
        memmove(text, line, n);
    }
}

void cgroup_find(Cgroups *groups, const char *root)
{
    char text[KERNEL_TEXT], path[CGROUP_PATH];
    Search s = {.groups = groups, .root = root};
    for (int v = 0; v < VERSIONS; v++)
        *groups->of[v].folder = '\0';
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    if (!kernel_text(path, text))
        return;
    find_paths(text, s.paths);
    snprintf(path, sizeof path, "%s/proc/self/mountinfo", root);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    look_at_mounts(&s, fd);
    close(fd);
}

/* -- its limits -- */

/* Writes FOLDER/NAME to P. */
typedef struct {
    char text[CGROUP_PATH + 64];
} Path;
static const char *file_of(Path *p, const char *folder, const char *name)
{
    snprintf(p->text, sizeof p->text, "%s/%s", folder, name);
    return p->text;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t limit_of(const char *folder, int version)
{
    Path p;
    uint64_t limit = kernel_number(file_of(&p, folder, versions[version].limit), UINT64_MAX);
    if (versions[version].high)
        limit =
            least(limit, kernel_number(file_of(&p, folder, versions[version].high), UINT64_MAX));
    if (versions[version].around)
        limit = least(limit, kernel_number_of(file_of(&p, folder, "memory.stat"),
                                              versions[version].around, UINT64_MAX));
    return limit;
}

static uint64_t used_of(const char *folder, int version)
{
    Path p;
    uint64_t used = kernel_number(file_of(&p, folder, versions[version].used), 0);
    file_of(&p, folder, "memory.stat");
    for (size_t i = 0; i < sizeof versions->files / sizeof *versions->files; i++) {
        uint64_t files = kernel_number_of(p.text, versions[version].files[i], 0);
        used -= least(files, used);
    }
    return used;
}

static uint64_t memory_of(const char *folder, int version, bool left)
{
    uint64_t all = limit_of(folder, version);
    if (!left || all == UINT64_MAX)
        return all;
    return all - least(used_of(folder, version), all);
}

uint64_t cgroup_memory(const Cgroups *groups, bool left)
{
    uint64_t result = UINT64_MAX;
    for (int v = 0; v < VERSIONS; v++) {
        char folder[CGROUP_PATH];
        size_t end = strlen(groups->of[v].folder), top = groups->of[v].top;
        memcpy(folder, groups->of[v].folder, end + 1);
        while (end > 0) {
            result = least(result, memory_of(folder, v, left));
            if (end <= top)
                break;
            while (folder[--end] != '/')
                ;
            folder[end] = '\0';
        }
    }
    return result;
}
