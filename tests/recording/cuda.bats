# SPDX-License-Identifier: BSD-3-Clause
# Buffers in CUDA memory. tests/cuda has a stand-in for CUDA, whose devices are memory of the host.
load ../helpers
setup() {
    in_scratch
    CUDA=$BUILD_DIR/tests/cuda
    export LD_LIBRARY_PATH=$CUDA${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
}

# sorted_output N program…: the lines of all ranks with and without Wend, sorted because threads
# interleave, and the calls that the driver received.
sorted_output() {
    STANDIN_LOG=plain.log mpi "$@" | sort >plain.out
    STANDIN_LOG=recorded.log record app.dir "$@" | sort >recorded.out
    diff plain.out recorded.out >&2 || fail "standard output changed under wend trace"
    for ((rank = 0; rank < $1; rank++)); do
        diff <(sort plain.log."$rank") <(sort recorded.log."$rank") >&2 ||
            fail "the driver got other calls under wend trace"
    done
}

# places DIR: prints the places of the blocks, in the order of the calls.
places() {
    "$WEND" dump "$1" | grep -o ' wend_\(device\|managed\|pinned\)(.*)'
}

@test "memory of CUDA is recorded with its device" {
    sorted_output 4 "$CUDA/buffers"
    grep -q '^rank 3: errors 0 1 1 2 2 1 1 0$' plain.out # those of the application, and no others
    # a context of its own device, of another, and of that again after a reset
    [ "$(grep -c ^context plain.log.2)" = 3 ]
    "$WEND" dump -r 2 app.dir >dump.out
    grep -A 1 'wend_device(segment=cuda#0, device=2)' dump.out |
        grep -q 'MPI_Sendrecv(sendbuf=cuda#0+400, .*, recvbuf=cuda#0+800'
    grep -A 1 'wend_managed(segment=cuda#0, device=2)' dump.out | grep -q 'MPI_Bcast(buffer=cuda#0'
    grep -A 1 'wend_pinned(segment=cuda#1, device=2)' dump.out |
        grep -q 'MPI_Allreduce(sendbuf=cuda#0+4, recvbuf=cuda#1+4'
    # row 5 of a pitched block
    grep -q 'sendbuf=cuda#0+2568, sendcount=4, .* recvbuf=cuda#0+2584' dump.out
    # the end of a block
    grep -q 'MPI_Get_address(location=cuda#1+8000' dump.out
    # a block that is allocated and freed repeatedly, with the same number each time
    [ "$(grep -c 'sendtag=7, recvbuf=cuda#0+128' dump.out)" = 10 ]
    # from a pool of another device than the current one
    grep -B 1 'sendtag=8, ' dump.out | grep -q 'wend_device(segment=cuda#0, device=0)'
    # a reset ends the block of that device, and not that of the other
    sed -n '/, tag=9,/,/sendtag=11/p' dump.out >reset.out
    grep -A 2 'wend_free(segment=cuda#0)' reset.out | grep -q 'sendtag=10, recvbuf=cuda#0+40'
    grep -q 'sendtag=11, recvbuf=cuda#1+40' reset.out
    # blocks that were not passed to MPI are not recorded
    [ "$(grep -c 'wend_free' dump.out)" = "$(($(places app.dir | wc -l) / 4 - 1))" ]
    # devices that differ by rank do not make more classes
    "$WEND" show app.dir | grep -q '^ *4 .* 0-3$'
}

@test "memory of CUDA is seen however the program reaches the runtime" {
    record app.dir 3 "$CUDA/buffers" >/dev/null
    for how in ptsz static dlsym host; do
        record "$how.dir" 3 "$CUDA/buffers-$how" >/dev/null
        "$WEND" diff app.dir "$how.dir"
        diff <(places app.dir) <(places "$how.dir")
    done
}

@test "memory of CUDA by the driver's functions, and by two runtimes at once" {
    sorted_output 1 "$CUDA/driver-api"
    places app.dir >places.out
    diff places.out - <<'END'
 wend_device(segment=cuda#0, device=1)
 wend_managed(segment=cuda#0, device=1)
 wend_pinned(segment=cuda#0, device=1)
 wend_device(segment=cuda#0, device=1)
 wend_device(segment=cuda#0, device=1)
 wend_device(segment=cuda#0, device=1)
 wend_device(segment=cuda#1, device=2)
END
    [ "$("$WEND" dump app.dir | grep -c wend_free)" = 7 ]
    "$WEND" dump app.dir | grep -q 'MPI_Bcast(buffer=cuda#0+1536'
}

@test "memory of CUDA is seen when its functions are called by pointers" {
    # the second has its own stubs for the functions
    for program in pointers pointers-fixed; do
        record "$program.dir" 1 "$CUDA/$program"
        diff <(places "$program.dir") <(printf ' wend_%s(segment=cuda#0, device=0)\n' device pinned)
        [ "$("$WEND" dump "$program.dir" | grep -c 'wend_free(segment=cuda#0)')" = 2 ]
    done
}

@test "a program that looks for CUDA finds none, and dlsym answers for its caller" {
    same_output 1 "$CUDA/without"
    grep -qx 'next: 0 0 0 0' plain.out
}

@test "round trip: memory of CUDA, the proxy with memory of the host" {
    sorted_output 4 "$CUDA/buffers" threads
    roundtrip_from_recording 4
    ! grep -qi cuda proxy.c || false
    quietly diff.out "$WEND" diff --outcomes app.dir proxy.dir
    [ "$(places proxy.dir | wc -l)" = 0 ]
}

@test "round trip: memory of CUDA, the proxy with memory of CUDA" {
    record app.dir 4 "$CUDA/buffers" threads >/dev/null
    "$PROXYGEN" --cuda app.dir -o proxy.c
    "$MPICC" "${PROXY_CFLAGS[@]}" -O1 -I"$SOURCE_DIR/tests/cuda" proxy.c -o proxy -L"$CUDA" -lcudart
    record proxy.dir 4 ./proxy
    "$WEND" diff app.dir proxy.dir
    diff <(places app.dir) <(places proxy.dir)
    # it frees everything that it allocates
    STANDIN_LOG=proxy.log mpi 4 ./proxy
    [ "$(grep -c '^device\|^managed\|^pinned' proxy.log.1)" = "$(grep -c '^free' proxy.log.1)" ]
    # with fewer devices; and with none
    STANDIN_DEVICES=2 mpi 4 ./proxy
    # the launcher may lose the output of ranks that abort
    ! STANDIN_DEVICES=0 mpi 4 sh -c 'exec ./proxy 2>>none.err' || false
    grep -q 'proxy: rank [0-3]: cudaGetDeviceCount, for [0-9]* bytes: no CUDA-capable device' \
        none.err
}

@test "round trip: memory of CUDA, the proxy in several files" {
    record app.dir 2 "$CUDA/buffers" >/dev/null
    "$PROXYGEN" --cuda app.dir -o files/
    make -s -C files CC="$MPICC" CFLAGS="${PROXY_CFLAGS[*]} -O1" \
        CPPFLAGS="-I$SOURCE_DIR/tests/cuda" LDFLAGS="-L$CUDA"
    record proxy.dir 2 files/proxy
    "$WEND" diff app.dir proxy.dir
    diff <(places app.dir) <(places proxy.dir)
}

@test "proxygen --cuda changes nothing for a program without CUDA" {
    record app.dir 2 "$PROGRAMS/memory"
    "$PROXYGEN" app.dir -o host.c
    "$PROXYGEN" --cuda app.dir -o cuda.c
    cmp host.c cuda.c
}

@test "dlsym and its like are reached by a jump, whatever the flags of the build" {
    [ "$(uname -m)" = x86_64 ] || skip "jumps are looked for by their x86-64 name"
    gcc -std=gnu11 -D_GNU_SOURCE -O0 -fno-optimize-sibling-calls -S -o lookups.s \
        -I"$SOURCE_DIR" -I"$SOURCE_DIR/include" -I"$SOURCE_DIR/src/tracer" \
        -I"$BUILD_DIR" -I"$BUILD_DIR/src/tracer" \
        "$SOURCE_DIR/src/tracer/interpose/lookups.c"
    for function in dlsym dlvsym dlopen; do
        sed -n "/^${function}_of_modules:/,/\.size/p" lookups.s >function.s
        grep -qE '^\sjmp\s+\*' function.s || fail "$(cat function.s)"
    done
}
