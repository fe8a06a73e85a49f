#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks a recording of tests/programs/across.c: that all peers are known, and that each
communicator has one number.

    across.py WEND RECORDING

The tags of the program's messages say who is at both ends. Prints what was counted. Exit status 1:
a peer is not known, or a communicator has two numbers."""
import collections
import json
import subprocess
import sys

TAGS = 100


def main(wend, recording):
    dump = subprocess.run([wend, "dump", "-F", "jsonl", recording], capture_output=True, check=True)
    peers = unknown = 0
    # (sender, receiver) -> numbers of communicators, in the order of the calls
    sent, received = collections.defaultdict(list), collections.defaultdict(list)
    for line in dump.stdout.splitlines():
        call = json.loads(line)
        if call["function"] in ("MPI_Put", "MPI_Send", "MPI_Recv"):
            # of these the tags do not say who it is
            peers += 1
            unknown += call.get("peer_world") is None
        if call["function"] not in ("MPI_Isend", "MPI_Irecv"):
            continue
        tag = call["arguments"]["tag"]
        ends = tag // TAGS, tag % TAGS
        comm = call["arguments"]["comm"]
        sends = call["function"] == "MPI_Isend"
        peer = ends[1] if sends else ends[0]
        assert call["rank"] == (ends[0] if sends else ends[1]), (call, "is of another rank")
        peers += 1
        if call.get("peer_world") is None:
            unknown += 1
        else:
            assert call["peer_world"] == peer, (call, "has another peer", peer)
        (sent if sends else received)[ends].append(comm)
    different = 0
    for ends in sent:
        assert len(sent[ends]) == len(received[ends])
        different += sum(a != b for a, b in zip(sent[ends], received[ends]))
    print(f"{peers} calls, {unknown} without peer_world, "
          f"{different} messages with two numbers of their communicator")
    return 1 if unknown or different or not peers else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
