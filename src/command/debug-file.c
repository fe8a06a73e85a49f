/* SPDX-License-Identifier: BSD-3-Clause */
/* debug-file.c: see debug-file.h. */
#include "config.h"

#include "debug-file.h"

#ifdef HAVE_LIBDW

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/regular.h"

/* -- files of code -- */

/* A recording, or another file of code, names them. Nothing in them is trusted. */

#ifdef HAVE_LIBDW

#define DEBUG_FOLDER "/usr/lib/debug"

/* The bytes of a section in memory, if that is more than in the file. */
static guint64 grown_size(Elf *elf, Elf_Scn *section)
{
    /* the form before ELF had one: "ZLIB", and the size in eight bytes, the highest first */
    enum { OLD_HEADER = 12 };
    GElf_Shdr header;
    GElf_Chdr compressed;
    size_t names;
    if (!gelf_getshdr(section, &header))
        return 0;
    if (header.sh_flags & SHF_COMPRESSED)
        return gelf_getchdr(section, &compressed) != NULL ? compressed.ch_size : G_MAXUINT64;
    const char *name =
        elf_getshdrstrndx(elf, &names) == 0 ? elf_strptr(elf, names, header.sh_name) : NULL;
    if (!name || !g_str_has_prefix(name, ".zdebug"))
        return 0;
    Elf_Data *data = elf_rawdata(section, NULL);
    guint64 size = 0;
    for (guint i = 4; data != NULL && data->d_size >= OLD_HEADER && i < OLD_HEADER; i++)
        size = size << 8 | ((const guint8 *)data->d_buf)[i];
    return size;
}

/* Whether the compressed sections of a file of BYTES are of a credible size. */
static gboolean is_bounded(Elf *elf, guint64 bytes)
{
    enum { FACTOR = 64, SMALL = 64 << 20 };
    guint64 left = bytes < G_MAXUINT64 / FACTOR - SMALL ? bytes * FACTOR + SMALL : G_MAXUINT64;
    for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s)) != NULL;) {
        guint64 size = grown_size(elf, s);
        if (size > left)
            return FALSE;
        left -= size;
    }
    return TRUE;
}

static gboolean code_has_id(Elf *elf, const guint8 *id, gsize n)
{
    const void *own;
    ssize_t bytes = dwelf_elf_gnu_build_id(elf, &own);
    return bytes > 0 && (gsize)bytes == n && memcmp(own, id, n) == 0;
}

/* ID NULL: any. */
static int code_open(const char *path, const guint8 *id, gsize n)
{
    guint64 bytes;
    char magic[SELFMAG];
    int fd = regular_open(path, &bytes, NULL, NULL);
    if (fd < 0)
        return -1;
    elf_version(EV_CURRENT);
    Elf *elf = regular_read(fd, 0, magic, sizeof magic) && memcmp(magic, ELFMAG, SELFMAG) == 0
                   ? elf_begin(fd, ELF_C_READ_MMAP, NULL)
                   : NULL;
    gboolean good = elf != NULL && is_bounded(elf, bytes) && (!id || code_has_id(elf, id, n));
    elf_end(elf);
    if (good)
        return fd;
    close(fd);
    return -1;
}

/* Opens the file at PATH if it is a regular file in ELF's format, whose compressed sections are not
 * far larger than the file. It does not wait, and opens no device. Returns the descriptor, which
 * the caller closes, or -1. */
static int code_file_open(const char *path)
{
    return code_open(path, NULL, 0);
}

/* Opens it, in the folder of debug information alone. */
static int open_shared(const char *folder, const char *name, char **found)
{
    g_autofree char *path = g_canonicalize_filename(name, folder);
    int fd = g_str_has_prefix(path, DEBUG_FOLDER "/") ? code_file_open(path) : -1;
    if (fd >= 0)
        *found = strdup(path);
    return fd;
}

/* Opens the debug information of the file at PATH, which calls it NAME (.gnu_debuglink): a file in
 * PATH's folder, in .debug there, or in /usr/lib/debug, whose build-id is ID of N bytes. A NAME
 * with folders (.gnu_debugaltlink) is opened in /usr/lib/debug alone. Returns as code_file_open
 * does; *FOUND is the path, which the caller frees with free(). */
static int code_file_open_debug(const char *path, const char *name, const guint8 *id, gsize n,
                                char **found)
{
    g_autofree char *folder = g_path_get_dirname(path);
    if (strchr(name, '/') != NULL)
        return open_shared(folder, name, found);
    g_autofree char *beside = g_build_filename(folder, name, NULL);
    g_autofree char *below = g_build_filename(folder, ".debug", name, NULL);
    g_autofree char *apart = g_build_filename(DEBUG_FOLDER, folder, name, NULL);
    const char *const paths[] = {beside, below, apart};
    int fd = -1;
    for (guint i = 0; fd < 0 && i < G_N_ELEMENTS(paths); i++)
        if ((fd = code_open(paths[i], id, n)) >= 0)
            *found = strdup(paths[i]);
    return fd;
}

#endif

struct DebugFile {
    Dwfl *dwfl;
    Dwfl_Module *module;
    GElf_Addr bias; /* of addresses in libdwfl */
};

/* libdwfl would ask a server of debuginfod. */
static void forbid_network(void)
{
    g_unsetenv("DEBUGINFOD_URLS");
}

/* The file of debug information that a file names. libdwfl's own function opens whatever has that
 * name, and waits for a pipe. */
static int find_debuginfo(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
                          const char *path, const char *link, GElf_Word checksum, char **found)
{
    const unsigned char *id;
    GElf_Addr at;
    int n = dwfl_module_build_id(module, &id, &at);
    (void)user, (void)name, (void)base, (void)checksum;
    return path != NULL && link != NULL && n > 0
               ? code_file_open_debug(path, link, id, (gsize)n, found)
               : -1;
}

static const Dwfl_Callbacks callbacks = {.find_debuginfo = find_debuginfo,
                                         .section_address = dwfl_offline_section_address};

void debug_file_close(DebugFile *d)
{
    if (!d)
        return;
    dwfl_end(d->dwfl);
    g_free(d);
}

static DebugFile *open_file(const char *path)
{
    int fd = code_file_open(path);
    if (fd < 0)
        return NULL;
    DebugFile *d = g_new0(DebugFile, 1);
    forbid_network();
    d->dwfl = dwfl_begin(&callbacks);
    if (d->dwfl != NULL) {
        dwfl_report_begin(d->dwfl);
        d->module = dwfl_report_offline(d->dwfl, path, path, fd);
        dwfl_report_end(d->dwfl, NULL, NULL);
    }
    if (!d->module)
        close(fd);
    else if (dwfl_module_getelf(d->module, &d->bias) != NULL)
        return d;
    if (d->dwfl != NULL)
        dwfl_end(d->dwfl);
    g_free(d);
    return NULL;
}

static gboolean has_id(DebugFile *d, const guint8 *id, gsize n)
{
    const unsigned char *own;
    GElf_Addr at;
    int bytes = dwfl_module_build_id(d->module, &own, &at);
    return n == 0 || (bytes > 0 && (gsize)bytes == n && memcmp(own, id, n) == 0);
}

/* The file at PATH, if it has that build-id. */
static DebugFile *open_with_id(const char *path, const guint8 *id, gsize n,
                               DebugFileProblem *problem)
{
    DebugFile *d = open_file(path);
    *problem = !d ? DEBUG_FILE_MISSING : has_id(d, id, n) ? DEBUG_FILE_GOOD : DEBUG_FILE_CHANGED;
    if (*problem == DEBUG_FILE_GOOD)
        return d;
    debug_file_close(d);
    return NULL;
}

static char *hexadecimal(const guint8 *id, gsize n)
{
    GString *s = g_string_new(NULL);
    for (gsize i = 0; i < n; i++)
        g_string_append_printf(s, "%02x", id[i]);
    return g_string_free(s, FALSE);
}

/* The folder in which debuginfod keeps what it has fetched. */
static char *cache_folder(void)
{
    const char *given = g_getenv("DEBUGINFOD_CACHE_PATH");
    g_autofree char *old = g_build_filename(g_get_home_dir(), ".debuginfod_client_cache", NULL);
    if (given != NULL && *given != '\0')
        return g_strdup(given);
    if (g_file_test(old, G_FILE_TEST_IS_DIR))
        return g_steal_pointer(&old);
    return g_build_filename(g_get_user_cache_dir(), "debuginfod_client", NULL);
}

/* A file that is known by its build-id. */
static DebugFile *open_by_id(const guint8 *id, gsize n)
{
    if (n < 2)
        return NULL;
    g_autofree char *hex = hexadecimal(id, n), *cache = cache_folder();
    g_autofree char *first = g_strndup(hex, 2);
    g_autofree char *name = g_strconcat(hex + 2, ".debug", NULL);
    g_autofree char *debug = g_build_filename("/usr/lib/debug/.build-id", first, name, NULL);
    g_autofree char *info = g_build_filename(cache, hex, "debuginfo", NULL);
    g_autofree char *program = g_build_filename(cache, hex, "executable", NULL);
    const char *const paths[] = {debug, info, program};
    DebugFile *d = NULL;
    DebugFileProblem problem;
    for (guint i = 0; !d && i < G_N_ELEMENTS(paths); i++)
        d = open_with_id(paths[i], id, n, &problem);
    return d;
}

static gboolean has_lines(DebugFile *d)
{
    Dwarf_Addr bias;
    return dwfl_module_getdwarf(d->module, &bias) != NULL;
}

DebugFile *debug_file_open(const char *path, const guint8 *id, gsize n, DebugFileProblem *problem)
{
    *problem = DEBUG_FILE_MISSING;
    DebugFile *found = path != NULL ? open_with_id(path, id, n, problem) : NULL;
    if (found != NULL && has_lines(found))
        return found;
    DebugFile *other = open_by_id(id, n);
    if (!other)
        return found;
    debug_file_close(found);
    *problem = DEBUG_FILE_GOOD;
    return other;
}

/* -- addresses -- */

/* The file and line at which the function SCOPE was inlined. */
static const char *call_file(Dwarf_Die *scope, Dwarf_Die *unit, guint *line)
{
    Dwarf_Attribute attribute;
    Dwarf_Word number;
    Dwarf_Files *files;
    size_t n;
    *line = 0;
    if (dwarf_formudata(dwarf_attr(scope, DW_AT_call_line, &attribute), &number) == 0)
        *line = (guint)number;
    if (dwarf_formudata(dwarf_attr(scope, DW_AT_call_file, &attribute), &number) != 0
        || dwarf_getsrcfiles(unit, &files, &n) != 0 || number >= n)
        return NULL;
    return dwarf_filesrc(files, number, NULL, NULL);
}

static gboolean is_function(Dwarf_Die *scope)
{
    int tag = dwarf_tag(scope);
    return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
}

/* Gives the functions that the address is in by the scopes of DWARF. FALSE: there are none. */
static gboolean give_scopes(DebugFile *d, Dwarf_Addr address, const char *file, guint line,
                            DebugFrame frame, gpointer data)
{
    Dwarf_Addr bias;
    Dwarf_Die *unit = dwfl_module_addrdie(d->module, address, &bias);
    Dwarf_Die *innermost = NULL, *scopes = NULL;
    gboolean given = FALSE;
    int n = 0;
    /* The first one is the innermost; the scopes around it are not those around its code. */
    if (unit != NULL && dwarf_getscopes(unit, address - bias, &innermost) > 0)
        n = dwarf_getscopes_die(&innermost[0], &scopes);
    for (int i = 0; i < n; i++) {
        if (!is_function(&scopes[i]))
            continue;
        given = TRUE;
        frame(data, dwarf_diename(&scopes[i]), file, line);
        if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram)
            break;
        file = call_file(&scopes[i], unit, &line);
    }
    free(innermost);
    free(scopes);
    return given;
}

DebugFileProblem debug_file_frames(DebugFile *d, guint64 offset, DebugFrame frame, gpointer data)
{
    if (!d)
        return DEBUG_FILE_GOOD;
    Dwarf_Addr address = offset + d->bias;
    int line = 0;
    Dwfl_Line *at = dwfl_module_getsrc(d->module, address);
    const char *file = at != NULL ? dwfl_lineinfo(at, NULL, &line, NULL, NULL, NULL) : NULL;
    if (give_scopes(d, address, file, (guint)MAX(line, 0), frame, data))
        return at != NULL ? DEBUG_FILE_GOOD : DEBUG_FILE_NO_LINES;
    const char *symbol = dwfl_module_addrname(d->module, address);
    if (symbol != NULL || file != NULL)
        frame(data, symbol, file, (guint)MAX(line, 0));
    return file != NULL     ? DEBUG_FILE_GOOD
           : symbol != NULL ? DEBUG_FILE_NO_LINES
                            : DEBUG_FILE_NO_NAMES;
}

#else

DebugFile *debug_file_open(const char *path, const guint8 *id, gsize n, DebugFileProblem *problem)
{
    (void)path, (void)id, (void)n;
    *problem = DEBUG_FILE_UNSUPPORTED;
    return NULL;
}

void debug_file_close(DebugFile *d)
{
    (void)d;
}

DebugFileProblem debug_file_frames(DebugFile *d, guint64 offset, DebugFrame frame, gpointer data)
{
    (void)d, (void)offset, (void)frame, (void)data;
    return DEBUG_FILE_GOOD;
}

#endif
