/* SPDX-License-Identifier: BSD-3-Clause */
/* hostile: gives its arguments to MPI wherever that takes text: keys and values of MPI_Info, names
 * of objects, files, ports and data representations, strings of errors. The tests' texts would be
 * code in a proxy that had them as they are. Errors are let pass. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int code;

static void name_objects(const char *text)
{
    char got[MPI_MAX_OBJECT_NAME];
    int length, value;
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Win win;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_set_name(comm, text);
    MPI_Comm_get_name(comm, got, &length);
    MPI_Comm_free(&comm);
    MPI_Type_dup(MPI_INT, &type);
    MPI_Type_set_name(type, text);
    MPI_Type_get_name(type, got, &length);
    MPI_Type_free(&type);
    MPI_Win_create(&value, sizeof value, 1, MPI_INFO_NULL, MPI_COMM_SELF, &win);
    MPI_Win_set_name(win, text);
    MPI_Win_get_name(win, got, &length);
    MPI_Win_free(&win);
}

/* As keys and as values; MPI takes no keys and values that are longer. */
static void set_info(const char *text)
{
    char got[MPI_MAX_INFO_VAL + 1];
    int flag;
    MPI_Info info;
    if (strlen(text) == 0 || strlen(text) >= MPI_MAX_INFO_VAL)
        return;
    MPI_Info_create(&info);
    MPI_Info_set(info, "key", text);
    MPI_Info_get(info, "key", MPI_MAX_INFO_VAL, got, &flag);
    if (strlen(text) < MPI_MAX_INFO_KEY) {
        MPI_Info_set(info, text, text);
        MPI_Info_get(info, text, MPI_MAX_INFO_VAL, got, &flag);
        MPI_Info_delete(info, text);
    }
    MPI_Info_free(&info);
}

/* Files that cannot be opened, and one that can but is not seen as these data. */
static void name_files(const char *text, const char *own)
{
    char path[256];
    MPI_File file;
    if (snprintf(path, sizeof path, "nothing-%s", text) < (int)sizeof path) {
        MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
        MPI_File_delete(path, MPI_INFO_NULL);
    }
    MPI_File_open(MPI_COMM_SELF, own, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, text, MPI_INFO_NULL);
    MPI_File_close(&file);
}

static int extent(MPI_Datatype type, MPI_Aint *bytes, void *extra)
{
    MPI_Aint low;
    (void)extra;
    return MPI_Type_get_extent(type, &low, bytes);
}

static void name_others(const char *text)
{
    char got[MPI_MAX_ERROR_STRING], packed[64];
    int value = 1, length, index;
    MPI_Aint position = 0;
    MPI_Add_error_string(code, text);
    MPI_Error_string(code, got, &length);
    if (strlen(text) < MPI_MAX_DATAREP_STRING)
        MPI_Register_datarep(text, MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent, NULL);
    MPI_Pack_external(text, &value, 1, MPI_INT, packed, sizeof packed, &position);
    MPI_T_cvar_get_index(text, &index);
}

int main(int argc, char **argv)
{
    char own[64];
    int rank, provided, class;
    MPI_Init(NULL, NULL);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    snprintf(own, sizeof own, "hostile.%d", rank);
    for (int i = 1; i < argc; i++) {
        name_objects(argv[i]);
        set_info(argv[i]);
        name_files(argv[i], own);
        name_others(argv[i]);
        MPI_Barrier(MPI_COMM_WORLD);
        /* MPICH's launcher takes lines */
        if (rank == 0 && strlen(argv[i]) < 128 && !strchr(argv[i], '\n')) {
            MPI_Publish_name("service", MPI_INFO_NULL, argv[i]);
            MPI_Unpublish_name("service", MPI_INFO_NULL, argv[i]);
        }
    }
    MPI_T_finalize();
    MPI_Finalize();
    remove(own);
    return 0;
}
