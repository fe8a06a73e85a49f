/* SPDX-License-Identifier: BSD-3-Clause */
/* helpers-job.c: the processes of a job: their ranks, their worlds, and the sockets between them.
 *
 * A proxy of several worlds starts itself again. Arguments tell the new processes which world they
 * are. */
#include <fcntl.h>      /* open */
#include <sys/socket.h> /* socket */
#include <sys/un.h>     /* sockaddr_un */

#include "src/proxygen/runtime/runtime.h"

char *program_path; /* argv[0]: this program, for processes that it starts */

/* The rank of this process in a communicator. */
int rank_in(MPI_Comm which)
{
    int it = 0;
    PMPI_Comm_rank(which, &it);
    return it;
}

/* The rank of this process before MPI_Init, as the launcher says. */
int rank_of_launcher(void)
{
    static const char *const names[] = {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK",
                                        "SLURM_PROCID", "MV2_COMM_WORLD_RANK"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]))
            return atoi(getenv(names[i]));
    fprintf(stderr, "proxy: the launcher does not say which rank this process is\n");
    exit(2);
}

/* Of a call that failed. If the application's program is there, this one stands for it, so that
 * whatever failed fails again; else one that never is. No other is started. */
char *missing_program(const char *recorded)
{
    static char none[] = "/dev/null/none";
    return access(recorded, X_OK) == 0 ? program_path : none;
}

/* -- worlds -- */

int world;      /* this process's */
int world_rank; /* in MPI_COMM_WORLD */

static char world_number[16];

char *world_arguments[] = {"world", world_number, scratch_dir, NULL};

/* In the scratch directory there is a file for each world that runs, or is about to: the last one
 * removes it all. */
void world_note(int number, int running)
{
    char name[sizeof scratch_dir + 64];
    snprintf(name, sizeof name, "%s/world-%d", scratch_dir, number);
    if (running)
        close(open(name, O_WRONLY | O_CREAT, 0666));
    else
        unlink(name);
}

int world_is_last(void)
{
    char name[sizeof scratch_dir + 64];
    world_note(world, 0);
    for (int i = 0; i < WORLDS; i++) {
        snprintf(name, sizeof name, "%s/world-%d", scratch_dir, i);
        if (access(name, F_OK) == 0)
            return 0;
    }
    return 1;
}

/* The arguments of what the next MPI_Comm_spawn starts; of a call that failed: of no world. */
void next_world(int succeeds)
{
    static int started;
    int skip = started, number = -1;
    for (int i = 0; succeeds && i < WORLD_STARTS; i++)
        if (world_starts[i][0] == rank && skip-- == 0)
            number = world_starts[i][1];
    started += succeeds;
    snprintf(world_number, sizeof world_number, "%d", number);
    if (number >= 0 && *scratch_dir)
        world_note(number, 1);
}

void world_begin(int argc, char **argv)
{
    if (argc != 4 || strcmp(argv[1], "world") != 0)
        return;
    world = atoi(argv[2]);
    if (world < 0 || world >= WORLDS) { /* started by a call that had failed */
        PMPI_Init(NULL, NULL);
        PMPI_Finalize();
        exit(0);
    }
    snprintf(scratch_dir, sizeof scratch_dir, "%s", argv[3]);
}

/* -- MPI_Comm_join -- */

int join_socket;

/* A socket to another process, each time a new one. Its name is in none of the host's
 * directories. */
int join_with(int partner)
{
    static int times[RANKS];
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *slash = strrchr(scratch_dir, '/');
    int low = partner < rank ? partner : rank, high = partner < rank ? rank : partner;
    snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "%.48s-%d-%d-%d",
             slash ? slash : scratch_dir, low, high, times[partner]++);
    join_socket = socket(AF_UNIX, SOCK_STREAM, 0);
    if (rank == low) {
        int listening = join_socket;
        if (bind(listening, (struct sockaddr *)&address, sizeof address) == 0
            && listen(listening, 1) == 0)
            join_socket = accept(listening, NULL, NULL);
        close(listening);
    } else {
        while (connect(join_socket, (struct sockaddr *)&address, sizeof address) != 0)
            usleep(1000);
    }
    return join_socket;
}
