#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws a part of a recording as a timeline, in SVG: a row for each rank, a box for each call, an
arrow for each message from its send to the call in which its receive completed.

    timeline.py RECORDING FROM TO TITLE >timeline.svg

FROM and TO are seconds since the first call. WEND names the command (default: wend). timeline.svg
beside this file is 0.4 ms of "wend trace --times=lossless stencil2d -n 240 -i 30 -r 5", by Open MPI
on two processors."""
import csv
import html
import os
import subprocess
import sys

WIDTH, LEFT, RIGHT, TOP, ROW, BOX = 880, 70, 30, 34, 52, 26
KINDS = (  # class, label, words of functions
    ("send", "send", ("send",)),
    ("receive", "receive, probe", ("recv", "probe")),
    ("wait", "wait, test", ("wait", "test")),
    ("all", "collective", ("barrier", "bcast", "reduce", "gather", "scatter", "alltoall", "scan")),
    ("other", "other", ("",)),
)
STYLE = """    text { font: 13px "DejaVu Sans", Verdana, sans-serif; fill: #0b2239; }
    .time { font-size: 11px; fill: #6c7a89; text-anchor: middle; }
    .row { fill: #eef2f6; }
    .tick { stroke: #d3dae1; }
    .message { stroke: #34495e; fill: none; stroke-width: 1; opacity: 0.75; }
    .head { fill: #34495e; }
    .send { fill: #4f86b8; } .receive { fill: #d9912b; } .wait { fill: #e7c257; }
    .all { fill: #4f9a5b; } .other { fill: #9aa7b4; }
    @media (prefers-color-scheme: dark) {
      text { fill: #dfe6ec; } .time { fill: #b4c0cc; }
      .row { fill: #26323d; } .tick { stroke: #3d4a56; }
      .message { stroke: #c9d4de; } .head { fill: #c9d4de; }
    }"""


def rows_of(*arguments):
    command = [os.environ.get("WEND", "wend"), *arguments]
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return list(csv.DictReader(text.splitlines()))


def kind_of(function):
    name = function.lower()
    return next(i for i, (_, _, words) in enumerate(KINDS) if any(w in name for w in words))


def main():
    recording, first, last = sys.argv[1], float(sys.argv[2]) * 1e9, float(sys.argv[3]) * 1e9
    calls = {}
    for row in rows_of("export", "--csv=calls", "-o", "-", recording):
        at = row["rank"], row["thread"], row["call"]
        calls[at] = int(row["start_ns"]), int(row["end_ns"]), row["function"]
    ranks = sorted({int(rank) for rank, _, _ in calls})
    height = TOP + ROW * len(ranks) + 50

    def x(time):
        part = (min(max(time, first), last) - first) / (last - first)
        return LEFT + part * (WIDTH - LEFT - RIGHT)

    def y(rank):
        return TOP + ROW * ranks.index(int(rank))

    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
          'aria-labelledby="title">\n  <!-- SPDX-License-Identifier: BSD-3-Clause -->\n'
          f'  <title id="title">{html.escape(sys.argv[4])}</title>\n'
          f'  <style>\n{STYLE}\n  </style>\n'
          '  <defs>\n    <marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="6" '
          'markerHeight="6" orient="auto">\n      <path class="head" d="M0 0 10 5 0 10z"/>\n'
          '    </marker>\n  </defs>')
    step = next(10 ** n * k for n in range(12) for k in (1, 2, 5) if 10 ** n * k * 9 > last - first)
    for i in range(int((last - first) / step) + 1):
        at = first + i * step
        print(f'  <path class="tick" d="M{x(at):.1f} {TOP - 8}V{TOP + ROW * len(ranks)}"/>\n'
              f'  <text class="time" x="{x(at):.1f}" y="{TOP - 14}">'
              f'{(at - first) / 1e3:.0f} µs</text>')
    for rank in ranks:
        print(f'  <text x="8" y="{y(rank) + 18}">rank {rank}</text>\n'
              f'  <rect class="row" x="{LEFT}" y="{y(rank)}" width="{WIDTH - LEFT - RIGHT}" '
              f'height="{BOX}"/>')
    used = set()
    for (rank, _, _), (start, end, function) in sorted(calls.items()):
        if end < first or start > last:
            continue
        used.add(kind_of(function))
        print(f'  <rect class="{KINDS[kind_of(function)][0]}" x="{x(start):.1f}" y="{y(rank)}" '
              f'width="{max(x(end) - x(start), 0.8):.1f}" height="{BOX}"><title>{function}</title>'
              '</rect>')
    for row in rows_of("show", "--messages", "--all", "--csv", recording):
        sent = calls.get((row["source"], row["send_thread"], row["send_call"]))
        got = calls.get((row["destination"], row["complete_thread"], row["complete_call"]))
        if not sent or not got or sent[0] < first or got[1] > last:
            continue
        down = int(row["source"]) < int(row["destination"])
        from_y, to_y = y(row["source"]) + BOX * down, y(row["destination"]) + BOX * (not down)
        print(f'  <path class="message" marker-end="url(#tip)" d="M{x(sent[0]):.1f} {from_y}'
              f'L{x(got[1]):.1f} {to_y}"/>')
    at = LEFT
    for i in sorted(used):
        print(f'  <rect class="{KINDS[i][0]}" x="{at}" y="{height - 40}" width="16" height="12"/>\n'
              f'  <text x="{at + 22}" y="{height - 29}">{KINDS[i][1]}</text>')
        at += 40 + 9 * len(KINDS[i][1])
    print(f'  <rect class="row" x="{at}" y="{height - 40}" width="16" height="12"/>\n'
          f'  <text x="{at + 22}" y="{height - 29}">outside MPI</text>\n'
          f'  <path class="message" marker-end="url(#tip)" d="M{at + 130} {height - 34}h26"/>\n'
          f'  <text x="{at + 164}" y="{height - 29}">message</text>\n'
          f'  <text x="{LEFT}" y="{height - 8}">{html.escape(sys.argv[4])}</text>\n</svg>')


main()
