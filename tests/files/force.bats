# SPDX-License-Identifier: BSD-3-Clause
# Files in the way of a recording: only files that Wend made are ever removed.
bats_require_minimum_version 1.5.0
load ../helpers
setup() {
    in_scratch
    mkdir work
    cd work || return
}

precious() { # makes files in the current folder that look like those of a recording
    echo mine >world-notes.txt
    echo mine >world-1.tar.zst
    mkdir thesis.parts world-9.parts trace.parts
    echo mine | tee thesis.parts/chapter world-9.parts/rank-0.a trace.parts/run >/dev/null
}
contents() { # lists folder $1, without following links
    (cd "$1" && find . -type f -exec cksum {} + -o -type l -printf '%p -> %l\n' -o -print | sort)
}
is_refused() { # DIR: before the program runs, and nothing is removed; without wend trace it runs
    local before after
    before=$(contents .)
    ! mpi 2 "$WEND" trace --force -o "$1" "$PROGRAMS/hello" >../out 2>../err ||
        fail "$1: it was not refused" || return
    ! grep -q "hello from" ../out || fail "$1: it ran" || return
    [ "$(grep -c "^wend trace: .*is not part of a recording" ../err)" = 1 ] ||
        fail "$1: $(cat ../err)" || return
    WEND_FORCE=1 WEND_OUTPUT=$1 LD_PRELOAD=$LIBWEND mpi 2 "$PROGRAMS/hello" >../out 2>../err ||
        fail "$1: status $?" || return
    [ "$(cat ../out)" = "hello from 2 ranks: 1" ] || fail "$1: $(cat ../out)" || return
    [ "$(grep -c '^wend: .*is not part of a recording' ../err)" = 1 ] || fail "$1: $(cat ../err)" ||
        return
    after=$(contents .)
    [ "$before" = "$after" ] || fail "$1: before $before" "after $after"
}

@test "--force removes nothing from a directory that Wend did not make" {
    mkdir folder
    (cd folder && precious)
    is_refused folder
    ln -s folder link
    is_refused link
    mv folder/* .
    rmdir folder
    rm link
    is_refused .
}

@test "--force removes a recording, but nothing if there is another file" {
    for foreign in world-notes.txt thesis.parts/chapter world-9.parts/rank-0.a trace.parts/notes \
        .trace.tar.zst.backup .wend-notes; do
        rm -rf a.dir
        record a.dir 2 "$PROGRAMS/hello"
        mkdir -p "a.dir/$(dirname "$foreign")"
        echo mine >"a.dir/$foreign"
        is_refused a.dir
    done
}

@test "--force follows no symbolic link" {
    mkdir elsewhere
    (cd elsewhere && precious)
    for name in trace.tar.zst trace.parts .wend world-1.parts; do
        rm -rf a.dir
        record a.dir 2 "$PROGRAMS/hello"
        echo world-1.parts >>a.dir/.wend
        mv a.dir/.wend saved-marker
        cp saved-marker a.dir/.wend
        rm -rf "a.dir/$name"
        case $name in
        trace.tar.zst) ln -s ../elsewhere/world-notes.txt a.dir/$name ;;
        .wend) ln -s ../saved-marker a.dir/$name ;;
        *) ln -s ../elsewhere/trace.parts "a.dir/$name" ;;
        esac
        is_refused a.dir
    done
}

@test "--force replaces a recording with all its worlds and parts, also through a link to it" {
    mpi 2 "$WEND" trace -o a.dir "$PROGRAMS/dying" SIGTERM >/dev/null 2>&1 || true
    [ -e a.dir/trace.parts/rank-1.a ]
    record b.dir 1 "$PROGRAMS/hello"
    ln -s a.dir link
    # parts of another world, and files that a killed merge leaves
    cp b.dir/trace.tar.zst a.dir/world-1.2-3.tar.zst
    cp -r a.dir/trace.parts a.dir/world-1.2-3.parts
    printf 'world-1.2-3.%s\n' parts tar.zst >>a.dir/.wend
    cp b.dir/trace.tar.zst a.dir/.wend-0123456789abcdef
    mpi 2 "$WEND" trace --quiet --force -o link "$PROGRAMS/hello"
    [ "$(ls -A a.dir)" = "$(printf '%s\n' .wend trace.tar.zst)" ] || fail "$(ls -A a.dir)"
    "$WEND" dump a.dir --rank 1 | grep -q MPI_Allreduce
}

@test "wend merge --remove removes parts and nothing else" {
    mpi 2 "$WEND" trace -o a.dir "$PROGRAMS/dying" SIGTERM >/dev/null 2>&1 || true
    cp -r a.dir b.dir
    echo mine | tee a.dir/trace.parts/notes >a.dir/notes
    mkdir a.dir/thesis.parts a.dir/trace.parts/rank-7.a
    echo mine | tee a.dir/trace.parts/rank-7.a/chapter >a.dir/thesis.parts/rank-0.a
    "$WEND" merge --remove a.dir
    [ "$(ls -A a.dir/trace.parts)" = "$(printf '%s\n' notes rank-7.a)" ] ||
        fail "$(ls -A a.dir/trace.parts)"
    for file in notes trace.parts/notes trace.parts/rank-7.a/chapter thesis.parts/rank-0.a; do
        [ "$(cat "a.dir/$file")" = mine ]
    done
    # the files that it made are Wend's
    "$WEND" merge --remove b.dir
    [ "$(ls -A b.dir)" = "$(printf '%s\n' .wend trace.tar.zst)" ] || fail "$(ls -A b.dir)"
    mpi 2 "$WEND" trace --quiet --force -o b.dir "$PROGRAMS/hello"
}

# unfinished DIR: all readers say so, in one line that has a command, which works as printed
unfinished() {
    local words line command=
    for words in "$WEND show $1" "$WEND dump $1" "$WEND diff $1 $1" "$WEND export --csv -o x $1" \
        "$PROXYGEN -o proxy.c $1" "$WEND replay $1 $PROGRAMS/hello" \
        "$BUILD_DIR/tests/read/dump-text $1"; do
        [ -x "${words%% *}" ] || continue # a build for a second library has no dump-text
        # shellcheck disable=SC2086
        run timeout "$TEST_TIMEOUT" $words
        line=$(grep -o 'a.dir: unfinished: .*' <<<"$output") || fail "$words: $output" || return
        [ "$(grep -c . <<<"$output")" = 1 ] || fail "$words: $output" || return
        command=${line#*unfinished: }
    done
    [[ $command == "wend merge "* ]] || fail "$command" || return
    PATH=$(dirname "$WEND"):$PATH bash -c "$command" >merged || return
}

@test "a recording that begins invalidates the one before, and its own is merged as printed" {
    local family=mpich command
    library_is mpich || family=openmpi
    record a.dir 2 "$PROGRAMS/hello"
    # a program that never starts MPI has begun no recording
    run --separate-stderr "$WEND" trace --mpi $family -f -o a.dir true
    [[ $stderr == *"nothing was recorded, and what an earlier run has recorded is still there" ]] ||
        fail "$stderr"
    "$WEND" dump a.dir | grep -q MPI_Allreduce
    mpi 2 "$WEND" trace -f -o a.dir "$PROGRAMS/dying" SIGTERM >out 2>err || true
    [ ! -e a.dir/trace.tar.zst ]
    unfinished a.dir
    "$WEND" show a.dir | grep -q 'signal SIGTERM'
    # over parts, too
    mpi 2 "$WEND" trace -f -o a.dir "$PROGRAMS/dying" abort >out 2>err || true
    unfinished a.dir
    "$WEND" show a.dir | grep -q 'MPI_Abort 3'
    # a name that a shell would take apart
    mkdir "it's one"
    mpi 2 "$WEND" trace -o "it's one/a.dir" "$PROGRAMS/dying" SIGTERM >out 2>&1 || true
    command=$(grep -o 'wend merge .*' out)
    PATH=$(dirname "$WEND"):$PATH bash -c "$command" | grep -q "it's one/a.dir\$"
}

@test "what was merged while the run went on is merged again when the run has died" {
    mpi 2 "$WEND" trace -o a.dir "$PROGRAMS/dying" SIGTERM >out 2>&1 || true
    "$WEND" merge a.dir
    run -3 "$WEND" merge a.dir
    touch -d '1 hour ago' a.dir/trace.tar.zst
    "$WEND" merge a.dir
}

@test "a run into whose folder another one records since leaves that alone" {
    cat >waits.c <<'C'
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    fclose(fopen("begun", "w"));
    while (access("other", F_OK) != 0)
        usleep(10000);
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" waits.c -o waits
    mpi 1 "$WEND" trace -o a.dir ./waits 2>err &
    until [ -e begun ]; do sleep 0.1; done
    mpi 2 "$WEND" trace -f -o a.dir "$PROGRAMS/dying" SIGTERM >out 2>&1 || true
    [ -e a.dir/trace.parts/rank-1.a ]
    : >other
    wait $!
    grep -q '^wend: .*another run records there since: .*a.dir' err || fail "$(cat err)"
    unfinished a.dir
    "$WEND" show a.dir | grep -q 'signal SIGTERM'
}
