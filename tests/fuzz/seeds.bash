#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# seeds.bash BUILD_DIR [MPIEXEC]: makes the fuzzers' seeds again after a change of the archive's
# format. The test programs must be built (make check TESTS=). Where possible, an input that a
# fuzzer found is kept as a script (tests/decoder/script.c), which outlives a format.
set -eu
build=$(realpath "$1")
mpiexec=${2:-mpiexec}
seeds=$(dirname "$(realpath "$0")")
yield=$build/tests/support/yield.so
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

seed() { # SEED RANKS PROGRAM [ARGUMENT…]
    cp "$build/$3" program
    LD_PRELOAD=$yield timeout 60 "$mpiexec" -n "$2" "$build/wend" trace -q -f -o trace.dir \
        ./program "${@:4}" >/dev/null
    [ -z "${SYMBOLS:-}" ] || "$build/wend" merge --symbols trace.dir >/dev/null
    "$build/tests/fuzz/make-seed" trace.dir >"$seeds/seeds-$1"
}

scripted() { # SEED, from the lines on standard input
    rm -rf scripted.dir
    "$build/tests/decoder/script" /dev/stdin scripted.dir
    "$build/tests/fuzz/make-seed" scripted.dir >"$seeds/seeds-$1"
}

# What the module of the assembler lines on standard input has for the fuzzer (frames.c): its
# sections .eh_frame_hdr and .eh_frame. CHANGE: by sed, after the linker has read them.
frames() { # SEED [CHANGE]
    rm -f hdr
    ${CC:-cc} -shared -nostdlib -x assembler - -o frames.so
    objcopy -O binary -j .eh_frame_hdr frames.so hdr
    objcopy -O binary -j .eh_frame_hdr -j .eh_frame frames.so both
    printf "\\0\\0\\0\\0\\x$(printf %02x "$(stat -c %s hdr)")\\0\\0\\0\\0\\0\\0\\0" |
        cat - both | LC_ALL=C sed "${2:-}" >"$seeds/seeds-frames/$1"
}

# as compilers have it: saved at the CFA, aligned, the outermost function, a part further away
frames common <<'END'
.cfi_startproc
.skip 1
.cfi_def_cfa_offset 16
.cfi_offset rbp, -16
.skip 3
.cfi_def_cfa_register rbp
.skip 70
.cfi_remember_state
.cfi_def_cfa rsp, 8
.cfi_restore rbp
.skip 300
.cfi_restore_state
.skip 1
.cfi_endproc
.cfi_startproc
.skip 5
.cfi_def_cfa r10, 0
.skip 9
.cfi_escape 0x10, 6, 2, 0x76, 0
.skip 2
.cfi_escape 0x0f, 3, 0x76, 0x78, 6
.skip 20
.cfi_endproc
.cfi_startproc
.cfi_undefined rip
.skip 9
.cfi_endproc
.cfi_startproc
.cfi_def_cfa_offset 70000
.skip 70000
.cfi_adjust_cfa_offset 8
.skip 9
.cfi_endproc
END
# as they seldom or never have it
frames rare <<'END'
.cfi_startproc
.cfi_personality 0x9b, frames
.cfi_lsda 0x1b, frames
.skip 1
.cfi_same_value rbp
.skip 1
.cfi_register rbp, rax
.skip 1
.cfi_undefined rbp
.skip 1
.cfi_val_offset rbp, -24
.skip 1
.cfi_escape 0x05, 6, 2, 0x11, 6, 0x7e, 0x06, 6
.skip 1
.cfi_escape 0x12, 7, 0x7e, 0x13, 0x7d
.skip 1
.cfi_escape 0x15, 6, 1, 0x16, 6, 2, 0x77, 0, 0x2e, 8
.skip 1
.cfi_escape 0x01, 0, 0, 0, 0
.skip 1
.cfi_return_column rbp
.cfi_endproc
.cfi_startproc simple
.cfi_signal_frame
.skip 1
.cfi_def_cfa rsp, 8
.skip 1
.cfi_offset rip, -16
.skip 9
.cfi_endproc
.data
frames: .quad 0
END
# offsets and lengths that are too large, and more states than are kept
frames large 's/\x16\x06\x03/\x16\x06\xff/; s/\x0f\x03\xff/\x0f\xff\xff/' <<'END'
.cfi_startproc
.cfi_escape 0x11, 6, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0xc0, 0
.skip 1
.cfi_escape 0x13, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0xc0, 0
.skip 1
.cfi_endproc
.cfi_startproc
.rept 100
.cfi_remember_state
.endr
.skip 9
.cfi_endproc
.cfi_startproc
.skip 3
.cfi_escape 0x16, 6, 3, 0xff, 0xff, 0x7f
.skip 9
.cfi_endproc
.cfi_startproc
.cfi_escape 0x0f, 3, 0xff, 0x7f, 0x76
.skip 9
.cfi_endproc
END
scripted proxygen/blocks-far-apart <<'END'
MPI_Init
MPI_Bcast buffer=heap#0 count=1
MPI_Bcast buffer=heap#2147483648 count=1
MPI_Bcast buffer=heap#1 count=1
MPI_Finalize
END
scripted proxygen/far-offset <<'END'
MPI_Init
MPI_Bcast buffer=heap#0+4611686018427387904 count=1
MPI_Bcast buffer=stack#0-4611686018427387904 count=1
MPI_Finalize
END
scripted decoder/unmatched <<'END'
ranks 2
rank 0
MPI_Send dest=1 count=3 tag=7
MPI_Send dest=1 count=5 tag=8
MPI_Barrier
rank 1
MPI_Recv source=0 count=9 tag=7 -> status=0,0,24,0
MPI_Irecv source=0 count=2 tag=9 request=q
MPI_Irecv source=MPI_ANY_SOURCE count=2 tag=9 request=r
END
seed archive/stencil 4 examples/stencil2d 10
seed archive/grid 9 examples/stencil2d 3
seed archive/trips 5 tests/programs/trips
seed archive/aligned 8 tests/programs/coarse
seed archive/statuses 2 tests/programs/statuses
cp trace.dir/trace.tar.zst "$seeds/seeds-archive/archive"
seed archive/counts 6 tests/programs/irregular exchange 2
seed archive/again 2 tests/programs/irregular again 40
WEND_SHARD_RANKS=2 seed archive/shards 6 tests/programs/unlike 1
WEND_VALUES=1 seed archive/values 2 tests/programs/values between
for rank in 0 1; do
    zstd -dc trace.dir/trace.tar.zst | tar -xO values.$rank >"$seeds/seeds-side/between-$rank"
done
WEND_VALUES=1 seed archive/values 2 tests/programs/values random
zstd -dc trace.dir/trace.tar.zst | tar -xO values.0 | head -c 2000 >"$seeds/seeds-side/cut"
WEND_VALUES=1 seed archive/values 2 tests/programs/onesided replacing
for rank in 0 1; do
    zstd -dc trace.dir/trace.tar.zst | tar -xO results.$rank >"$seeds/seeds-side/results-$rank"
done
WEND_VALUES=1 seed archive/values 2 tests/programs/onesided append
zstd -dc trace.dir/trace.tar.zst | tar -xO locks.1 >"$seeds/seeds-side/locks"
WEND_VALUES=1 seed archive/values 2 tests/programs/values between
for coding in lossless 10%; do
    WEND_TIMES=$coding seed archive/times 2 tests/programs/callbacks
    zstd -dc trace.dir/trace.tar.zst | tar -xO times.0 >"$seeds/seeds-times/${coding%\%}"
done
seed archive/numbered 2 tests/programs/numbered 1 1
seed archive/folded 1 tests/programs/folded chance
seed archive/sites 3 tests/programs/turns
WEND_TIMES=10% seed archive/timed 2 examples/stencil2d 3
WEND_STACKS=8 seed archive/stacks 3 tests/programs/callbacks
SYMBOLS=1 WEND_TIMES=10% WEND_STACKS=8 seed archive/names 2 examples/stencil2d 3
WEND_STACKS=64 seed decoder/stacks 2 examples/stencil2d 3
seed decoder/sites 3 examples/stencil2d 3
seed decoder/ring 3 examples/ring
seed decoder/testsome 3 examples/masterworker
seed proxygen/callbacks 2 tests/programs/callbacks
seed proxygen/dynamic 2 tests/programs/dynamic
seed proxygen/files 2 tests/programs/files
seed proxygen/folded 1 tests/programs/folded chance
seed proxygen/graph 3 tests/programs/graph
seed proxygen/distgraph 3 tests/programs/distgraph weights
seed proxygen/nbx 2 tests/programs/nbx 2
seed proxygen/threads 2 tests/programs/interleaved
seed proxygen/wildcards 3 tests/programs/wildcards locks
