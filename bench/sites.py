#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What call sites and call stacks cost: nanoseconds of process CPU time for each call.

Usage: sites.py BUILD_DIR MPIEXEC [REPEATS]

bench/overhead (C) and, where there is a Fortran compiler, bench/sites-layer (a call through the
library's Fortran layer) run plain, recorded without sites, and recorded with them, in turns. So
does bench/stacks, 14 functions deep, which is recorded with stacks. Printed are medians, and what
sites or stacks add. The exit status is 1 if that is above the limit.
"""
import os
import statistics
import sys
import tempfile

import measure

LIMIT_C, LIMIT_LAYER = 5, 40
LIMIT_STACK = 60  # of a stack like that of the call before


# Loops whose stacks differ from call to call.
OTHER_STACKS = ("other_lines", "other_callers", "other_paths")


def run(command, environment):
    return {row[0]: float(row[1]) for row in measure.output_rows(command, environment)}


def medians(build, mpiexec, program, repeats, options):
    """{loop: [plain, without sites, with sites and OPTIONS]}"""
    environment, launch = measure.clean_environment(), measure.launcher(mpiexec, 1)
    runs = [[], [], []]
    with tempfile.TemporaryDirectory(prefix="wend-sites.") as scratch:
        for i in range(repeats):
            trace = measure.tracer(build, f"{scratch}/{i}") + options
            without = measure.tracer(build, f"{scratch}/{i}-without") + ["--no-sites"]
            for column, words in zip(runs, ([], without, trace)):
                column.append(run(launch + words + [program], environment))
    return {
        name: [statistics.median(one[name] for one in column) for column in runs]
        for name in runs[0][0]
    }


def main():
    build, mpiexec = sys.argv[1:3]
    repeats = int(sys.argv[3]) if len(sys.argv) > 3 else 7
    missed = False
    print(f"nanoseconds of CPU time for each call, medians of {repeats} runs")
    print(f"{'loop':24}{'plain':>9}{'no sites':>10}{'sites':>9}{'added':>8}{'limit':>7}")
    programs = (
        ("overhead", LIMIT_C, []),
        ("sites-layer", LIMIT_LAYER, []),
        ("stacks", LIMIT_STACK, ["--stacks"]),
    )
    for name, limit, options in programs:
        program = os.path.join(build, "bench", name)
        if not os.path.exists(program):
            continue
        rows = medians(build, mpiexec, program, repeats, options)
        for loop, (plain, without, sites) in rows.items():
            limited = loop not in OTHER_STACKS
            missed |= limited and sites - without > limit
            print(
                f"{loop:24}{plain:9.1f}{without:10.1f}{sites:9.1f}{sites - without:8.1f}"
                f"{limit if limited else '-':>7}"
            )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
