# SPDX-License-Identifier: BSD-3-Clause
# Names of call sites come from files that the recording names, and from files that these name.
# Whatever is at their paths, wend neither waits nor reads without an end.
bats_require_minimum_version 1.5.0
load ../helpers
setup() {
    in_scratch
    grep -q '^#define HAVE_LIBDW 1' "$BUILD_DIR/config.h" || skip "built without libdw"
    "$MPICC" -g -O1 -w "$SOURCE_DIR/tests/programs/sites.c" -o program -ldl -lpthread
    cp program good
    record app.dir 1 ./program
}

show() { # sets output and stderr
    run --separate-stderr -0 bash -c \
        'ulimit -v 2000000; timeout 10 "$0" show --sites --csv app.dir' "$WEND"
}

named() { # yes or no
    local found=no
    [[ $output != *",exchange,"* ]] || found=yes
    [ "$found" = "$1" ] || fail "$2: names: $found" "$output" "$stderr"
}

# nameless WHAT: the file is there, and has no names.
nameless() {
    show
    named no "$1" || return
    [[ $stderr == "wend show: $PWD/program cannot be read: addresses in it have no names" ]] ||
        fail "$1: $stderr"
}

@test "code files: a pipe, a folder, a device, nothing, a text, much of nothing" {
    show
    named yes good
    rm program
    mkfifo program
    nameless pipe
    rm program
    mkdir program
    nameless folder
    rmdir program
    ln -s /dev/zero program
    nameless device
    rm program
    nameless nothing
    echo '#!/bin/sh' >program
    nameless text
    rm program
    truncate -s 6G program
    nameless 'much of nothing'
}

@test "code files: what is compressed is not taken apart without a bound" {
    # the same 16 MiB of zeros again and again; their checksum is never reached
    zeros() { # HEADER, in hexadecimal
        python3 -c 'import sys, zlib
packer = zlib.compressobj(9, zlib.DEFLATED, -15)
first, again = (packer.compress(bytes(1 << 24)) + packer.flush(zlib.Z_FULL_FLUSH) for _ in "12")
sys.stdout.buffer.write(bytes.fromhex(sys.argv[1]) + first + again * 191)' "$1"
    }
    zeros 1f8b0800000000000003 >program
    nameless 'a file'
    objcopy --compress-debug-sections good program
    show
    named yes 'compressed sections'
    # a section that says of itself that it has 3 GiB
    zeros 78da >zeros
    python3 - <<'END'
import struct
elf = bytearray(open("program", "rb").read())
table, = struct.unpack_from("<Q", elf, 0x28)
n, names = struct.unpack_from("<HH", elf, 0x3c)
names, = struct.unpack_from("<Q", elf, table + 64 * names + 24)
data = struct.pack("<IIQQ", 1, 0, 3 << 30, 1) + open("zeros", "rb").read()
for at in range(table, table + 64 * n, 64):
    name = names + struct.unpack_from("<I", elf, at)[0]
    if elf[name:].startswith(b".debug_info\0"):
        struct.pack_into("<QQ", elf, at + 24, len(elf), len(data))
open("program", "wb").write(elf + data)
END
    nameless 'a section'
}

@test "code files: parts of one" {
    local bytes
    for bytes in 1 4 64 1000 9000 20000; do
        head -c $bytes good >program
        show
        named no "$bytes bytes"
    done
}

@test "code files: debug information in another file" {
    objcopy --only-keep-debug good other.debug
    strip program
    show
    named no stripped
    objcopy --add-gnu-debuglink=other.debug program
    show
    named yes linked
    mkdir .debug
    mv other.debug .debug
    show
    named yes 'in .debug'
    mkfifo other.debug
    show
    named yes 'a pipe comes first'
    rm other.debug
    rm -r .debug
    ln -s /dev/zero other.debug
    show
    named no device
    rm other.debug
    truncate -s 6G other.debug
    show
    named no 'much of nothing'
    # of another program, with the same code in other lines
    rm other.debug
    sed '20i int another_line;' "$SOURCE_DIR/tests/programs/sites.c" >another.c
    "$MPICC" -g -O1 -w another.c -o another -ldl -lpthread
    objcopy --only-keep-debug another other.debug
    show
    named no 'of another program'
}

# in_debug_folder SCRIPT: runs SCRIPT where /usr/lib/debug is the folder "shared" of this test, and
# nobody else sees it.
in_debug_folder() {
    mkdir -p shared
    # shellcheck disable=SC2016
    unshare --mount bash -c 'mount --bind shared /usr/lib/debug && exec "$@"' - "$@"
}

@test "code files: debug information in /usr/lib/debug, by build-id and by name" {
    in_debug_folder true 2>/dev/null || skip "folders cannot be mounted on others here"
    local id folder
    id=$(readelf -n good | sed -n 's/ *Build ID: //p')
    folder=shared/.build-id/${id:0:2}
    named_shared() { # yes|no WHAT
        run --separate-stderr -0 in_debug_folder timeout 10 "$WEND" show --sites --csv app.dir
        named "$1" "$2"
    }
    objcopy --only-keep-debug good other.debug
    strip program
    named_shared no stripped
    mkdir -p "$folder"
    cp other.debug "$folder/${id:2}.debug"
    named_shared yes 'by build-id'
    [ -z "$stderr" ] || fail "$stderr"
    # the program is not needed, and one that has changed is not asked
    rm program
    named_shared yes 'by build-id, and no program'
    echo 'no program' >program
    named_shared yes 'by build-id, and another program'
    strip -o program good
    # what has another build-id does not count
    sed '20i int another_line;' "$SOURCE_DIR/tests/programs/sites.c" >another.c
    "$MPICC" -g -O1 -w another.c -o another -ldl -lpthread
    objcopy --only-keep-debug another "$folder/${id:2}.debug"
    named_shared no 'of another program'
    rm -r shared/.build-id
    # by the name in .gnu_debuglink, below the path of the program's folder
    objcopy --add-gnu-debuglink=other.debug program
    mkdir -p "shared$PWD"
    mv other.debug "shared$PWD/"
    named_shared yes 'by its path'
    # elsewhere nobody sees this folder
    show
    named no 'not in /usr/lib/debug'
}
