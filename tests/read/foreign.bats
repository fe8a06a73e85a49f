# SPDX-License-Identifier: BSD-3-Clause
# Names, arguments and texts of a recording are foreign text. Printed by any command or by the
# recorder, they cannot control a terminal, hide text or imitate a line.
bats_require_minimum_version 1.5.0
load ../helpers

# Escape sequences, a line of Wend's, DEL; C1, bidirectional, invisible and tag characters; bytes
# that are not UTF-8. The first has no newline, and neither has a slash. As bytes, because the shell
# has the locale C: U+009B, U+202E, U+2066, U+200B, U+2028, U+FEFF, U+E0041.
characters=$'\e[2J\e]0;owned\a\x7f\\\xc2\x9b2J\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8b\xe2\x80\xa8'
characters+=$'\xef\xbb\xbf\xf3\xa0\x81\x81'
hostile=$characters$'\nwend: forged\x9b\xff'

setup() {
    in_scratch
    [ -x "${PYTHON:-}" ] || command -v "$PYTHON" >/dev/null || skip "no Python"
    cat >is-clean.py <<'PY'
import sys, unicodedata
for path in sys.argv[2:]:
    text = open(path, "rb").read().decode("utf-8")
    for line in text.split("\n"):
        for c in line:
            assert unicodedata.category(c) not in ("Cc", "Cf", "Zl", "Zp", "Cs"), (path, line)
            assert sys.argv[1] != "C" or ord(c) < 0x7f, (path, line)
        assert not line.startswith("wend: forged"), (path, line)
PY
}

# In both kinds of locale the command ends with STATUS, and its output and errors have no unsafe
# text. A refusal is one line that shows the text in escaped form.
is_safe() { # STATUS command…
    local expected=$1 locale status
    shift
    for locale in C C.UTF-8; do
        status=0
        LC_ALL=$locale timeout 20 "$@" >stdout 2>stderr </dev/null || status=$?
        [ "$status" = "$expected" ] ||
            fail "status $status, wanted $expected: $*" "$(cat -v stderr)" || return
        "$PYTHON" is-clean.py "$locale" stdout stderr || fail "$*" || return
        ((expected < 2)) || [ "$(wc -l <stderr)" = 1 ] ||
            fail "not one line: $*" "$(cat -v stderr)" || return
    done
}

script() { # makes the recording $2 of script $1
    "$BUILD_DIR/tests/decoder/script" "$1" "$2"
}

# Applies lines of Python to the lines of meta in the recording DIR.
rewrite_meta() {
    mkdir "$1.members"
    tar --zstd -xf "$1/trace.tar.zst" -C "$1.members"
    HOSTILE=$characters "$PYTHON" - "$1.members/meta" <<'PY'
import os, sys
hostile = os.environ["HOSTILE"].replace("\\", "\\\\") + "\\nwend: forged"
key = "".join(c for c in os.environ["HOSTILE"] if ord(c) > 0xff) # a key has no control characters
facts = {"run": ["program", "arguments", "hosts", "job"], "mpi": ["library", "version", "thread"]}
text = open(sys.argv[1], encoding="utf-8").read()
ours = ("[run]", "[mpi]", "program=", "library=")
text = "\n".join(l for l in text.split("\n") if not l.startswith(ours))
for group, keys in facts.items():
    text += f"\n[{group}]\n" + "".join(f"{k}={hostile}\n" for k in keys)
text += f"\n[ended]\n{key}=0-1\n\n"
text += f"[{key}]\n{key}={hostile}\n"
open(sys.argv[1], "w", encoding="utf-8").write(text)
PY
    # shellcheck disable=SC2046
    (cd "$1.members" && tar --zstd --format=pax -cf "../$1/trace.tar.zst" $(ls))
}

@test "foreign text in a recording: show, dump in each format, diff, proxygen" {
    printf '%s\n' 'ranks 2' 'rank *' MPI_Init \
        "MPI_Comm_set_name comm=MPI_COMM_WORLD comm_name=\"$characters" \
        'MPI_Send dest=self tag=7 -> rc=6' MPI_Finalize >lines
    printf 'MPI_Comm_set_name comm=MPI_COMM_WORLD comm_name=\x9b2J\xff"\n' >more
    cat lines more >all
    script all hostile.dir
    script lines other.dir
    rewrite_meta hostile.dir
    is_safe 0 "$WEND" show hostile.dir
    grep -qF '\u202e' stdout && grep -qF '\nwend: forged' stdout && grep -qF '\u009b2J' stdout ||
        fail "$(cat -v stdout)"
    is_safe 0 "$WEND" show --all --json hostile.dir
    grep -qF '\u202e' stdout && grep -qF '\udb40\udc41' stdout || fail "$(cat -v stdout)"
    "$PYTHON" -c 'import json
assert "\u202e" in json.load(open("stdout"))["meta"]["run"]["program"]'
    for format in text csv jsonl; do
        is_safe 0 "$WEND" dump -F $format hostile.dir
        grep -qF '\u202e' stdout ||
            fail "$format: $(cat -v stdout)"
    done
    "$PYTHON" -c 'import json
names = [json.loads(l)["arguments"].get("comm_name") for l in open("stdout")]
assert "\x9b2J\xff\"" in names, names'
    is_safe 0 "$WEND" dump hostile.dir
    grep -qF 'comm_name="\x9b2J\xff\""' stdout || fail "$(cat -v stdout)"
    is_safe 1 "$WEND" diff hostile.dir other.dir
    is_safe 0 "$WEND" diff hostile.dir hostile.dir
    is_safe 3 "$PROXYGEN" hostile.dir -o out.c # its ranks ended early
    sed -i '/^\[ended\]/,/^$/d' hostile.dir.members/meta
    (cd hostile.dir.members && tar --zstd -cf ../hostile.dir/trace.tar.zst meta program)
    is_safe 0 "$PROXYGEN" --force hostile.dir -o out.c
}

@test "foreign text in error lines: names of files, programs and options" {
    : >"$hostile"
    mkdir "d$hostile"
    for command in show dump merge; do
        is_safe 3 "$WEND" $command "$hostile"
        is_safe 3 "$WEND" $command "d$hostile"
        is_safe 3 "$WEND" $command "nowhere$hostile"
        is_safe 2 "$WEND" $command "--no$hostile" x
    done
    is_safe 3 "$WEND" diff "$hostile" "d$hostile"
    is_safe 2 "$WEND" "$hostile"
    is_safe 4 "$WEND" trace "./nowhere$hostile"
    is_safe 3 "$WEND" trace -o "$hostile" true
    is_safe 2 "$WEND" trace "--no$hostile" true
    is_safe 3 "$PROXYGEN" "$hostile" -o out.c
    is_safe 2 "$PROXYGEN" "--no$hostile"
    printf '%s\n' MPI_Init MPI_Finalize >lines
    script lines "good$hostile"
    for options in -r -c -f -F; do
        is_safe 2 "$WEND" dump $options "$characters" "good$hostile"
    done
    is_safe 2 "$WEND" show -w 7 "good$hostile"
    is_safe 3 "$PROXYGEN" "good$hostile" -o "$hostile"
    is_safe 4 "$PROXYGEN" "good$hostile" -o "nowhere$hostile/out.c"
    printf '%s\n' 'ranks 2' 'rank *' MPI_Init MPI_Finalize >lines
    script lines "two$hostile"
    is_safe 1 "$WEND" diff "good$hostile" "two$hostile"
    grep -qF '\nwend: forged' stdout
}

@test "printable characters pass only if the terminal takes UTF-8" {
    name=$'f\xc3\xbcr\xe4\xb8\xad'
    run --separate-stderr env LC_ALL=C.UTF-8 "$WEND" show "$name"
    [[ "$stderr" == "wend show: $name: "* ]] || fail "$stderr"
    run --separate-stderr env LC_ALL=C "$WEND" show "$name"
    [[ "$stderr" == 'wend show: f\u00fcr\u4e2d: '* ]] || fail "$stderr"
}

# The recorder's lines contain the names of the program and of the directory.
recorder_says() { # STATUS EXPECTED N command…, with the recorder's lines on standard error
    local status=0
    mpi "$3" sh -c 'exec "$@" 2>>said' - "${@:4}" >out 2>launcher || status=$?
    [ "$status" = "$1" ] || [ "$1" = any ] || fail "status $status" "$(cat -v said)" || return
    "$PYTHON" is-clean.py C said && [ "$(grep -c '^wend: ' said)" = 1 ] && grep -qF -- "$2" said ||
        fail "without $2:" "$(cat -v said)" || return
    rm said
}
@test "foreign text in the recorder's lines" {
    cp "$PROGRAMS/hello" "h$hostile"
    cp "$PROGRAMS/dying" "y$hostile"
    cp "$(type -P true)" "t$hostile"
    seen='\x1b[2J\x1b]0;owned\x07\x7f\\\u009b2J\u202e\u2066\u200b\u2028'
    seen+='\ufeff\U000e0041\nwend: forged\x9b\xff'
    recorder_says 0 "d$seen" 2 "$WEND" trace -o "d$hostile" "./h$hostile" "$hostile"
    is_safe 0 "$WEND" show "d$hostile"
    grep -qF '\x1b[2J' stdout
    recorder_says 0 "t$seen" 1 "$WEND" trace -o e.dir "./t$hostile"
    recorder_says any "s$seen" 2 "$WEND" trace -o "s$hostile" "./y$hostile" SIGTERM
    is_safe 0 "$WEND" merge --force "s$hostile"
    grep -qF "s$seen" stdout || fail "$(cat -v stdout)"
    : >file
    WEND_OUTPUT="$PWD/file/$hostile" LD_PRELOAD=$LIBWEND recorder_says 0 "$seen" 2 "./h$hostile"
}

@test "all output goes through the functions for foreign text" {
    local found calls='\b([fd]|v|vf|vd)?printf\(|\bf?put(s|c|char)\(|\b(perror|g_print|fwrite)'
    local allowed=' src/command/command.c src/tracer/process/state.c '
    allowed+='src/tracer/lifecycle/top.c '
    cd "$SOURCE_DIR"
    found=$(perl -ne 's/"(\\.|[^"\\])*"//g;
            print "$ARGV:$.:$_" if /'"$calls"'/; close ARGV if eof' \
        lib/*/*.c src/*/*.c src/*/*/*.c | while IFS= read -r line; do
            # helpers are a proxy's: what they print is of the proxy itself
            [[ $allowed == *" ${line%%:*} "* || $line == src/proxygen/runtime/helpers-* ]] ||
                printf '%s\n' "$line"
        done)
    [ -z "$found" ] || fail "use command.h, state_say() or text.h:" "$found"
}
