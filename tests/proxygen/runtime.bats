# SPDX-License-Identifier: BSD-3-Clause
# The helpers that proxies get (src/proxygen/runtime), by themselves.
load ../helpers
setup() { in_scratch; }

helpers() { quietly out timeout 60 "$PROGRAMS/proxy-helpers$2" "$1"; }

@test "requests are hidden and shown, gathered and scattered" { helpers requests; }

@test "blocks of the heap are zero, and so they are again after they were freed" { helpers memory; }

@test "there is memory below blocks of the heap, and mappings" { helpers memory -mapped; }

@test "threads wait until what they share is made, no longer used, and completed" {
    helpers shared
}

@test "files of a run are in a folder of its own, which goes at the end" {
    mkdir folder
    WEND_PROXY_DIR=$PWD/folder quietly out mpi_ends 3 "$PROGRAMS/proxy-helpers" scratch
    [ -z "$(ls folder)" ]
}

@test "ranks send to one in the recorded order" {
    quietly out mpi_ends 4 "$PROGRAMS/proxy-helpers" turns
}
