# SPDX-License-Identifier: BSD-3-Clause
# Text of a recording never becomes code in a proxy, whatever the application or the archive has.
bats_require_minimum_version 1.5.0
load ../helpers
setup() {
    in_scratch
    SCRIPT=$BUILD_DIR/tests/decoder/script
    touch='system("touch injected")'
}

# compiles_everywhere DIR: compiles the proxy of DIR by two standards; ./proxy is from the first.
# The second has no trigraphs.
compiles_everywhere() {
    make_proxy "$1" ./proxy &&
        "$MPICC" -std=gnu17 "${PROXY_CFLAGS[@]:1}" -O1 proxy.c -o proxy-gnu17
}

# Text that would be code in a program: in comments, literals, spliced lines.
hostile_texts() {
    long=$(printf '%05000d' 7)
    texts=(
        "*/ int injected = $touch; /*" $'*\\\n/ int injected = '"$touch; /*"
        $'*??/\n/ int injected = '"$touch; /*" '"); '"$touch"'; ("' '\"); '"$touch"'; (\"'
        '??/"); '"$touch"'; ("' "');$touch;('" '\' '\\' '??/' '??' '?' '"' $'\n'
        $'\r\n#include "injected"\n' '//' '/*' '*/' '%s%n' '\x41' '\0' '\u202e'
        '${PATH}' '`touch injected`' '$(touch injected)'
        $'\x01\x02\x7f\x1b[2J' $'caf\xc3\xa9 \xe2\x80\xae \xff\xfe0'
        "one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve, thirteen, \\"
        "${long:0:4094}\\" "${long:0:4094}??/" "${long}\"; $touch; \"*/" $'\xff'"${long}'"
    )
}

@test "whatever text the application passes to MPI, its proxy compiles and passes it too" {
    hostile_texts
    local hostile="x*; \"$touch;\\"$'\n'"??"
    cp "$PROGRAMS/hostile" "$hostile"
    same_output 2 "./$hostile" "${texts[@]}"
    [ "$plain_status" = 0 ]
    compiles_everywhere app.dir
    quietly proxy.out record proxy.dir 2 ./proxy
    "$WEND" diff app.dir proxy.dir
    quietly gnu17.out record gnu17.dir 2 ./proxy-gnu17
    "$WEND" diff app.dir gnu17.dir
    "$PROXYGEN" app.dir -o several/
    make -s -C several CC="$MPICC" CFLAGS="${PROXY_CFLAGS[*]}"
    quietly several.out record several.dir 2 several/proxy
    "$WEND" diff app.dir several.dir
    [ ! -e injected ]
    [ ! -e several/injected ]
}

# altered FROM TO CHANGE…: archive TO is FROM as alter.py makes it of each CHANGE.
altered() {
    local from=$1 to=$2
    shift 2
    local members
    members=$(tar --zstd -tf "$from/trace.tar.zst")
    rm -rf unpacked "$to"
    mkdir -p unpacked "$to"
    tar --zstd -xf "$from/trace.tar.zst" -C unpacked
    "$PYTHON" "$BATS_TEST_TMPDIR/alter.py" "$@" || return
    # shellcheck disable=SC2086
    tar --zstd --format=pax -C unpacked -cf "$to/trace.tar.zst" $members
}

# named NAME: how an archive writes the name of a function or constant that does not begin with MPI_
named() {
    "$PYTHON" -c 'import sys
name = b"." + sys.argv[1].encode()
n = len(name)
length = bytes([n]) if n < 128 else bytes([n & 127 | 128, n >> 7])
print(ascii(length + name)[2:-1])' "$1"
}

# refused_as TEXT DIR: each reader refuses it in one line, which names the archive and has TEXT
refused_as() {
    local text=$1 dir=$2
    for command in "$WEND show" "$WEND dump" "$WEND diff $dir" "$PROXYGEN -o out.c"; do
        run --separate-stderr timeout 20 $command "$dir"
        [ "$status" = 3 ] && [ "$(printf '%s\n' "$stderr" | wc -l)" = 1 ] &&
            [[ $stderr == *"$dir"*"$text"* ]] ||
            fail "$command: status $status (wanted 3), and not '$text':" "$stderr" || return
        [ ! -e out.c ] || return
    done
}

@test "foreign text is escaped in the comments of a proxy" {
    hostile_texts
    cat >alter.py <<'END'
import sys
data = open("unpacked/meta", encoding="utf-8").read()
text = " ".join(sys.argv[1:]).encode(errors="ignore").decode()
text = text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
for key in "run.program", "run.arguments", "run.hosts", "run.job", "mpi.library", "mpi.family":
    group, name = key.split(".")
    data = data.replace(f"[{group}]\n", f"[{group}]\n{name}={text}\n")
    assert f"[{group}]" in data
open("unpacked/meta", "w", encoding="utf-8").write(data)
END
    printf 'fact run.program=x\nfact mpi.library=x\nranks 1\nMPI_Init\nMPI_Finalize\n' >script
    "$SCRIPT" script app.dir
    altered app.dir t "${texts[@]}"
    compiles_everywhere t
    grep -q '%2A%2F int injected = system' proxy.c
    mpi 1 ./proxy
    mpi 1 ./proxy-gnu17
    [ ! -e injected ]
}

# Makes app.dir, and alter.py, which replaces the first occurrence of bytes: OLD=>NEW, as in Python.
# If there is none, that is a failure.
archive_to_alter() {
    cat >alter.py <<'END'
import ast, os, sys
for change in sys.argv[1:]:
    old, new = (ast.literal_eval(f'b"{side}"') for side in change.split("=>"))
    for name in sorted(os.listdir("unpacked")):
        data = open("unpacked/" + name, "rb").read()
        if old in data:
            open("unpacked/" + name, "wb").write(data.replace(old, new, 1))
            break
    else:
        sys.exit("not there: " + change)
END
    cat >script <<'END'
fact error.5=MPI_ERR_COMM
fact unrecorded.MPIX_Nothing=1
ranks 2
MPI_Init
MPI_Send count=1
MPI_Finalize
END
    "$SCRIPT" script app.dir
}

@test "names of constants and functions that are not identifiers are refused" {
    local hostile call="MPI_INT + (${touch//\"/\'}, 0)"
    archive_to_alter
    for hostile in "$call" "MPI INT" "MPI_INT;" "MPI_INT\\\\" 7MPI "MPI_$(printf '%01020d' 7)" \
        ""; do
        altered app.dir t "\x03INT=>$(named "$hostile")"
        refused_as "a name is not an identifier" t
        altered app.dir t "\x04Send=>$(named "$hostile")"
        refused_as "a name is not an identifier" t
    done
}

@test "hostile names of error classes and of functions that were not recorded" {
    archive_to_alter
    altered app.dir t "=MPI_ERR_COMM=>=MPI_ERR_COMM;system()"
    refused_as "a name is not an identifier" t
    altered app.dir t "MPIX_Nothing=>MPIX_Nothing()"
    refused_as "a name is not an identifier" t
}

@test "identifiers that are not MPI's are refused" {
    archive_to_alter
    altered app.dir t "\x03INT=>$(named system)"
    "$WEND" dump t | grep -q system
    run --separate-stderr "$PROXYGEN" t -o out.c
    [ "$status" = 3 ]
    [[ $stderr == *"system is not a constant of MPI"* ]]
    [ ! -e out.c ]
    # Functions must be in Wend's table.
    altered app.dir t "\x08Finalize=>$(named abort)"
    refused_as "does not know" t
}

@test "the proxy of a call that could not start a program starts none" {
    # The file is not in this folder, but the launcher finds it in its path.
    mkdir found
    printf '#!/bin/sh\ntouch "%s/injected"\n' "$PWD" >found/started
    chmod +x found/started
    printf '%s\n' 'ranks 1' MPI_Init 'MPI_Comm_set_errhandler errhandler=MPI_ERRORS_RETURN' \
        'MPI_Comm_spawn command=started maxprocs=1 -> rc=1' MPI_Finalize >script
    "$SCRIPT" script t
    make_proxy t ./proxy
    # Not every library can start programs.
    [ "$(grep -c 'program_path : none;' proxy.c)" = 1 ]
    # The result of a job whose launcher finds no program depends on the launcher.
    PATH=$PWD/found:$PATH TEST_TIMEOUT=10 mpi 1 ./proxy >out 2>&1 || true
    [ ! -e injected ]
}
