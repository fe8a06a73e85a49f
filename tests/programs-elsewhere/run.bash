#!/usr/bin/env bash
# Round trips of applications that are not ours (make check-elsewhere): run.bash [NAME…], a name being that of a file beside this one.
# Sources are fetched with apt-get and kept, with what is built of them, in $WEND_CACHE (default ~/.cache/wend). Prints a table; exit status 1 if a
# line of it is neither "equal" nor "same results". Scratch folders of failed lines are kept and named.
source "$(dirname "${BASH_SOURCE[0]}")/common.bash"
here=$HELPERS_DIR/programs-elsewhere
names=("$@")
[ $# -gt 0 ] || names=(mpich hpcc mrbayes mpi4py)
: "${ELSEWHERE_TIMEOUT:=300}"
TEST_TIMEOUT=$ELSEWHERE_TIMEOUT
scratch=$(mktemp -d)
mkdir -p "$CACHE"
failed=0

seconds() { # seconds VARIABLE command…: wall time
    local -n result=$1
    local began=$EPOCHREALTIME status
    shift
    "$@"
    status=$?
    result=$(awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')
    return $status
}

# Sets "outcome"; the columns that were reached.
trip() {
    local n=$1
    calls=- bytes=- plain_s=- recorded_s=- lines=- proxy_s=-
    seconds plain_s mpi "$n" "${command[@]}" >plain.out 2>plain.err || { outcome="the program itself fails"; return 1; }
    seconds recorded_s record app.dir "$n" "${command[@]}" >recorded.out 2>recorded.err || { outcome="recording fails"; return 1; }
    ! declare -F same_results >/dev/null || same_results "$n" || { outcome="results change under wend trace"; return 1; }
    bytes=$(stat -c %s app.dir/trace.tar.zst 2>/dev/null) || { outcome="no recording"; return 1; }
    quietly show.out "$WEND" show app.dir 2>show.err || { outcome="wend show fails"; return 1; }
    calls=$(sed -n 's/^calls[: ]*\([0-9][0-9,]*\).*/\1/Ip' show.out | head -n 1)
    if [ "$last_step" = dump ]; then
        timeout "$TEST_TIMEOUT" "$WEND" dump app.dir >/dev/null 2>dump.err || { outcome="wend dump fails"; return 1; }
        outcome="same results"
        return 0
    fi
    timeout "$TEST_TIMEOUT" "$PROXYGEN" app.dir -o proxy.c >proxygen.out 2>&1 || { outcome="proxygen fails"; return 1; }
    lines=$(wc -l <proxy.c)
    timeout "$TEST_TIMEOUT" "$MPICC" -std=c11 -O1 -Wall -Wextra -Werror proxy.c -o proxy >compile.out 2>&1 || { outcome="the proxy does not compile"; return 1; }
    INPUT=/dev/null seconds proxy_s record proxy.dir "$n" ./proxy >proxy.out 2>&1 || { outcome="the proxy fails"; return 1; }
    timeout "$TEST_TIMEOUT" "$WEND" diff app.dir proxy.dir >diff.out 2>&1 || { outcome="differs"; return 1; }
    outcome=equal
}

row='%-22s %5s %11s %9s %8s %9s %7s %8s  %s\n'
# shellcheck disable=SC2059
printf "$row" program ranks calls archive "plain s" "record s" lines "proxy s" result
for name in "${names[@]}"; do
    unset INPUT
    unset -f same_results
    # shellcheck disable=SC1090
    source "$here/$name.bash"
    build || { failed=1; continue; }
    while read -r case n; do
        folder=$scratch/$name.$case.$n
        mkdir -p "$folder"
        cd "$folder" || exit 1
        unset INPUT
        last_step=diff
        run_case "$case" "$n"
        if trip "$n"; then rm -rf "$folder"; else outcome="$outcome ($folder)" failed=1; fi
        # shellcheck disable=SC2059
        printf "$row" "$name $case" "$n" "$calls" "$bytes" "$plain_s" "$recorded_s" "$lines" "$proxy_s" "$outcome"
    done < <(cases)
done
rmdir "$scratch" 2>/dev/null
exit $failed
