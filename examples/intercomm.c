/* SPDX-License-Identifier: BSD-3-Clause */
/* intercomm: two coupled models, each with a communicator of its own, that talk through an
 * intercommunicator.
 *
 *   intercomm [-i ITERATIONS]
 *
 * The first two fifths of the ranks are the ocean, the others the atmosphere (so the groups differ
 * in size). Each iteration couples them by messages between ranks of the two groups and by
 * collectives with MPI_ROOT and MPI_PROC_NULL; then both merge into one communicator in either
 * order. */
#include <string.h>

#include "example.h"

int main(int argc, char **argv)
{
    int iterations = 5;
    MPI_Init(&argc, &argv);
    for (int o; (o = getopt(argc, argv, "i:")) != -1;)
        switch (o) {
        case 'i':
            iterations = number(optarg, 0, 1000000);
            break;
        default:
            return 2;
        }
    int world_rank, world_size;
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    CHECK(world_size >= 2);
    int n_ocean = world_size * 2 / 5;
    n_ocean += n_ocean == 0;
    int ocean = world_rank < n_ocean;

    MPI_Comm model, coupler, copy, together;
    MPI_Comm_split(MPI_COMM_WORLD, ocean, world_rank, &model);
    MPI_Intercomm_create(model, 0, MPI_COMM_WORLD, ocean ? n_ocean : 0, 17, &coupler);

    int rank, size, remote, is_inter;
    MPI_Comm_test_inter(coupler, &is_inter);
    MPI_Comm_rank(coupler, &rank);
    MPI_Comm_size(coupler, &size);
    MPI_Comm_remote_size(coupler, &remote);
    CHECK(is_inter && size == (ocean ? n_ocean : world_size - n_ocean)
          && size + remote == world_size);
    int remote_first = ocean ? n_ocean : 0; /* world rank of the other model's rank 0 */

    for (int it = 0; it < iterations; it++) {
        /* rank r of the smaller model talks to ranks r, r + small, … of the larger one */
        int small = size < remote ? size : remote,
            larger = size > remote || (size == remote && ocean);
        if (larger) {
            int got, to = rank % small;
            MPI_Sendrecv(&world_rank, 1, MPI_INT, to, it, &got, 1, MPI_INT, to, it, coupler,
                         MPI_STATUS_IGNORE);
            CHECK(got == 1000 * (remote_first + to) + it);
        } else {
            int answer = 1000 * world_rank + it;
            for (int r = rank; r < remote; r += small) {
                int got;
                MPI_Recv(&got, 1, MPI_INT, r, it, coupler, MPI_STATUS_IGNORE);
                CHECK(got == remote_first + r);
                MPI_Send(&answer, 1, MPI_INT, r, it, coupler);
            }
        }

        /* the ocean's rank 0 tells all of the atmosphere, and collects from it */
        int temperature = ocean ? 280 + it : -1, sum = -1;
        int root = !ocean ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
        MPI_Bcast(&temperature, 1, MPI_INT, root, coupler);
        CHECK(temperature == 280 + it);
        MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, root, coupler);
        if (root == MPI_ROOT)
            CHECK(sum == remote * (remote - 1) / 2);
        /* each model gets the sum of the other */
        MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, coupler);
        CHECK(sum == remote * remote_first + remote * (remote - 1) / 2);
        int *all = allocate(sizeof *all * remote);
        MPI_Allgather(&world_rank, 1, MPI_INT, all, 1, MPI_INT, coupler);
        CHECK(all[remote - 1] == remote_first + remote - 1);
        free(all);
        MPI_Barrier(coupler);
    }

    MPI_Comm_dup(coupler, &copy);
    MPI_Intercomm_merge(copy, ocean, &together); /* the ocean goes last */
    int rank_together, expected = ocean ? world_size - n_ocean + rank : rank, result;
    MPI_Comm_rank(together, &rank_together);
    CHECK(rank_together == expected);
    MPI_Group remote_group, world_group;
    MPI_Comm_remote_group(coupler, &remote_group);
    MPI_Comm_group(MPI_COMM_WORLD, &world_group);
    int zero = 0, translated;
    MPI_Group_translate_ranks(remote_group, 1, &zero, world_group, &translated);
    CHECK(translated == remote_first);
    MPI_Comm_compare(together, MPI_COMM_WORLD, &result);
    CHECK(result == MPI_SIMILAR);
    MPI_Group_free(&remote_group);
    MPI_Group_free(&world_group);
    MPI_Comm_free(&together);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&coupler);
    MPI_Comm_free(&model);
    if (world_rank == 0)
        printf("intercomm: %d ocean and %d atmosphere ranks, %d iterations\n", n_ocean,
               world_size - n_ocean, iterations);
    MPI_Finalize();
    return 0;
}
