# SPDX-License-Identifier: BSD-3-Clause
# Every command and subcommand has --help, --version, a manual page and completion, and the four
# agree on the options.
load ../helpers

commands() { # "NAME|words to run it"
    echo "wend|$WEND"
    "$WEND" --help | sed -n 's/^  wend \([a-z][a-z]*\) .*/\1/p' | while read -r command; do
        echo "wend-$command|$WEND $command"
    done
    echo "proxygen|$PROXYGEN"
}
# each_command FUNCTION: calls FUNCTION with the name and the words of each command. Goes on after a
# failure, and fails at the end.
each_command() {
    local failed=0 name words seen=0
    while IFS='|' read -r name words; do
        # shellcheck disable=SC2086
        "$1" "$name" $words || failed=1
        ((++seen))
    done < <(commands)
    [ $seen -ge 6 ] || fail "only $seen commands found" || return
    return $failed
}
options_of() { # the long options in the help of a command
    "$@" --help | sed -nE 's/^ *(-[a-zA-Z?])?,? *(--[a-z][a-z0-9-]*).*/\2/p' | sort -u
}
page_of() { # manual page as text without its escapes, man or mdoc
    sed 's/\\-/-/g; s/\\f.//g; s/Fl -/--/g' "$SOURCE_DIR/man/$1.1"
}

@test "the commands are those that the manual promises" {
    names=$(commands | cut -d '|' -f 1)
    for name in wend wend-{trace,replay,merge,show,dump,diff,export} proxygen; do
        grep -qx -- "$name" <<<"$names" || fail "$name is not in: $names"
    done
}

has_help() {
    local name=$1
    shift
    "$@" --help >"$BATS_TEST_TMPDIR/help" 2>"$BATS_TEST_TMPDIR/err" ||
        { fail "$name --help: status $?"; return 1; }
    [ ! -s "$BATS_TEST_TMPDIR/err" ] && grep -qi usage "$BATS_TEST_TMPDIR/help" &&
        [ -n "$(options_of "$@")" ] || fail "$name --help says too little"
}
@test "--help" { each_command has_help; }

has_version() {
    local name=$1
    shift
    [[ "$("$@" --version)" == *"$PACKAGE_VERSION"* ]] ||
        fail "$name --version: not $PACKAGE_VERSION"
}
@test "--version" { each_command has_version; }

reports_a_full_disk() {
    local name=$1 option status bad=0
    shift
    for option in --help --version; do
        status=0
        "$@" $option >/dev/full 2>err || status=$?
        [ $status = 4 ] && [ "$(wc -l <err)" = 1 ] &&
            grep -q ": cannot write the output: No space left on device$" err ||
            { fail "$name $option >/dev/full: status $status" "$(cat err)"; bad=1; }
        bash -c 'set -o pipefail; "$@" | true' - "$@" $option 2>err && [ ! -s err ] ||
            { fail "$name $option | true"; bad=1; }
    done
    return $bad
}
@test "--help and --version to a full or closed output" {
    [ -c /dev/full ] || skip "no /dev/full"
    cd "$BATS_TEST_TMPDIR"
    each_command reports_a_full_disk
}

has_page() {
    local name=$1 option bad=0
    shift
    [ -f "$SOURCE_DIR/man/$name.1" ] || { fail "no man/$name.1"; return 1; }
    page_of "$name" >"$BATS_TEST_TMPDIR/page"
    options_of "$@" >"$BATS_TEST_TMPDIR/options"
    for option in $(<"$BATS_TEST_TMPDIR/options"); do
        grep -qE -- "$option([^a-z-]|\$)" "$BATS_TEST_TMPDIR/page" ||
            { echo "man/$name.1 lacks $option" >&2; bad=1; }
    done
    # the reverse: each option with a tag in the page exists
    for option in $(grep -E '^\.(It|B|BR|BI|IP) -' "$BATS_TEST_TMPDIR/page" |
        grep -oE -- '--[a-z][a-z0-9-]*' | sort -u); do
        grep -qx -- "$option" "$BATS_TEST_TMPDIR/options" ||
            { echo "man/$name.1 has $option, the command has not" >&2; bad=1; }
    done
    return $bad
}
@test "manual pages, option by option" { each_command has_page; }

page_is_clean() {
    command -v mandoc >/dev/null || command -v groff >/dev/null || return 0
    local page=$SOURCE_DIR/man/$1.1 complaints
    if command -v groff >/dev/null; then
        complaints=$(groff -mandoc -Tutf8 -ww "$page" 2>&1 >/dev/null)
    else
        complaints=$(mandoc -T lint -W warning "$page")
    fi
    [ -z "$complaints" ] || fail "$1: $complaints"
}
@test "manual pages are well formed" { each_command page_is_clean; }

# completed_by_SHELL WORD…: prints the words that the shell offers for the last word, one a line.
# each_by_SHELL WORD…: the same for each last word that it reads. It prints that one before them.
completed_by_bash() { each_by_bash "${@:1:$#-1}" <<<"${!#}" | cut -d ' ' -f 2-; }
each_by_bash() {
    bash -c '
        compopt() { :; }
        source "$1"
        shift
        while read -r word; do
            COMP_WORDS=("$@" "$word")
            COMP_CWORD=$#
            COMPREPLY=()
            "_${1##*/}" "$1"
            printf -- "$word %s\n" "${COMPREPLY[@]}"
        done
    ' - "$SOURCE_DIR/completion/${1##*/}" "$@"
}
each_by_zsh() {
    local word
    while read -r word; do completed_by_zsh "$@" "$word" | sed "s|^|$word |"; done
}
completed_by_zsh() {
    zsh -f "$SOURCE_DIR/tests/house/completion.zsh" "$SOURCE_DIR/completion/zsh/_wend" "$@"
}
completed_by_fish() { each_by_fish "${@:1:$#-1}" <<<"${!#}" | cut -d ' ' -f 2-; }
each_by_fish() {
    local program=${1##*/} folder
    folder=$(dirname "$1")
    shift
    # fish asks the program that the path leads to
    PATH=$folder:$PATH HOME=$BATS_TEST_TMPDIR fish --no-config -c "
        source '$SOURCE_DIR/completion/fish/$program.fish'
        while read -l word
            complete -C \"$program $* \$word\" | cut -f 1 | sed \"s|^|\$word |\"
        end"
}

is_completed() {
    local name=$1 option bad=0
    shift
    options_of "$@" >"$BATS_TEST_TMPDIR/options"
    "each_by_$SHELL_TRIED" "$@" <"$BATS_TEST_TMPDIR/options" >"$BATS_TEST_TMPDIR/completed"
    for option in $(<"$BATS_TEST_TMPDIR/options"); do
        grep -qx -- "$option $option" "$BATS_TEST_TMPDIR/completed" ||
            { echo "$name: $option is not completed" >&2; bad=1; }
    done
    return $bad
}

# Options, commands, and values behind the option as a word of their own or with "=".
completes() {
    SHELL_TRIED=$1
    command -v "$1" >/dev/null || skip "no $1"
    cd "$BATS_TEST_TMPDIR"
    each_command is_completed || return
    local command
    for command in trace replay merge show dump diff export; do
        "completed_by_$1" "$WEND" "${command:0:2}" | grep -qx "$command" ||
            fail "$command is not completed" || return
        "completed_by_$1" "$WEND" help "${command:0:2}" | grep -qx "$command" ||
            fail "$command is not completed after help" || return
    done
    "completed_by_$1" "$WEND" trace --mpi '' | grep -qx openmpi || fail "--mpi has no values"
}
@test "completion for bash" {
    completes bash
    completed_by_bash "$WEND" trace --mpi = | grep -qx openmpi
    completed_by_bash "$WEND" trace --mpi = o | grep -qx openmpi
    completed_by_bash "$PROXYGEN" --target = m | grep -qx mpich
    mkdir later
    completed_by_bash "$WEND" trace --mpi = openmpi ./app la | grep -qx later
    # the program comes after the value; options behind it belong to it
    completed_by_bash "$WEND" trace --mpi = openmpi mkdi | grep -qx mkdir
    completed_by_bash "$WEND" trace --forc | grep -qx -- --force
    for before in "--mpi = openmpi" "-o dir" "-q"; do
        # shellcheck disable=SC2086
        options=$(completed_by_bash "$WEND" trace $before ./app --forc)
        [ -z "$options" ] || fail "$before: $options"
    done
}
@test "completion for zsh" {
    completes zsh
    completed_by_zsh "$WEND" trace --mpi= | grep -qx openmpi
    [ "$(completed_by_zsh "$WEND" trace --mpi=o)" = openmpi ]
    completed_by_zsh "$WEND" trace -o dir ls --al | grep -qF '(as by itself: ls --al)'
    completed_by_zsh "$PROXYGEN" --target=m | grep -qx mpich
}
@test "completion for fish" {
    completes fish
    completed_by_fish "$WEND" trace --mpi= | grep -qx -- --mpi=openmpi
    mkdir later
    completed_by_fish "$WEND" trace -o dir ./app la | grep -qx later/
    completed_by_fish "$PROXYGEN" --target=m | grep -qx -- --target=mpich
}

@test "README names only options that exist" {
    for words in "wend trace" "wend replay" "wend merge" "wend show" "wend dump" "wend diff" \
        "wend export" "proxygen"; do
        run_words=${words/#wend/$WEND}
        run_words=${run_words/#proxygen/$PROXYGEN}
        # shellcheck disable=SC2086
        known=$(options_of $run_words)
        for option in $(grep -oE "(^|[ \`])$words [^|&#]*" "$SOURCE_DIR/README.md" |
            grep -oE -- '--[a-z][a-z0-9-]+' | sort -u); do
            grep -qx -- "$option" <<<"$known" || fail "README: $words has no $option"
        done
    done
}

gives_version() {
    local name=$1
    shift
    [ "$("$@" -V)" = "$("$@" --version)" ] || fail "$name -V: $("$@" -V)"
}
@test "-V is --version" { each_command gives_version; }

@test "wend help COMMAND" {
    for command in trace replay merge show dump diff export; do
        diff <("$WEND" help $command) <("$WEND" $command --help) || fail "$command"
    done
    diff <("$WEND" help) <("$WEND" --help)
    run timeout 20 "$WEND" help nosuch
    [ "$status" = 2 ]
    [ "${#lines[@]}" = 1 ]
    run timeout 20 "$WEND" help show dump
    [ "$status" = 2 ]
    [ "${#lines[@]}" = 1 ]
}

@test "an argument may follow its letter at once, and letters may share a dash" {
    cd "$BATS_TEST_TMPDIR"
    record a.dir 2 "$PROGRAMS/hello"
    mpi 2 "$WEND" trace -qob.dir "$PROGRAMS/hello" >/dev/null 2>err
    [ ! -s err ]
    "$WEND" diff -qm3 a.dir b.dir
    [ "$("$WEND" dump -r1 -Fcsv -fMPI_Allreduce a.dir | wc -l)" = 2 ]
    diff <("$WEND" show -an2 a.dir) <("$WEND" show -a -n 2 a.dir)
    "$PROXYGEN" -oc.c a.dir
    "$PROXYGEN" -fod.c a.dir
    cmp <(grep -v '\.c' c.c) <(grep -v '\.c' d.c)
    # words behind the program, or behind "--", belong to the program
    mpi 1 "$WEND" trace -qoe.dir sh -c 'echo "$@"' - -oDIR -V >out
    [ "$(cat out)" = "-oDIR -V" ]
    run timeout 20 "$WEND" show -- -a.dir
    [ "$status" = 3 ]
}

@test "settings that are no numbers are refused before the program runs, also as variables" {
    cd "$BATS_TEST_TMPDIR"
    refused() { # OPTION VALUE
        local variable=WEND_$2
        run timeout 20 "$WEND" trace "--$1=$3" -o a.dir echo it ran
        [ "$status" = 2 ] && [ "${#lines[@]}" = 1 ] && [[ "$output" == *"--$1=$3"* ||
            -z "$3" ]] || fail "--$1=$3: status $status: $output" || return
        [ -n "$3" ] || return 0 # as a variable it is not given
        run timeout 20 env "$variable=$3" "$WEND" trace -o a.dir echo it ran
        [ "$status" = 2 ] && [ "${#lines[@]}" = 1 ] && [[ "$output" == *"$variable=$3"* ]] ||
            fail "$variable=$3: status $status: $output" || return
    }
    for value in -1 +1 " 1" "1 " 1.5 0x10 1e3 12Q 1KB 1K1 K x "" 99999999999999999999; do
        refused max-memory MAX_MEMORY "$value"
        refused wait WAIT "$value"
        refused checkpoint CHECKPOINT "$value"
        refused disk DISK "$value"
    done
    refused max-memory MAX_MEMORY 9223372036854775807K
    refused wait WAIT 1K
    refused disk DISK 101
    run timeout 20 "$WEND" trace -o "" echo it ran
    [ "$status" = 2 ]
    [ "${#lines[@]}" = 1 ]
    for value in 0 1 64m 2G 9007199254740991K; do
        run timeout 20 "$WEND" trace -q --max-memory=$value -o a.dir echo it ran
        [ "$status" = 0 ]
        [[ "$output" == *"it ran"* ]]
    done
}

@test "an installed tree may be moved: both commands find what they need" {
    cd "$BATS_TEST_TMPDIR"
    quietly out make -s -C "$BUILD_DIR" install DESTDIR="$PWD/root"
    installed=$(dirname "$(dirname "$(find root -path '*/bin/wend')")")
    cp -r "$installed" moved
    rm -r root
    WEND=$PWD/moved/bin/wend record a.dir 2 "$PROGRAMS/hello"
    env -u LD_LIBRARY_PATH moved/bin/wend show a.dir >/dev/null
    family=$(basename "$BUILD_DIR"/spec/*.target .target)
    env -u LD_LIBRARY_PATH moved/bin/proxygen a.dir -o proxy.c --target "$family"
    # libwend-read, found by pkg-config in the moved tree
    export PKG_CONFIG_PATH=$PWD/moved/lib/pkgconfig
    read -ra flags \
        <<<"$(pkg-config --define-variable=prefix="$PWD/moved" --cflags --libs wend-read)"
    cc "$HELPERS_DIR/../examples/read/list-calls.c" "${flags[@]}" -o list-calls
    LD_LIBRARY_PATH=$PWD/moved/lib ./list-calls a.dir | grep -q '^1.0 0 MPI_Init'
}

# machine_readable DIR OUT: all that the commands write for machines of the recordings a.dir and
# b.dir, into the folder OUT.
machine_readable() {
    local table
    mkdir "$1"
    "$WEND" show --json a.dir >"$1/show.json" || return
    for table in matrix sizes comms ranks messages sites waits; do
        "$WEND" show --$table --csv --all a.dir >"$1/$table.csv" || return
    done
    "$WEND" show --sites --json a.dir >"$1/sites.json" || return
    "$WEND" show --waits --json a.dir >"$1/waits.json" || return
    for table in text csv jsonl; do
        "$WEND" dump --format=$table --sites --times --timing a.dir >"$1/dump.$table" || return
        [ $table != csv ] || continue
        "$WEND" dump --format=$table --values a.dir >"$1/values.$table" || return
    done
    "$WEND" diff --stat a.dir b.dir >"$1/stat" || [ $? = 1 ] || return
    "$WEND" export --csv --from=0.000001 --to=100.5 -o "$1/events.csv" a.dir || return
    "$WEND" export --csv=calls -o "$1/calls.csv" a.dir || return
    "$WEND" export --perfetto -o "$1/perfetto" a.dir || return
    "$PROXYGEN" -q a.dir -o "$1/proxy.c" || return
    "$PROXYGEN" -q a.dir -o "$1/proxy/" || return
    cp -r a.dir "$1/symbols" || return
    "$WEND" merge --symbols "$1/symbols" || return
}

@test "a decimal comma of the locale changes nothing that machines read" {
    in_scratch
    localedef -i de_DE -f UTF-8 "$PWD/de_DE.UTF-8" || skip "no localedef, or no locale de_DE"
    cat >comma.c <<'C'
#include <locale.h>
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    double x = 0.5;
    char text[16];
    setlocale(LC_ALL, "");
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 50; i++)
        MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    x = MPI_Wtime();
    MPI_Finalize();
    snprintf(text, sizeof text, "%.1f", 0.5);
    return text[1] != (argc > 1 ? ',' : '.');
}
C
    "$MPICC" -g comma.c -o comma
    comma=(env LOCPATH="$PWD" LC_ALL=de_DE.UTF-8)
    mpi 2 "$WEND" trace -q --values --times=10% -o b.dir ./comma
    mpi 2 "${comma[@]}" "$WEND" trace -q --values --times=10% -o a.dir ./comma x
    "$WEND" show --json a.dir | "$PYTHON" -c '
import json, sys
meta = json.load(sys.stdin)["meta"]
for key in "start", "elapsed":
    float(meta["run"][key])
float(meta["clock"]["resolution"])'
    machine_readable with-point
    LOCPATH=$PWD LC_ALL=de_DE.UTF-8 machine_readable with-comma 2>err || fail "$(cat err)"
    diff -r with-point with-comma
    # numbers are read alike
    for option in "replay --patience=1,5 a.dir true" "export --csv --from=0,5 a.dir -o x" \
        "trace --times=0,5% true" "trace --max-memory=1,5M true"; do
        # shellcheck disable=SC2086
        run "$WEND" $option
        [ "$status" = 2 ] || fail "$option: $status"
        before=$output
        # shellcheck disable=SC2086
        run "${comma[@]}" "$WEND" $option
        [ "$output" = "$before" ] || fail "$option:" "$before" "$output"
    done
    mpi 2 "${comma[@]}" "$WEND" replay -q --patience=20 a.dir ./comma x
}
