# SPDX-License-Identifier: BSD-3-Clause
# The numbers of MPI calls, unsuccessful polls and frees mean the same wherever Wend reports them
# (wend(1), "Counts").
load ../helpers
setup() { in_scratch; }

# "33 MPI calls, 7 unsuccessful polls, 11 frees" of the numbers that the ranks printed to out.
expected() {
    awk '/^rank/ { calls += $3; polls += $4; frees += $5 }
        END { print calls " MPI calls, " polls " unsuccessful polls, " frees " frees" }' out
}

@test "the recorder, show, dump, diff and the archive report the program's own counts" {
    mpi 2 "$WEND" trace -o a.dir "$PROGRAMS/counted" >out 2>err
    mpi 2 "$WEND" trace --quiet -o b.dir "$PROGRAMS/counted" >/dev/null
    totals=$(expected)
    read -r calls _ _ polls _ _ frees _ <<<"$totals"
    [ "$polls" = 7 ] && [ "$frees" = 11 ] || fail "$totals"
    grep -q "^wend: $totals of 2 ranks in" err || fail "not $totals: $(cat err)"
    "$WEND" show a.dir >show
    grep -q "^calls  *$totals\$" show || fail "not $totals: $(cat show)"
    # the table of classes, and that of functions, which has no pseudo-calls
    classes=$(awk '/MPI calls of each/ { on = 1; next } on && NF == 0 { exit }
        on { sum += $1 * $2 } END { print sum }' show)
    functions=$("$WEND" show --all a.dir | awk '/MPI calls  function/ { on = 1; next }
        on && $2 ~ /^MPI_/ { sum += $1 } END { print sum }')
    [ "$classes" = "$calls" ]
    [ "$functions" = "$calls" ]
    ! grep -q "wend_" show || false
    # as JSON, and in the archive
    "$WEND" show --json a.dir >json
    grep -q "\"calls\":$calls,\"unsuccessful_polls\":$polls,\"frees\":$frees," json
    grep -q "\"recording\":{[^}]*\"calls\":\"$calls\",\"polls\":\"$polls\",\"frees\":\"$frees\"" \
        json
    # call by call
    "$WEND" dump --no-polls a.dir >dump
    [ "$(grep -c '^ *[0-9]*  MPI_' dump)" = "$calls" ]
    [ "$(grep -c '^ *[0-9]*  wend_free' dump)" = "$frees" ]
    [ "$("$WEND" dump a.dir | grep -c '^ *-  MPI_')" = "$polls" ]
    "$WEND" diff a.dir b.dir >diff
    expected="equal: 2 ranks, $calls MPI calls, $frees frees;"
    expected+=" not compared: $polls and $polls unsuccessful polls"
    [ "$(cat diff)" = "$expected" ] || fail "$(cat diff)"
}

@test "MPI_Finalize has no duration" {
    record a.dir 2 "$PROGRAMS/counted" >/dev/null
    "$WEND" show a.dir >show
    grep -Eq '^ *2  MPI_Finalize  +- +- +- +- +- +-$' show || fail "$(cat show)"
    "$WEND" dump --timing a.dir >dump
    [ "$(grep -c 'MPI_Finalize() -> MPI_SUCCESS  # since the call before' dump)" = 2 ] ||
        fail "$(grep MPI_Finalize dump)"
}

@test "wend merge and the recorder's line agree with wend show" {
    mpi 2 "$WEND" trace -q -o a.dir "$PROGRAMS/counted" abort >out 2>err || true
    "$WEND" merge a.dir >merged
    "$WEND" show a.dir >show
    totals=$(sed -n 's/^calls  *//p' show)
    [[ "$totals" == *" MPI calls, 7 unsuccessful polls, "*" frees"* ]] || fail "$(cat show)"
    grep -q "^${totals%%;*} of 2 ranks in" merged || fail "not $totals: $(cat merged)"
}
