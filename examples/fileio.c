/* SPDX-License-Identifier: BSD-3-Clause */
/* fileio: one file written and read back through each family of MPI-IO calls.
 *
 *   fileio [-n RECORDS] [-f FILE]
 *
 * FILE (default: wend-fileio.PID of rank 0 in $TMPDIR or /tmp) gets RECORDS records of four
 * integers of each rank. First part: explicit offsets and own file pointers, blocking and not.
 * Second: collective calls, also split, and a view by which ranks' records interleave. Third: the
 * shared pointer, in order of ranks and first come, first served. Each part checks what it reads;
 * the file is deleted at the end. */
#include <string.h>

#include "example.h"

enum { INTS = 4 };

static int rank, size, n = 6;
static char *name;

static int *records(int salt)
{
    int *r = allocate(sizeof *r * INTS * n);
    for (int i = 0; i < INTS * n; i++)
        r[i] = (rank * n * INTS + i) * 3 + salt;
    return r;
}

static void check_equal(const int *got, const int *expected)
{
    CHECK(memcmp(got, expected, sizeof *got * INTS * n) == 0);
}

static MPI_File open_file(int more)
{
    MPI_File f;
    CHECK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | more, MPI_INFO_NULL,
                        &f)
          == MPI_SUCCESS);
    return f;
}

static void individual(void)
{
    int *out = records(0), *in = records(99), count;
    MPI_Offset bytes = (MPI_Offset)sizeof *out * INTS * n, mine = rank * bytes, where;
    MPI_File f = open_file(0);
    MPI_Status status;
    MPI_Request request;

    MPI_File_write_at(f, mine, out, INTS * n, MPI_INT, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == INTS * n);
    MPI_File_read_at(f, mine, in, INTS * n, MPI_INT, MPI_STATUS_IGNORE);
    check_equal(in, out);

    free(out);
    out = records(1);
    MPI_File_seek(f, mine, MPI_SEEK_SET);
    for (int i = 0; i < n; i++)
        MPI_File_write(f, out + INTS * i, INTS, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_get_position(f, &where);
    CHECK(where == mine + bytes);
    MPI_File_seek(f, -bytes, MPI_SEEK_CUR);
    for (int i = 0; i < n; i++)
        MPI_File_read(f, in + INTS * i, INTS, MPI_INT, MPI_STATUS_IGNORE);
    check_equal(in, out);

    free(out);
    out = records(2);
    MPI_File_iwrite_at(f, mine, out, INTS * n, MPI_INT, &request);
    MPI_Wait(&request, &status);
    MPI_File_iread_at(f, mine, in, INTS * n, MPI_INT, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_equal(in, out);
    MPI_File_close(&f);
    free(in);
    free(out);
}

static void collective(void)
{
    int *out = records(3), *in = records(99);
    MPI_Offset bytes = (MPI_Offset)sizeof *out * INTS * n, end;
    MPI_File f = open_file(0);
    MPI_File_set_size(f, size * bytes);
    MPI_File_get_size(f, &end);
    CHECK(end == size * bytes);
    MPI_File_write_at_all(f, rank * bytes, out, INTS * n, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_read_at_all(f, rank * bytes, in, INTS * n, MPI_INT, MPI_STATUS_IGNORE);
    check_equal(in, out);

    /* view: record 0 of all ranks, then record 1 of all ranks, … */
    MPI_Datatype record, interleaved;
    MPI_Type_contiguous(INTS, MPI_INT, &record);
    MPI_Type_commit(&record);
    MPI_Type_create_resized(record, 0, (MPI_Aint)sizeof(int) * INTS * size, &interleaved);
    MPI_Type_commit(&interleaved);
    MPI_File_set_view(f, (MPI_Offset)sizeof(int) * INTS * rank, record, interleaved, "native",
                      MPI_INFO_NULL);
    MPI_File_write_all(f, out, n, record, MPI_STATUS_IGNORE);
    MPI_File_seek(f, 0, MPI_SEEK_SET);
    MPI_File_read_all_begin(f, in, n, record);
    MPI_File_read_all_end(f, in, MPI_STATUS_IGNORE);
    check_equal(in, out);
    MPI_Offset at;
    MPI_File_get_byte_offset(f, 1, &at); /* my record 1 */
    CHECK(at == (MPI_Offset)sizeof(int) * INTS * (size + rank));

    MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    for (int i = 0; i < n; i++) {
        int one[INTS];
        MPI_File_read_at(f, (MPI_Offset)sizeof(int) * INTS * (i * size + rank), one, INTS, MPI_INT,
                         MPI_STATUS_IGNORE);
        CHECK(memcmp(one, out + INTS * i, sizeof one) == 0);
    }
    MPI_Type_free(&record);
    MPI_Type_free(&interleaved);
    MPI_File_close(&f);
    free(in);
    free(out);
}

static void shared_pointer(void)
{
    int *out = records(4), *in = records(99);
    MPI_File f = open_file(0);
    MPI_File_set_atomicity(f, 1); /* ranks read what others wrote */
    MPI_File_seek_shared(f, 0, MPI_SEEK_SET);
    MPI_File_write_ordered(f, out, INTS * n, MPI_INT, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_read_at(f, (MPI_Offset)sizeof *in * INTS * n * rank, in, INTS * n, MPI_INT,
                     MPI_STATUS_IGNORE);
    check_equal(in, out);

    /* everybody takes a record of whoever: together they are all of them */
    MPI_File_seek_shared(f, 0, MPI_SEEK_SET);
    long sum = 0, all, expected = 0, count = (long)size * n * INTS;
    for (int i = 0; i < n; i++) {
        int one[INTS];
        MPI_File_read_shared(f, one, INTS, MPI_INT, MPI_STATUS_IGNORE);
        for (int k = 0; k < INTS; k++)
            sum += one[k];
    }
    for (long i = 0; i < count; i++)
        expected += 3 * i + 4;
    MPI_Allreduce(&sum, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all == expected);
    MPI_File_close(&f);
    free(in);
    free(out);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int o; (o = getopt(argc, argv, "n:f:")) != -1;)
        switch (o) {
        case 'n':
            n = number(optarg, 1, 1000000);
            break;
        case 'f':
            name = optarg;
            break;
        default:
            return 2;
        }
    if (!name) { /* one name for all, known to rank 0 */
        int length = 0;
        const char *folder = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
        if (rank == 0)
            length = snprintf(NULL, 0, "%s/wend-fileio.%ld", folder, (long)getpid()) + 1;
        MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
        name = allocate(length);
        if (rank == 0)
            snprintf(name, length, "%s/wend-fileio.%ld", folder, (long)getpid());
        MPI_Bcast(name, length, MPI_CHAR, 0, MPI_COMM_WORLD);
    }
    individual();
    collective();
    shared_pointer();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        CHECK(MPI_File_delete(name, MPI_INFO_NULL) == MPI_SUCCESS);
        printf("fileio: %d ranks, %d records of %d integers each, read back\n", size, n, INTS);
    }
    MPI_Finalize();
    return 0;
}
