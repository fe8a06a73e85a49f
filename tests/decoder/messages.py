#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the table of wend show --messages --all --csv with what tests/programs/numbered says.

    messages.py TABLE OUTPUT

Calls are counted in both: the program numbers the calls that post receives and those that complete
some, by thread. A send is known by its size, and a persistent one by its start, too. Prints the
first differences, and exits with 1 if there are any.
"""
import collections
import csv
import sys


def main():
    table, output = sys.argv[1:]
    with open(table, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    calls = {"receive": collections.defaultdict(set), "complete": collections.defaultdict(set)}
    sends = collections.defaultdict(set)
    for row in rows:
        rank = row["destination"]
        for kind, by_thread in calls.items():
            if row[f"{kind}_call"]:
                by_thread[rank, row[f"{kind}_thread"]].add(int(row[f"{kind}_call"]))
        if row["state"] == "matched":
            sends[row["source"], row["bytes_sent"]].add(int(row["send_call"]))
    number = {kind: {at: {call: i for i, call in enumerate(sorted(all_))}
                     for at, all_ in by_thread.items()} for kind, by_thread in calls.items()}
    starts = {at: {call: i for i, call in enumerate(sorted(all_))} for at, all_ in sends.items()}

    found = collections.Counter()
    for row in rows:
        if row["state"] != "matched" or row["tag"] in ("21", "33"):
            continue  # what partners tell each other
        rank, sender = row["destination"], row["source"]
        place = [rank]
        for kind in ("receive", "complete"):
            thread = row[f"{kind}_thread"]
            place += [thread, str(number[kind][rank, thread].get(int(row[f"{kind}_call"] or -1)))]
        size = row["bytes_sent"]
        start = starts[sender, size][int(row["send_call"])]
        found[" ".join(place + [sender, str(int(size) - 8), str(start)])] += 1

    said = collections.Counter()
    with open(output, encoding="utf-8") as file:
        for line in file:
            if line.startswith("M "):
                said[line[2:].strip()] += 1
    different = sorted((said - found).items()) + sorted((found - said).items())
    for line, _ in sorted((said - found).items())[:10]:
        print("only in the program:", line)
    for line, _ in sorted((found - said).items())[:10]:
        print("only in the table:  ", line)
    if not said:
        sys.exit("the program said nothing")
    sys.exit(1 if different else 0)


main()
