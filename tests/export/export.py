#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares an OTF2 archive, read with its own Python module, with what wend says of the recording.

    export.py WEND RECORDING OTF2-DIRECTORY

Each location must enter the functions that wend dump lists for the thread or callback of its name,
and of the rank that its group is named after, in that order. It must leave them at times that do
not go back. The bytes between two ranks must be those of wend show --matrix, and the
messages received those of wend show --messages. Roots of collectives, operations on files and
one-sided operations must be those of wend dump. Each request and each operation on a file must
complete once, apart from requests that the program frees. Prints the first differences, and exits
with 1 if there are any."""
import collections
import csv
import json
import re
import subprocess
import sys

import otf2
from otf2 import definitions, events

# The module takes the members of an intercommunicator for those of a communicator, and stops.
inherited = len(definitions.Comm._fields)
definitions.InterComm._fields = (
    definitions.InterComm._fields[:1] + definitions.InterComm._fields[inherited:]
)


UNDEFINED = 0xFFFFFFFF
ROOTS = {"MPI_ROOT": 0xFFFFFFFE, "MPI_PROC_NULL": 0xFFFFFFFD}  # OTF2_COLLECTIVE_ROOT_…
ROOTED = re.compile(r"MPI_(Bcast|Gatherv?|Reduce|Scatterv?)(_c)?$")
ON_FILE = re.compile(r"MPI_File_i?(read|write)(?!.*_end$)")
ONE_SIDED = re.compile(
    r"MPI_R?(put|get|(accumulate|get_accumulate|fetch_and_op|compare_and_swap))(_c)?$",
    re.IGNORECASE,
)
# Events with the number of a request or operation: what they begin, and what they may end.
BEGINS = {
    events.MpiIsend: "send",
    events.MpiIrecvRequest: "receive",
    events.NonBlockingCollectiveRequest: "collective",
    events.IoOperationBegin: "file operation",
}
ENDS = {
    events.MpiIsendComplete: ["send"],
    events.MpiIrecv: ["receive"],
    events.MpiRequestCancelled: ["send", "receive"],
    events.NonBlockingCollectiveComplete: ["collective"],
    events.IoOperationComplete: ["file operation"],
}


def wend_lines(*command):
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return text.splitlines()


class Found:
    """What the events of an archive say."""

    def __init__(self, path, freed):
        self.freed = freed  # the requests that each rank frees, active or not
        self.calls = collections.defaultdict(list)  # (name of the group, of the location) -> names
        self.sent = collections.Counter()  # (source, destination) -> bytes
        self.received = collections.Counter()  # (source, destination, tag, bytes) -> number
        self.roots = collections.Counter()  # (rank, operation, root) -> number
        self.file_operations = collections.Counter()  # (rank, mode, bytes) -> number
        self.one_sided = collections.Counter()  # (rank, target, operation, bytes) -> number
        self.open = {}  # (rank, whether of files, number) -> what has not completed
        self.collectives = self.wrong = 0
        with otf2.reader.open(path) as trace:
            self.read(trace)

    def read(self, trace):
        last, open_regions = {}, collections.defaultdict(list)
        for location, event in trace.events:
            where = location._ref
            if event.time < last.get(where, 0):
                self.fail(f"location {where}: time goes back to {event.time}")
            last[where] = event.time
            if isinstance(event, events.Enter):
                self.calls[location.group.name, location.name].append(event.region.name)
                open_regions[where].append(event.region)
            elif isinstance(event, events.Leave):
                if not open_regions[where] or open_regions[where].pop() is not event.region:
                    self.fail(f"location {where}: leaves what it is not in")
            else:
                self.other(int(location.group.name.split()[1]), event)
        for where, left in open_regions.items():
            if left:
                self.fail(f"location {where}: does not leave {left}")
        for (rank, of_files, request), what in self.open.items():
            if of_files or request not in self.freed[rank]:
                self.fail(f"rank {rank}: {what} {request} does not complete")

    def fail(self, text):
        print(text)
        self.wrong += 1

    def begin_or_end(self, rank, event):
        of_files = isinstance(event, (events.IoOperationBegin, events.IoOperationComplete))
        key = rank, of_files, event.matching_id if of_files else event.request_id
        kind = type(event)
        if kind in BEGINS:
            # a freed request completes unseen, and its number is that of another one
            if key in self.open and (of_files or key[2] not in self.freed[rank]):
                self.fail(f"rank {rank}: {BEGINS[kind]} {key[2]} begins twice")
            self.open[key] = BEGINS[kind]
        elif kind in ENDS:
            if self.open.pop(key, None) not in ENDS[kind]:
                self.fail(f"rank {rank}: {kind.__name__} of {key[2]}, which has not begun")
        elif key not in self.open:
            self.fail(f"rank {rank}: {kind.__name__} of {key[2]}, which has not begun")

    def other(self, rank, event):
        if isinstance(event, tuple(BEGINS) + tuple(ENDS) + (events.MpiRequestTest,)):
            self.begin_or_end(rank, event)
        if isinstance(event, (events.MpiSend, events.MpiIsend)):
            peer = process(event.communicator, event.receiver, rank)
            self.sent[rank, peer] += event.msg_length
        elif isinstance(event, (events.MpiRecv, events.MpiIrecv)):
            if event.sender == UNDEFINED:
                return  # MPICH does not say from whom MPI_Isendrecv received
            peer = process(event.communicator, event.sender, rank)
            self.received[peer, rank, event.msg_tag, event.msg_length] += 1
        elif isinstance(event, events.MpiCollectiveEnd):
            self.collectives += 1
            if event.root != UNDEFINED:
                self.roots[rank, word(event.collective_op), event.root] += 1
        elif isinstance(event, events.IoOperationBegin):
            self.file_operations[rank, word(event.mode), event.bytes_request] += 1
        elif isinstance(event, (events.RmaPut, events.RmaGet, events.RmaAtomic)):
            target = process(event.win.comm, event.remote, rank)
            size = event.bytes_sent if isinstance(event, events.RmaAtomic) else event.bytes
            self.one_sided[rank, target, type(event).__name__, size] += 1


def word(constant):
    """The name of a constant of OTF2, without its type."""
    return str(constant).split(".")[1].lower()


def process(comm, rank, self):
    """The rank of the job of RANK in COMM, in the remote group if COMM has two."""
    if isinstance(comm, definitions.InterComm):
        a, b = (list(g.members) for g in (comm.groupA, comm.groupB))
        members = b if self in [number(m) for m in a] else a
    elif "SELF" in str(comm.group.group_type):
        return self
    else:
        members = list(comm.group.members)
    return number(members[rank])


def number(member):
    """A member of a group is the location of the first thread of its rank."""
    return int(member.group.name.split()[1]) if hasattr(member, "group") else int(member)


def freed_requests(dump):
    """The numbers that the archive has for the requests that each rank frees."""
    freed = collections.defaultdict(set)
    for call in dump:
        if call["function"] == "MPI_Request_free":
            handle = re.fullmatch(r"req#(?:(\d+)\.)?(\d+)", call["arguments"]["request"])
            freed[call["rank"]].add(int(handle[1] or 0) << 32 | int(handle[2]))
    return freed


def compare_operations(found, dump):
    """Compares roots, operations on files and one-sided operations with those of wend dump."""
    roots, on_files, one_sided = (collections.Counter() for _ in range(3))
    for call in dump:
        rank, name = call["rank"], call["function"]
        if call["return"] != "MPI_SUCCESS":
            continue
        if match := ROOTED.match(name):
            root = call["arguments"]["root"]
            roots[rank, match[1].lower(), ROOTS.get(root, root)] += 1
        elif match := ON_FILE.match(name):
            on_files[rank, match[1], call.get("bytes", 0)] += 1
        elif (match := ONE_SIDED.match(name)) and "peer_world" in call:
            kind = "RmaAtomic" if match[2] else f"Rma{match[1].capitalize()}"
            one_sided[rank, call["peer_world"], kind, call.get("bytes", 0)] += 1
    return (differ("roots", roots, found.roots)
            + differ("operations on files", on_files, found.file_operations)
            + differ("one-sided operations", one_sided, found.one_sided))


def compare(found, dump, wend, recording):
    wrong = found.wrong + compare_operations(found, dump)
    calls = collections.defaultdict(list)
    for call in dump:
        if call["function"].startswith("MPI_"):
            kind = "thread" if "thread" in call else "callback"
            calls[f"rank {call['rank']}", f"{kind} {call[kind]}"].append(call["function"])
    for where in sorted(calls.keys() | found.calls.keys()):
        made, entered = calls.get(where, []), found.calls.get(where, [])
        if made != entered:
            print("other calls of", where, made[:5], len(made), "and", entered[:5], len(entered))
            wrong += 1
    sent = collections.Counter()
    for row in csv.DictReader(wend_lines(wend, "show", "--matrix", "--csv", recording)):
        if row["kind"] == "point-to-point" and int(row["bytes"]) > 0:
            sent[int(row["source"]), int(row["destination"])] += int(row["bytes"])
    wrong += differ("bytes sent", sent, +found.sent)
    received = collections.Counter()
    for row in csv.DictReader(wend_lines(wend, "show", "--messages", "--all", "--csv", recording)):
        # a receive that failed is no event, and MPICH does not say what MPI_Isendrecv received
        if row["state"] == "matched" and row["complete_call"] and "truncated" not in row["notes"]:
            size = row["bytes_received"] or row["bytes_sent"]
            key = (row["source"], row["destination"], row["tag"], size)
            received[tuple(int(k) for k in key)] += 1
    wrong += differ("messages received", received, found.received)
    return wrong


def differ(what, wanted, got):
    if wanted == got:
        return 0
    print(what, "only in wend:", list((wanted - got).items())[:5])
    print(what, "only in OTF2:", list((got - wanted).items())[:5])
    return 1


def main():
    wend, recording, directory = sys.argv[1:]
    dump = [json.loads(line) for line in wend_lines(wend, "dump", "--format=jsonl", recording)]
    found = Found(f"{directory}/traces.otf2", freed_requests(dump))
    wrong = compare(found, dump, wend, recording)
    print(f"{sum(len(c) for c in found.calls.values())} calls, {sum(found.received.values())} "
          f"messages, {found.collectives} blocking collectives "
          f"({sum(found.roots.values())} with a root), "
          f"{sum(found.file_operations.values())} operations on files, "
          f"{sum(found.one_sided.values())} one-sided operations")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
