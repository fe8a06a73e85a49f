#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# wend show: the numbers are those counted by hand, and calls are not expanded for them.

bats_require_minimum_version 1.5.0
load ../helpers

setup() { in_scratch; }

recording() {
    "$BUILD_DIR/tests/decoder/script" - "$1"
}

# A value of the JSON form.
value() {
    "$WEND" show --json a | python3 -c "import json, sys; d = json.load(sys.stdin); print($1)"
}

@test "calls, classes, bytes" {
    command -v python3 >/dev/null || skip "no python3"
    recording a <<'END'
ranks 4
fact run.program=./app
rank *
MPI_Init
MPI_Type_contiguous count=3 oldtype=MPI_DOUBLE newtype=type#0/24/0/24/0/24
repeat 1000
MPI_Send count=10 datatype=type#0 dest=self+1
end
MPI_Bcast count=5 datatype=MPI_INT root=2
MPI_Allgather sendcount=2 recvcount=2
MPI_Alltoall sendcount=2 recvcount=2
MPI_Reduce count=7 datatype=MPI_DOUBLE root=1
MPI_Scatter sendcount=3 recvcount=3 root=0
rank 3
MPI_Send count=10 dest=MPI_PROC_NULL
MPI_Send_init count=100 dest=0 request=p
MPI_Start request=p
MPI_Wait request=p done=p persistent=1
MPI_Start request=p
MPI_Put origin_count=6 origin_datatype=MPI_INT target_rank=0
MPI_Fetch_and_op datatype=MPI_DOUBLE target_rank=0
MPI_Compare_and_swap datatype=MPI_INT target_rank=MPI_PROC_NULL
MPI_Compare_and_swap datatype=MPI_INT target_rank=1
MPI_Send dest=0 tag=-1 count=9 -> rc=4
rank *
MPI_Finalize
END
    [[ $(value 'd["calls"]') == $((4 * 1008 + 10)) ]]
    [[ $(value 'd["failed_calls"]') == 1 ]]
    [[ $(value '[c["ranks"] for c in d["classes"]]') == "['0-2', '3']" ]]
    [[ $(value 'd["classes"][0]["calls"]') == 1008 ]]
    # sends of 10 x 24 bytes, and two starts of 100 integers; PROC_NULL and the failed call send
    # nothing
    sent="{'operations': 4002, 'bytes': $((4000 * 240 + 800)), 'unsized': 0}"
    [[ $(value 'd["sent"]["point_to_point"]') == "$sent" ]]
    # Bcast 20 at the root, Allgather 4 x 8, Alltoall 4 x 4 x 8, Reduce 4 x 56, Scatter 4 x 12 at
    # the root
    [[ $(value 'd["sent"]["collective"]["bytes"]') == $((20 + 32 + 128 + 224 + 48)) ]]
    [[ $(value 'd["sent"]["one_sided"]["bytes"]') == $((24 + 8 + 4)) ]]
    [[ $(value '[f["calls"] for f in d["functions"] if f["name"] == "MPI_Send"]') == "[4002]" ]]
    run -0 "$WEND" show a
    [[ $output == *"4,042"* && $output == *"./app"* && $output == *"0-2"* ]]
}

@test "calls that depend on the library's order of neighbours" {
    graph() { # FUNCTION, then calls on the graph
        echo "MPI_$1 n=0 info=MPI_INFO_NULL comm_dist_graph=comm#0/1/0/0"
        cat <<'END'
MPI_Comm_dup comm=comm#0 newcomm=comm#1/1/0/0
MPI_Barrier comm=comm#0
MPI_Dist_graph_neighbors_count comm=comm#0
repeat 3
MPI_Neighbor_allgather comm=comm#1
end
MPI_Dist_graph_neighbors comm=comm#0
MPI_Neighbor_allgather comm=comm#2
END
    }
    graph Dist_graph_create | "$BUILD_DIR/tests/decoder/script" - a
    run -0 "$WEND" show a
    local order="depend on the order of neighbours of MPI_Dist_graph_create"
    [[ $output == *"nondeterminism  4 calls that $order"* ]] ||
        fail "$output"
    graph Dist_graph_create_adjacent | sed 's/ n=0//' | "$BUILD_DIR/tests/decoder/script" - b
    run -0 "$WEND" show b
    [[ $output != *"order of neighbours"* ]]
}

@test "nondeterminism" {
    command -v python3 >/dev/null || skip "no python3"
    recording a <<'END'
ranks 2
rank *
? MPI_Iprobe source=MPI_ANY_SOURCE
MPI_Iprobe source=MPI_ANY_SOURCE tag=1 -> flag=1
MPI_Recv source=MPI_ANY_SOURCE tag=1
MPI_Recv source=0 tag=MPI_ANY_TAG
MPI_Recv source=0 tag=1
MPI_Irecv source=0 request=r
MPI_Waitany count=1 array_of_requests=r done=r -> index=0
MPI_Irecv source=0 request=r
MPI_Test request=r done=r -> flag=1
END
    counts="[('any_completions', 2), ('neighbour_orders', 0), ('probes', 2), ('tests', 2),"
    counts+=" ('unsuccessful_polls', 2), ('wildcard_probes', 2), ('wildcard_receives', 4)]"
    [[ $(value 'sorted(d["nondeterminism"].items())') == "$counts" ]]
}

# Each call of signature N takes 1 + N microseconds in these scripts. So does MPI_Finalize, as in
# recordings of older versions.
@test "shares are of the time in MPI and of the run, and MPI_Init and MPI_Finalize have none" {
    command -v python3 >/dev/null || skip "no python3"
    recording a <<'END'
fact run.elapsed=0.010000
fact clock.resolution=5e-10
ranks 2
rank *
MPI_Init
repeat 300
MPI_Barrier
end
repeat 800
MPI_Comm_rank
end
MPI_Comm_size
MPI_Finalize
END
    run -0 "$WEND" show a
    # 300 x 2 us, 800 x 3 us and 4 us are 3,004 us of the 10,000 that each rank ran
    grep -Eq '^ *600  MPI_Barrier  +2\.00? us .* 20\.0 % +6\.0 %$' <<<"$output" || fail "$output"
    grep -Eq '^ *1,600  MPI_Comm_rank  +3\.00? us .* (79\.9|80) % +24(\.0)? %$' <<<"$output" ||
        fail "$output"
    grep -Eq '^ *2  MPI_Init .* - +-$' <<<"$output" || fail "$output"
    grep -Eq '^ *2  MPI_Finalize  +- +- +- +- +- +-$' <<<"$output" || fail "$output"
    shares='^shares: of the 6\.01 ms that all threads spent in MPI, of the 20\.0 ms that they ran'
    grep -Eq "$shares" <<<"$output" || fail "$output"
    finalize='[f.get("duration") for f in d["functions"] if f["name"] == "MPI_Finalize"]'
    [[ $(value "$finalize") == "[None]" ]]
    [[ $(value 'd["seconds_of_run"]') == 0.02 ]]
    run -0 "$WEND" dump --timing a
    grep -q "^ *1102  MPI_Finalize() -> MPI_SUCCESS  # since the call before 10.0 us\$" \
        <<<"$output" || fail "${lines[-1]}"
}

@test "times are printed with their significant digits only" {
    {
        printf 'fact %s\n' clock.resolution=1e-6 run.elapsed=0.010000
        for i in $(seq 40) $(seq 40); do echo "MPI_Send count=$i"; done
        echo MPI_Barrier
    } | recording a
    run -0 "$WEND" show a
    # means of 1 to 40 us by a clock of 1 us; extremes have four bits
    grep -Eq '^ *80  MPI_Send  +2[01] us +1 us +40 us +12 us +98 % +17 %$' <<<"$output" ||
        fail "$output"
    # a single call has no standard deviation
    grep -Eq '^ *1  MPI_Barrier  +41 us +40 us +40 us +- ' <<<"$output" || fail "$output"
}

@test "a million calls are counted at once" {
    printf '%s\n' "ranks 1" "repeat 100" "repeat 100" "repeat 100" MPI_Barrier end end end |
        recording a
    run -0 timeout 20 "$WEND" show a
    [[ $output == *"1,000,000"* ]]
}

@test "wrong usage and bad input" {
    echo MPI_Init | recording a
    for options in "" "a a" "--top -1 a" "--nonsense a"; do
        # shellcheck disable=SC2086
        run -2 "$WEND" show $options
    done
    run -3 "$WEND" show nowhere
    run -0 "$WEND" show --help
    [[ $output == *"--json"* ]]
}

# A recording in a: ranks 1 and 3 have a communicator, and communicate in it.
pairs() {
    recording a <<'END'
ranks 4
rank *
MPI_Init
rank 0,2
MPI_Comm_split color=MPI_UNDEFINED newcomm=MPI_COMM_NULL
rank 1
MPI_Comm_split color=1 key=1 newcomm=comm#0/2/1/3
repeat 3
MPI_Send count=2 dest=0 comm=comm#0
end
rank 3
MPI_Comm_split color=1 key=0 newcomm=comm#0/2/0/3
MPI_Send count=250 dest=1 comm=comm#0
MPI_Send count=0 dest=0
rank *
MPI_Bcast count=5 root=2
MPI_Finalize
END
}

@test "bytes from rank to rank of the job" {
    pairs
    run -0 "$WEND" show --matrix --csv a
    [[ ${lines[0]} == kind,source,destination,operations,bytes,unsized && ${#lines[@]} == 4 ]]
    [[ ${lines[1]} == point-to-point,1,3,3,24,0 && ${lines[2]} == point-to-point,3,0,1,0,0 &&
        ${lines[3]} == point-to-point,3,1,1,1000,0 ]] || fail "$output"
    "$WEND" show --matrix --table a >map
    [[ $(sed -n 1p map) == "1,024 B in 5 sends from one rank to another or to itself" ]]
    [[ $(sed -n 3p map) == "      0 |    |" && $(sed -n 4p map) == "      1 |   "[.:=+*-]"|" &&
        $(sed -n 6p map) == "      3 |.@  |" ]] || fail "$(cat map)"
}

@test "sizes by powers of two, for each kind of transfer" {
    pairs
    run -0 "$WEND" show --sizes --csv a
    sizes=$(printf '%s\n' kind,smallest,largest,operations,bytes point-to-point,0,0,1,0 \
        point-to-point,8,15,3,24 point-to-point,512,1023,1,1000 collective,16,31,1,20)
    [[ $output == "$sizes" ]] ||
        fail "$output"
    run -0 "$WEND" show --sizes --table a
    [[ $output == *"8 - 15               3         24 B  ##############################"* ]] ||
        fail "$output"
}

@test "the members of communicators, in the order of their ranks" {
    pairs
    run -0 "$WEND" show --comms --csv a
    [[ ${#lines[@]} == 3 && ${lines[1]} == 'MPI_COMM_WORLD,,4,,"0-3",""' &&
        ${lines[2]} == 'comm#1,MPI_Comm_split,2,,"3, 1",""' ]] || fail "$output"
    run -0 "$WEND" show --comms --table a
    [[ ${lines[2]} == "comm#1          MPI_Comm_split                2: 3, 1" ]] || fail "$output"
    recording b <<'END'
ranks 4
rank 0
MPI_Intercomm_create local_leader=0 remote_leader=2 tag=5 newintercomm=comm#0/2/0/0/2/2
MPI_Send count=1 dest=1 comm=comm#0
rank 1
MPI_Intercomm_create local_leader=0 remote_leader=2 tag=5 newintercomm=comm#0/2/1/0/2/2
rank 2
MPI_Intercomm_create local_leader=0 remote_leader=0 tag=5 newintercomm=comm#0/2/0/2/2/0
rank 3
MPI_Intercomm_create local_leader=0 remote_leader=0 tag=5 newintercomm=comm#0/2/1/2/2/0
MPI_Send count=2 dest=0 comm=comm#0
END
    run -0 "$WEND" show --comms --csv b
    [[ ${lines[2]} == 'comm#1,MPI_Intercomm_create,2,2,"0-1","2-3"' ]] || fail "$output"
    run -0 "$WEND" show --matrix --csv b
    [[ ${lines[1]} == point-to-point,0,3,1,4,0 && ${lines[2]} == point-to-point,3,0,1,8,0 ]]
}

@test "the same bytes everywhere, where a number stands for one object after another" {
    cat >lives.c <<'C'
#include <mpi.h>
static double buf[4096], in[4096];
int main(int argc, char **argv)
{
    int rank, size, n, me;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int i = 1; i < 6; i++) {
        MPI_Datatype t;
        MPI_Type_contiguous(i + rank, MPI_DOUBLE, &t);
        MPI_Type_commit(&t);
        MPI_Sendrecv(buf, 2, t, right, 1, in, 4096, MPI_DOUBLE, left, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Bcast(buf, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        MPI_Allgather(buf, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, MPI_COMM_WORLD);
        MPI_Request r[2];
        MPI_Send_init(buf, i, t, right, 2, MPI_COMM_WORLD, &r[0]);
        MPI_Recv_init(in, 4096, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &r[1]);
        for (int k = 0; k < i; k++) {
            MPI_Startall(2, r);
            MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        }
        MPI_Request_free(&r[0]);
        MPI_Request_free(&r[1]);
        MPI_Type_free(&t);
        MPI_Comm c;
        MPI_Comm_split(MPI_COMM_WORLD, i % 2 ? 0 : rank / 2, rank, &c);
        MPI_Alltoall(buf, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, c);
        MPI_Comm_size(c, &n);
        MPI_Comm_rank(c, &me);
        MPI_Sendrecv(buf, i, MPI_DOUBLE, (me + 1) % n, 3, in, 4096, MPI_DOUBLE, (me + n - 1) % n, 3,
                     c, MPI_STATUS_IGNORE);
        MPI_Win w;
        MPI_Win_create(in, sizeof in, 8, MPI_INFO_NULL, c, &w);
        MPI_Win_fence(0, w);
        MPI_Put(buf, i, MPI_DOUBLE, (me + 1) % n, 0, i, MPI_DOUBLE, w);
        MPI_Win_fence(0, w);
        MPI_Win_free(&w);
        MPI_File f;
        MPI_File_open(c, "file", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
        MPI_File_write_at(f, 8 * me, buf, 1, MPI_DOUBLE, MPI_STATUS_IGNORE);
        MPI_File_close(&f);
        MPI_Comm_free(&c);
    }
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" -w lives.c -o lives
    record a 4 ./lives
    # what the loops above send: I from 1 to 5, on four ranks
    truth="100 11760 45 712 20 480 20 160"
    [ "$(value '" ".join(f"{k[x]}" for k in [d["sent"][t] for t in ("point_to_point", "collective",
        "one_sided", "file_write")] for x in ("operations", "bytes"))')" = "$truth" ]
    [ "$(value 'sum(k["unsized"] for k in d["sent"].values())')" = 0 ]
    "$WEND" show --sizes --csv a >sizes
    [ "$(awk -F, 'NR > 1 {n[$1] += $4; b[$1] += $5} END {print n["point-to-point"],
        b["point-to-point"], n["collective"], b["collective"], n["one-sided"], b["one-sided"],
        n["file write"], b["file write"]}' sizes)" = "$truth" ]
    "$WEND" show --matrix --csv a >matrix
    [ "$(awk -F, 'NR > 1 {n[$1] += $4; b[$1] += $5} END {print n["point-to-point"],
        b["point-to-point"], n["one-sided"], b["one-sided"]}' matrix)" = "100 11760 20 480" ]
    "$WEND" show --sites --csv a >sites
    [ "$(awk -F, 'NR > 1 {n += $9; b += $10; u += $11} END {print n, b, u}' sites)" = \
        "185 13112 0" ]
    [ "$(awk -F, '$1 == "MPI_Startall" {print $9, $10}' sites)" = "60 9840" ]
    "$WEND" export --csv=calls -o calls a 2>err
    [ "$(awk -F, '$5 == "MPI_Put" || $5 == "MPI_File_write_at" {b += $10}
        END {print b}' calls)" = 640 ]
}

@test "--ranks of more than 1,024 ranks: how many have each time, and the fastest and slowest" {
    command -v python3 >/dev/null || skip "no python3"
    "$BUILD_DIR/tests/unit/make-recording" a.dir 33 32 5
    "$WEND" show --ranks --csv a.dir >csv
    python3 - csv <<'P'
import csv, itertools, sys
rows = list(csv.DictReader(open(sys.argv[1])))
several = 0
for function, group in itertools.groupby(rows, lambda row: row["function"]):
    group = list(group)
    # all ranks call all functions
    assert sum(int(row["ranks"]) for row in group) == 33 * 32, group
    times = [float(row["seconds"]) for row in group]
    assert times == sorted(times), group
    if len(group) > 1:
        named = [row["rank"] != "" for row in group]
        assert named == [True] + [False] * (len(group) - 2) + [True], group
    several += len(group) > 2
assert several > 0, rows
P
    run -0 "$WEND" show --ranks --table a.dir
    [[ $output =~ MPI_Waitall\ +1056 ]] || fail "$output"
}

@test "tables are text wherever they go: on a terminal, in a pipe, in a file" {
    mpi 2 "$WEND" trace --quiet --times=10% -o a.dir "$EXAMPLES/stencil2d" >out
    cat >terminal.py <<'P'
import fcntl, os, pty, struct, subprocess, sys, termios
ours, its = pty.openpty()
fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 200, 0, 0))
child = subprocess.Popen(sys.argv[1:], stdout=its, stderr=subprocess.DEVNULL)
os.close(its)
text = b""
try:
    while more := os.read(ours, 4096):
        text += more
except OSError: # the terminal's other end is closed
    pass
sys.stdout.buffer.write(text.replace(b"\r\n", b"\n"))
sys.exit(child.wait())
P
    for table in matrix sizes comms ranks messages sites waits; do
        "$PYTHON" terminal.py "$WEND" show --$table a.dir >terminal
        "$WEND" show --$table a.dir >file
        "$WEND" show --$table a.dir | cat >pipe
        "$WEND" show --$table --table a.dir >table
        for other in file pipe table; do
            diff terminal $other || fail "$table: $other"
        done
        ! LC_ALL=C grep -q '[^ -~]' file || fail "$table: more than text"
        "$WEND" show --$table --csv a.dir >csv
        "$PYTHON" terminal.py "$WEND" show --$table --csv a.dir | diff csv - || fail "$table: csv"
        ! diff csv file >same || fail "$table is CSV"
        # a reader that leaves is no error
        run --separate-stderr -0 bash -o pipefail -c '"$0" show "$1" a.dir | head -n 1' \
            "$WEND" --$table
        [ -z "$stderr" ] || [ $table = sites ] || fail "$stderr"
    done
}

@test "--matrix, --sizes, --comms and --ranks exclude other output" {
    pairs
    for options in "--matrix --sizes" "--comms --json" "--ranks --comms" "--csv" "--table" \
        "--matrix --csv --table"; do
        # shellcheck disable=SC2086
        run -2 "$WEND" show $options a
    done
    run -3 --separate-stderr "$WEND" show --matrix nothing.dir
    [[ ${#stderr_lines[@]} == 1 && $stderr == "wend show: nothing.dir: "* ]]
    run -2 --separate-stderr "$WEND" show --matrix --world 3 a
    [[ ${#stderr_lines[@]} == 1 ]]
}
