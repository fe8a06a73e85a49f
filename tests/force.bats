# SPDX-License-Identifier: BSD-3-Clause
# Files in the way of a recording: only files that Wend made are ever removed.
load helpers
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
