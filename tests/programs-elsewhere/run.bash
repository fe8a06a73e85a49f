#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# run.bash [NAME[/CASE]…]: round trips and replays of other projects' applications (make
# check-elsewhere). NAME is a file beside this one; CASE may be a pattern. Sources are fetched and
# kept, with what is built from them, in $WEND_CACHE (default ~/.cache/wend).
#
# Some cases are replayed (ELSEWHERE_REPLAYS times, 3 by default), and once more while they are
# recorded. A replay is exact if it gives the results of the recorded run. If it is recorded, its
# outcomes must be equal, too (wend diff --outcomes). "replay s" is the median. ELSEWHERE_RECORDINGS
# (1) is how many recordings of such a case are made and replayed. With ELSEWHERE_NOISE=1 each
# recording and every other replay has noise, and each replay is recorded.
#
# Prints a table. A line that is none of "equal", "same results" and "exact" is a failure, except
# for programs that fail without Wend or call no MPI: these do not count. The exit status is 1 if
# anything failed, or if no case of a code base passed. Scratch folders of failed lines are kept and
# named.
source "$(dirname "${BASH_SOURCE[0]}")/common.bash"
here=$HELPERS_DIR/programs-elsewhere
names=("$@")
[ $# -gt 0 ] ||
    names=(mpich hpcc mrbayes mpi4py p4est pnetcdf hdf5 snap amg quicksilver graph500 miniamr
        adlb)
: "${ELSEWHERE_REPLAYS:=3}"
: "${ELSEWHERE_RECORDINGS:=1}"
: "${ELSEWHERE_NOISE:=}"
: "${ELSEWHERE_TIMEOUT:=300}"
TEST_TIMEOUT=$ELSEWHERE_TIMEOUT
scratch=$(mktemp -d)
mkdir -p "$CACHE"

# noise_of SEED: sets "noise", an option of wend trace and wend replay, if noise is asked for.
noise_of() {
    noise=()
    [ -z "$ELSEWHERE_NOISE" ] || noise=("--noise=$1")
}

# The steps of a trip that run MPI, each in a new folder of its name.
alone() {
    run_case "$case" "$n"
    mpi "$n" "${command[@]}"
}
recorded() {
    run_case "$case" "$n"
    [ -z "$delays" ] || local -x YIELD_DELAYS=$delays
    [ "$replays" = 0 ] || noise_of "$recording"
    mpi "$n" "$WEND" trace --quiet "${noise[@]}" "${trace_options[@]}" -o ../app.dir \
        "${command[@]}"
}
replayed() {
    run_case "$case" "$n"
    [ -z "$delays" ] || local -x YIELD_DELAYS=$run
    mpi "$n" "$WEND" replay --quiet "${replay_options[@]}" ../app.dir "${command[@]}"
}
proxied() {
    [ -z "$delays" ] || local -x YIELD_DELAYS=$run
    record ../proxy.dir "$n" ../proxy
}

# run_step STEP SECONDS: output and errors go to files named STEP in the step's folder, the wall
# time to the variable SECONDS.
run_step() {
    local step=$1 began status
    local -n result=$2
    mkdir "$step" && cd "$step" || return
    unset INPUT
    began=$EPOCHREALTIME
    "$step" >output 2>errors
    status=$?
    result=$(awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')
    cd ..
    return $status
}

# differing FOLDER [FROM]: the files of this run (output, errors, and files that the program wrote)
# that differ from those of the run FROM (alone).
differing() {
    local file from=${2:-alone}
    { (cd "$from" && find . -type f); (cd "$1" && find . -type f); } | sort -u |
        while read -r file; do
        cmp -s "$from/$file" "$1/$file" ||
            diff <(comparable "$from/$file" 2>&1) <(comparable "$1/$file" 2>&1) >>"$1.diff" ||
            echo "$file"
    done
}

# The program writes the same files alone and recorded, except for files that differ between runs
# alone, of which up to six are compared.
same_results() {
    local changed seconds run
    alone_again() { alone; }
    changed=$(differing recorded)
    for ((run = 1; run <= 5; run++)); do
        [ -n "$changed" ] || return 0
        rm -rf alone_again
        run_step alone_again seconds || return
        changed=$(comm -23 <(echo "$changed") <(differing alone_again))
    done
    [ -z "$changed" ]
}

# replay_once SECONDS: is a replay exact? The last one, and each one with noise asked for, is
# recorded. On failure, "fault" is what is wrong.
replay_once() {
    local replay_options=() is_recorded=
    rm -rf replayed again.dir
    noise=()
    ((run % 2)) || noise_of "$run"
    if [ -n "$ELSEWHERE_NOISE" ] || ((run > replays)); then
        is_recorded=yes
        replay_options=("${trace_options[@]}" -o ../again.dir)
    fi
    replay_options+=("${noise[@]}")
    run_step replayed "$1" || { fault="the replay fails"; return 1; }
    [ -z "$(differing replayed recorded)" ] || { fault="results differ"; return 1; }
    [ -n "$is_recorded" ] || return 0
    within "$WEND" diff --outcomes app.dir again.dir >outcomes.out 2>&1 ||
        { fault="outcomes differ"; return 1; }
}

# Replays the recording, while replays are exact, and adds their number to "good" and their times
# to "times".
replay_recording() {
    local run seconds
    for ((run = 1; run <= replays + 1; run++)); do
        replay_once seconds || return
        ((run > replays)) || times+=("$seconds")
        good=$((good + 1))
    done
}

# Replays the recording. Then makes more recordings, and replays them, while all replays are exact.
# Sets "exact" to how many replays of how many are, and "replay_s".
replay() {
    local times=() good=0 fault seconds
    while replay_recording && ((recording < ELSEWHERE_RECORDINGS)); do
        recording=$((recording + 1))
        rm -rf recorded app.dir
        run_step recorded seconds || { outcome="recording $recording fails"; return 1; }
    done
    [ ${#times[@]} = 0 ] || replay_s=$(printf '%s\n' "${times[@]}" | sort -n |
        sed -n "$(((${#times[@]} + 1) / 2))p")
    exact=$good/$((recording * (replays + 1)))
    [ $good = $((ELSEWHERE_RECORDINGS * (replays + 1))) ] && return
    outcome="$exact replays are exact, recording $recording: $fault"
    return 1
}

# A command that does not end fails and says so.
within() {
    local status=0
    timeout "$TEST_TIMEOUT" "$@" || status=$?
    [ $status != 124 ] || echo "no end after $TEST_TIMEOUT s" >&2
    return $status
}

# One trip of the case, of n ranks, in the current folder. Sets "outcome" and the columns that were
# reached. Status 2: it does not count.
trip() {
    calls=- bytes=- plain_s=- recorded_s=- replay_s=- exact=- lines=- proxy_s=-
    last_step=diff delays='' runs=1 replays=0 trace_options=() recording=1 noise=()
    run_step alone plain_s || { outcome="fails without Wend"; return 2; }
    run_step recorded recorded_s || { outcome="recording fails"; return 1; }
    ! grep -q '^wend: .* did not start MPI' recorded/errors || { outcome="no MPI"; return 2; }
    same_results || { outcome="results change under wend trace"; return 1; }
    bytes=$(stat -c %s app.dir/trace.tar.zst 2>/dev/null) || { outcome="no recording"; return 1; }
    within "$WEND" show app.dir >show.out 2>&1 || { outcome="wend show fails"; return 1; }
    calls=$(sed -n 's/^calls[: ]*\([0-9,]*[0-9]\).*/\1/Ip' show.out | head -n 1)
    within "$WEND" dump app.dir >/dev/null 2>dump.err || { outcome="wend dump fails"; return 1; }
    [ "$replays" = 0 ] || replay || return 1
    [ "$last_step" != replay ] || { outcome=exact; return 0; }
    [ "$last_step" != dump ] || { outcome="same results"; return 0; }
    within "$PROXYGEN" app.dir -o proxy.c >proxygen.out 2>&1 ||
        { outcome="proxygen fails"; return 1; }
    lines=$(wc -l <proxy.c)
    within "$MPICC" "${PROXY_CFLAGS[@]}" -O1 proxy.c -o proxy >compile.out 2>&1 ||
        { outcome="the proxy does not compile"; return 1; }
    for ((run = 1; run <= runs; run++)); do
        rm -rf proxied proxy.dir
        run_step proxied proxy_s || { outcome="the proxy fails"; return 1; }
        within "$WEND" diff app.dir proxy.dir >diff.out 2>&1 || {
            [ $? = 1 ] && outcome=differs || outcome="wend diff fails"
            return 1
        }
    done
    outcome=equal
}

row='%-44s %5s %11s %9s %8s %9s %9s %6s %7s %8s  %s\n'
print_row() {
    # shellcheck disable=SC2059
    printf "$row" "$@"
}

failed=0
print_row program ranks calls archive "plain s" "record s" "replay s" exact lines "proxy s" result
for name in "${names[@]}"; do
    pattern='*'
    [[ $name != */* ]] || pattern=${name#*/} name=${name%%/*}
    comparable() { words <"$1"; }
    # shellcheck disable=SC1090
    source "$here/$name.bash"
    build || { failed=1; continue; }
    passed=0 failures=0 do_not_count=0
    while read -r case n; do
        # shellcheck disable=SC2053
        [[ $case == $pattern ]] || continue
        folder=$scratch/$name.${case//\//.}.$n
        mkdir -p "$folder"
        cd "$folder" || exit 1
        trip
        case $? in
        0) passed=$((passed + 1)); rm -rf "$folder" ;;
        1) failures=$((failures + 1)); outcome="$outcome ($folder)" ;;
        2) do_not_count=$((do_not_count + 1)); outcome="$outcome ($folder)" ;;
        esac
        print_row "$name $case" "$n" "$calls" "$bytes" "$plain_s" "$recorded_s" "$replay_s" \
            "$exact" "$lines" "$proxy_s" "$outcome"
    done < <(cases)
    echo "$name: $passed passed, $failures failed$( ((!do_not_count)) ||
        echo ", $do_not_count do not count")"
    ((failures == 0 && passed > 0)) || failed=1
done
rmdir "$scratch" 2>/dev/null
exit $failed
