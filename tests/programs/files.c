/* SPDX-License-Identifier: BSD-3-Clause */
/* files.c: files that MPI finds otherwise than MPI left them: there before the run, made or removed
 * by the application itself, never there. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static int rank;

static void make(const char *name, long bytes)
{
    FILE *f = fopen(name, "w");
    if (!f || ftruncate(fileno(f), bytes) != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    fclose(f);
}

static MPI_File open_file(MPI_Comm comm, const char *name, int mode, const char *wanted)
{
    MPI_File f = MPI_FILE_NULL;
    int code = MPI_File_open(comm, name, mode, MPI_INFO_NULL, &f), class = MPI_SUCCESS;
    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    if (rank == 0)
        printf("%s: %s, wanted %s\n", name, code == MPI_SUCCESS ? "open" : "error", wanted);
    return f;
}

int main(void)
{
    MPI_File f;
    MPI_Offset bytes;
    MPI_Status status;
    char line[64];
    int n;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        make("input", 1000);
        make("doomed", 10);
        unlink("output");
    }
    MPI_Barrier(MPI_COMM_WORLD);

    /* there before: read to the end by all together and by each alone */
    f = open_file(MPI_COMM_WORLD, "input", MPI_MODE_RDONLY, "open");
    MPI_File_get_size(f, &bytes);
    MPI_File_seek(f, bytes - 24, MPI_SEEK_SET);
    MPI_File_read(f, line, sizeof line, MPI_BYTE, &status);
    MPI_Get_count(&status, MPI_BYTE, &n); /* 24 */
    MPI_File_close(&f);
    f = open_file(MPI_COMM_SELF, "input", MPI_MODE_RDONLY, "open");
    MPI_File_get_size(f, &bytes);
    MPI_File_close(&f);
    if (rank == 0)
        MPI_File_delete("doomed", MPI_INFO_NULL);

    /* never there, and nowhere to be made */
    open_file(MPI_COMM_WORLD, "missing", MPI_MODE_RDONLY, "error");
    open_file(MPI_COMM_WORLD, "no/such/directory", MPI_MODE_RDWR | MPI_MODE_CREATE, "error");
    if (rank == 0)
        MPI_File_delete("missing", MPI_INFO_NULL);

    /* made by MPI, removed by the application, each time but the last; then made anew by the
     * application, and larger */
    for (int i = 0; i < 3; i++) {
        f = open_file(MPI_COMM_WORLD, "output", MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_EXCL,
                      "open");
        MPI_File_write_at_all(f, 8 * rank, &bytes, 8, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_File_close(&f);
        if (rank == 0 && i < 2)
            unlink("output");
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0)
        MPI_File_delete("output", MPI_INFO_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        make("output", 300);
    MPI_Barrier(MPI_COMM_WORLD);
    f = open_file(MPI_COMM_WORLD, "output", MPI_MODE_RDWR, "open");
    MPI_File_get_size(f, &bytes);
    MPI_File_read_at(f, 290, line, sizeof line, MPI_BYTE, &status);
    MPI_Get_count(&status, MPI_BYTE, &n); /* 10 */
    MPI_File_close(&f);
    MPI_Finalize();
    return 0;
}
