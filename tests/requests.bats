# Which request, which communicator: the recording says so whatever handle values the library gives.
load helpers
setup() { in_scratch; }

calls_of() { # function, rank: its calls
    "$WEND" dump app.dir --rank "$2" | grep -E "[0-9] +$1\("
}

@test "requests: transparent, and the same program is recorded twice alike" {
    same_output 4 "$PROGRAMS/requests" alike
    mv app.dir first.dir
    same_output 4 "$PROGRAMS/requests" alike
    "$WEND" diff first.dir app.dir
}

@test "requests of one value through one variable are told apart" {
    record app.dir 4 "$PROGRAMS/requests"
    # The waits for the 16 receives come before those for the sends.
    made=$(calls_of MPI_Isend 1 | head -n 16 | sed 's/.*request=//; s/[,)].*//')
    waited=$(calls_of MPI_Wait 1 | sed -n 17,32p | sed 's/.*request=//; s/[,)].*//')
    [ "$(printf '%s\n' "$made" | sort -u | wc -l)" = 16 ]
    diff <(printf '%s\n' "$made") <(printf '%s\n' "$waited")
}

@test "nothing is unknown, and every request ends" {
    record app.dir 4 "$PROGRAMS/requests"
    "$WEND" dump app.dir >dump
    ! grep -iE 'unknown|\?' dump
}

@test "communicators have one name on all their members" {
    record app.dir 4 "$PROGRAMS/requests"
    for function in MPI_Comm_idup MPI_Intercomm_merge; do
        [ "$("$WEND" dump app.dir | grep "$function(" | sed 's/.*\(newcomm\|newintracomm\)=\([^,)]*\).*/\2/' | sort -u | wc -l)" = 1 ]
    done
    # Two halves, each known to its two members by one name.
    "$WEND" dump app.dir | grep 'MPI_Comm_split(' | sed 's/.*newcomm=\([^,)]*\).*/\1/' | sort | uniq -c | awk '{ print $1 }' >halves
    diff halves <(printf '2\n2\n')
}

@test "round trip: requests" { roundtrip 4 "$PROGRAMS/requests"; }
