#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# libwend-read: its examples, its exported symbols, wrong use, threads.

bats_require_minimum_version 1.5.0
load ../helpers

setup() {
    in_scratch
    LIBRARY=$BUILD_DIR/libwend-read.so
    INCLUDE=${SOURCE_DIR:-$BATS_TEST_DIRNAME/../..}/include
    HEADERS=("$INCLUDE"/wend/*.h)
    GOLDEN=${SOURCE_DIR:-$BATS_TEST_DIRNAME/../..}/tests/decoder/golden.dir
}

recording() { # DIRECTORY, the script on standard input
    "$BUILD_DIR/tests/decoder/script" - "$1"
}

@test "the example lists the calls with their partners" {
    run -0 "$BUILD_DIR/examples/read/list-calls" "$GOLDEN"
    [[ ${#lines[@]} == 14 && ${lines[0]} == "0.0 0 MPI_Init" ]]
    [[ ${lines[3]} == "0.0 3 MPI_Send count=2 datatype=#0 dest=1 tag=7 comm=#0 -> rank 1" ]]
    [[ ${lines[10]} == "1.0 4 MPI_Test request=#0 -> rank 0" ]] # its receive was from any source
    run -1 "$BUILD_DIR/examples/read/list-calls" nothing.dir
    [[ ${#lines[@]} == 1 && $output == "nothing.dir: "* ]]
}

@test "the example finds the loops without expanding them" {
    recording a <<'END'
MPI_Init
repeat 10000
MPI_Send dest=0
repeat 7
MPI_Recv source=0
end
end
MPI_Finalize
END
    run -0 "$BUILD_DIR/examples/read/find-loops" a
    [[ $output == $'MPI_Init\nrepeat 10000\n  MPI_Send\n  repeat 7\n    MPI_Recv\nMPI_Finalize' ]]
}

@test "the example prints the matrix, in world ranks" {
    # comm#0 has ranks 1 and 3, then ranks 3 and 1, then another pair
    recording a <<'END'
ranks 4
rank *
MPI_Init
MPI_Type_contiguous count=3 oldtype=MPI_INT newtype=type#0/12/0/12/0/12
rank 1
MPI_Comm_split color=1 key=0 newcomm=comm#0/2/0/1
repeat 10000
MPI_Send count=2 datatype=type#0 dest=1 comm=comm#0
end
rank 3
MPI_Comm_split color=1 key=1 newcomm=comm#0/2/1/1
MPI_Send_init count=5 dest=0 comm=comm#0 request=p
repeat 10
MPI_Start request=p
MPI_Wait request=p done=p persistent=1
end
rank 0
MPI_Comm_split color=MPI_UNDEFINED key=0 newcomm=MPI_COMM_NULL
rank 2
MPI_Comm_split color=MPI_UNDEFINED key=0 newcomm=MPI_COMM_NULL
MPI_Send dest=0 count=1
MPI_Send dest=MPI_PROC_NULL count=1
MPI_Sendrecv sendcount=4 dest=2 recvcount=4 source=2
rank *
MPI_Finalize
END
    run -0 "$BUILD_DIR/examples/read/print-matrix" a
    [[ $output == $'1 3 10000 240000\n2 0 1 4\n2 2 1 16\n3 1 10 200' ]] || fail "$output"
}

@test "a handle that stood for several objects is followed to each of them" {
    # comm#0 has ranks 0 and 1, then ranks 1 and 2; type#0 has 12 bytes, then 40
    recording a <<'END'
ranks 3
rank 0
MPI_Comm_split color=1 key=0 newcomm=comm#0/2/0/0
MPI_Comm_free comm=comm#0
MPI_Comm_split color=MPI_UNDEFINED key=0 newcomm=MPI_COMM_NULL
rank 1
MPI_Comm_split color=1 key=1 newcomm=comm#0/2/1/0
MPI_Type_contiguous count=3 oldtype=MPI_INT newtype=type#0/12/0/12/0/12
MPI_Send count=1 datatype=type#0 dest=0 comm=comm#0
MPI_Type_free datatype=type#0
MPI_Comm_free comm=comm#0
MPI_Comm_split color=1 key=1 newcomm=comm#0/2/1/2
MPI_Type_contiguous count=10 oldtype=MPI_INT newtype=type#0/40/0/40/0/40
MPI_Send count=1 datatype=type#0 dest=0 comm=comm#0
rank 2
MPI_Comm_split color=MPI_UNDEFINED key=0 newcomm=MPI_COMM_NULL
MPI_Comm_split color=1 key=0 newcomm=comm#0/2/0/2
END
    run -0 "$BUILD_DIR/examples/read/print-matrix" a
    [[ $output == $'1 0 1 12\n1 2 1 40' ]] || fail "$output"
}

@test "each completed request has its partner's rank in the job" {
    # comm#0 has ranks 2 and 1; sources in statuses are relative to the caller's rank
    recording a <<'END'
ranks 3
rank 0
MPI_Comm_split color=MPI_UNDEFINED newcomm=MPI_COMM_NULL
rank 1
MPI_Comm_split color=1 key=1 newcomm=comm#0/2/1/2
MPI_Isend count=2 dest=0 comm=comm#0 request=p
MPI_Irecv count=9 source=MPI_ANY_SOURCE comm=comm#0 request=q
MPI_Isend count=2 dest=0 request=r
MPI_Waitall array_of_requests=p,q,r done=p,q,r -> array_of_statuses=0,0,0,0,-1,0,0,0,0,0,0,0
rank 2
MPI_Comm_split color=1 key=0 newcomm=comm#0/2/0/2
END
    run -0 "$BUILD_DIR/tests/read/interface" completed a
    [[ $output == "1 MPI_Waitall: 2 2 0" ]] || fail "$output"
}

@test "the library exports only what its header declares, in versioned symbols" {
    grep -oh 'wend_read_[a-z_]*(' "${HEADERS[@]}" | tr -d '(' | sort -u >declared
    nm -D --defined-only "$LIBRARY" | awk '$2 != "A" {print $3}' >symbols
    sed 's/@@WEND_READ_1$//' symbols | sort >shown
    diff declared shown
    ! grep -v '@@WEND_READ_1$' symbols || false
    ! nm -D --undefined-only "$LIBRARY" | grep -w 'MPI_[A-Z].*\|_*exit' || false
}

@test "each header compiles alone, in C and in C++, without GLib" {
    ! grep -E '<glib|\<g_|\<g(u?int|u?char|size|boolean|pointer)' "${HEADERS[@]}" || false
    for header in "${HEADERS[@]}"; do
        echo "#include <wend/${header##*/}>" | cc -std=c11 -pedantic -Wall -Wextra -Werror \
            -I"$INCLUDE" -x c -c - -o c.o || fail "$header" || return
    done
    command -v g++ >/dev/null || skip "no g++"
    for header in "${HEADERS[@]}"; do
        echo "#include <wend/${header##*/}>" | g++ -std=c++11 -pedantic -Wall -Wextra -Werror \
            -I"$INCLUDE" -x c++ -c - -o c++.o || fail "$header" || return
    done
    echo '#include <wend/read.h>
        int main(void) { return (wend_read_wait && wend_read_site) ? 0 : WEND_READ_N_SIZES; }' |
        cc -std=c11 -Wall -Wno-address -Werror -I"$INCLUDE" -x c -c - -o all.o
}

@test "each function is documented in its manual page" {
    local function
    for function in $(grep -oh 'wend_read_[a-z_]*(' "${HEADERS[@]}" | tr -d '(' | sort -u); do
        grep -q "^\.Fn $function\|^\.Fo $function" "$BATS_TEST_DIRNAME/../../man/wend-read.3" ||
            fail "$function is not in wend-read(3)"
    done
}

@test "wrong arguments and other files are refused with one line" {
    "$BUILD_DIR/tests/read/interface" misuse "$GOLDEN"
}

@test "threads read at the same time, each with its own readers" {
    recording a <<'END'
ranks 3
rank *
repeat 100
MPI_Isend dest=self+0 count=10 request=a
MPI_Recv source=MPI_ANY_SOURCE count=10 -> status=0,0,0,0
MPI_Wait request=a done=a
end
END
    "$BUILD_DIR/tests/read/interface" threads "$GOLDEN" a
}

@test "a program over the library prints what wend dump prints" {
    "$BUILD_DIR/tests/read/dump-text" "$GOLDEN" >mine
    diff "${GOLDEN%.dir}.txt" mine
    local program
    for program in "$EXAMPLES"/{rma,masterworker,intercomm,persistent,fileio,datatypes} \
        "$PROGRAMS"/{callbacks,distgraph,statuses,threads,dynamic}; do
        rm -rf a.dir
        record a.dir 4 "$program" >out 2>&1 || fail "$program" "$(tail -n 5 out)" || return
        "$WEND" dump a.dir >theirs
        "$BUILD_DIR/tests/read/dump-text" a.dir >mine
        diff theirs mine >difference || fail "$program" "$(head -n 6 difference)" || return
    done
}
