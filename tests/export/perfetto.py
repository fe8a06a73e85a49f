#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares a Perfetto trace, decoded by protoc, with what wend says of the recording.

    perfetto.py WEND RECORDING TRACE SCHEMA [OPTIONS-OF-DUMP…]

Each thread must have the slices that wend dump lists, in that order, with the same numbers, peers,
bytes, errors and call sites. Slices do not overlap. Each flow is a message of wend show --messages,
from the call that sends it to the call in which its receive completes. With OPTIONS-OF-DUMP only
the slices are compared. Prints the first differences, and exits with 1 if there are any."""
import ast
import collections
import csv
import os
import subprocess
import sys

CLEARED, NEEDED = 1, 2  # SEQ_INCREMENTAL_STATE_CLEARED, SEQ_NEEDS_INCREMENTAL_STATE


def messages(lines):
    """Each packet of protoc's text, as a dictionary of lists."""
    stack = [{}]
    for line in lines:
        line = line.strip()
        if line.endswith("{"):
            assert not line[:-1].strip().isdigit(), f"message {line} is not in the schema"
            new = {}
            stack[-1].setdefault(line[:-1].strip(), []).append(new)
            stack.append(new)
        elif line == "}":
            done = stack.pop()
            if len(stack) == 1:
                yield done
                stack[0].clear()
        else:
            name, value = line.split(": ", 1)
            assert not name.isdigit(), f"field {line} is not in the schema"
            if value.startswith('"'):
                value = ast.literal_eval("b" + value).decode()
            elif value in ("true", "false"):
                value = value == "true"
            elif value.lstrip("-").isdigit():
                value = int(value)
            stack[-1].setdefault(name, []).append(value)


def one(message, name, default=None):
    values = message.get(name, [default])
    assert len(values) == 1, (name, values)
    return values[0]


class Slice:
    def __init__(self, track, event, time, names):
        self.track, self.start, self.end = track, time, None
        self.name = names.of("event_names", one(event, "name_iid"))
        self.categories = {names.of("event_categories", i) for i in event["category_iids"]}
        self.flows, self.ended = event.get("flow_ids", []), []
        self.arguments = {}
        for annotation in event.get("debug_annotations", []):
            value = next(one(annotation, key) for key in annotation if key.endswith("_value")
                         or key == "string_value_iid")
            if "string_value_iid" in annotation:
                value = names.of("debug_annotation_string_values", value)
            name = names.of("debug_annotation_names", one(annotation, "name_iid"))
            assert name not in self.arguments, name
            self.arguments[name] = value
        location = one(event, "source_location_iid", 0)
        self.site = names.of("source_locations", location) if location else None


class Names:
    """What the numbers stand for, as far as the packets have said it."""

    def __init__(self):
        self.tables = collections.defaultdict(dict)

    def add(self, data):
        for table, entries in data.items():
            for entry in entries:
                iid = one(entry, "iid")
                assert iid > 0 and iid not in self.tables[table], (table, entry)
                self.tables[table][iid] = entry

    def of(self, table, iid):
        entry = self.tables[table][iid]
        return entry if table == "source_locations" else one(entry, "name", one(entry, "str", None))


class Trace:
    def __init__(self, path, schema):
        self.tracks = {}  # uuid -> (rank, thread)
        self.slices = collections.defaultdict(list)  # (rank, number of the thread) -> slices
        self.processes, self.numbers = {}, collections.Counter()
        names, first = Names(), True
        command = ["protoc", "-I", os.path.dirname(schema), "--decode=perfetto.protos.Trace",
                   os.path.basename(schema)]
        with open(path, "rb") as file, subprocess.Popen(
                command, stdin=file, stdout=subprocess.PIPE, text=True) as decoder:
            for packet in messages(decoder.stdout):
                assert one(packet, "sequence_flags") == (CLEARED if first else NEEDED), packet
                first = False
                names.add(one(packet, "interned_data", {}))
                if "track_descriptor" in packet:
                    self.add_track(one(packet, "track_descriptor"))
                if "track_event" in packet:
                    self.add_event(one(packet, "track_event"), one(packet, "timestamp"), names)
        assert decoder.returncode == 0, "protoc failed"
        for slices in self.slices.values():
            assert all(s.end is not None for s in slices), "a slice does not end"

    def add_track(self, track):
        uuid = one(track, "uuid")
        assert uuid not in self.tracks, track
        self.tracks[uuid] = None
        if "process" in track:
            process = one(track, "process")
            pid = one(process, "pid")
            assert pid > 0 and pid not in self.processes, track
            self.processes[pid] = int(one(process, "process_name").split()[1])
        elif "thread" in track:
            thread = one(track, "thread")
            pid = one(thread, "pid")
            rank = self.processes[pid]
            assert one(thread, "tid") == pid + self.numbers[rank], track
            self.tracks[uuid] = rank, self.numbers[rank], one(thread, "thread_name")
            self.numbers[rank] += 1
        else:
            assert uuid == 0 and one(track, "process_ordering") == "PROCESS_ORDERING_EXPLICIT" \
                and one(track, "thread_ordering") == "THREAD_ORDERING_EXPLICIT", track

    def add_event(self, event, time, names):
        rank, number, _ = self.tracks[one(event, "track_uuid")]
        slices = self.slices[rank, number]
        last = slices[-1] if slices else None
        if one(event, "type") == "TYPE_SLICE_BEGIN":
            assert last is None or (last.end is not None and time >= last.end), event
            slices.append(Slice((rank, number), event, time, names))
        else:
            assert one(event, "type") == "TYPE_SLICE_END" and last.end is None, event
            assert time >= last.start, event
            last.end, last.ended = time, event.get("terminating_flow_ids", [])


def rows_of(*command):
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return list(csv.DictReader(text.splitlines()))


def described(slice_, sites):
    """A slice as a row of wend dump has it."""
    found = slice_.arguments
    site = slice_.site or {}
    text = {key: str(found.get(key, "")) for key in ("call", "peer", "bytes", "error")}
    if found.get("unfinished"):
        text["error"] = "unfinished"
    row = [slice_.name, text["call"], str(int(found.get("poll", False))), text["peer"],
           text["bytes"], text["error"]]
    if sites:
        row += [one(site, key, "") for key in ("function_name", "file_name")]
        row += [str(one(site, "line_number", ""))]
    return row


def of_dump(row, sites):
    error = row["return"] if row["return"] not in ("MPI_SUCCESS", "") else ""
    made = [row["function"], "" if row["poll"] == "1" else row["call"], row["poll"],
            row["peer_world"], row["bytes"], error]
    if sites:
        made += [row["site_function"], row["site_file"], row["site_line"]]
    return made


def compare_slices(trace, wend, recording, options):
    rows = rows_of(wend, "dump", "--format=csv", *options, recording)
    sites = "site_function" in rows[0]
    wanted = collections.defaultdict(list)
    for row in rows:
        if row["function"].startswith("MPI_"):
            wanted[int(row["rank"]), row["sequence"]].append(of_dump(row, sites))
    threads = {(rank, number): name for rank, number, name in filter(None, trace.tracks.values())}
    found = {(at[0], threads[at]): [described(s, sites) for s in slices]
             for at, slices in trace.slices.items()}
    wrong = 0
    for at in sorted(set(wanted) | set(found)):
        a, b = wanted.get(at, []), found.get(at, [])
        if a != b:
            print(at, len(a), "calls and", len(b), "slices")
            print(next(((x, y) for x, y in zip(a, b) if x != y), ""))
            wrong += 1
    return wrong


def compare_flows(trace, wend, recording):
    starts, found, seen = {}, collections.Counter(), set()
    slices = [s for of_thread in trace.slices.values() for s in of_thread]
    for s in slices:
        for flow in s.flows:
            assert flow > 0 and flow not in starts, flow
            starts[flow] = s
    for s in slices:
        for flow in s.ended:
            assert flow not in seen, flow
            seen.add(flow)
            if flow in starts:
                found[place(starts[flow]), place(s)] += 1
    wanted = collections.Counter()
    for row in rows_of(wend, "show", "--messages", "--all", "--csv", recording):
        if row["state"] == "matched" and row["complete_call"]:
            sender = int(row["source"]), int(row["send_thread"]), int(row["send_call"])
            receiver = (int(row["destination"]), int(row["complete_thread"]),
                        int(row["complete_call"]))
            wanted[sender, receiver] += 1
    for text, some in ("messages that are no flow:", wanted - found), \
            ("flows that are no message:", found - wanted):
        if some:
            print(text, sum(some.values()), sorted(some.items())[:5])
    return wanted != found, sum(found.values()), sum(s.end >= starts[f].start for s in slices
                                                     for f in s.ended if f in starts)


def place(slice_):
    return *slice_.track, slice_.arguments["call"]


def main():
    wend, recording, path, schema, *options = sys.argv[1:]
    trace = Trace(path, schema)
    wrong = compare_slices(trace, wend, recording, options)
    flows = drawn = 0
    if not options:
        differ, flows, drawn = compare_flows(trace, wend, recording)
        wrong += differ
    print(f"{sum(map(len, trace.slices.values()))} slices, {flows} flows, {drawn} in the order of "
          "time")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
