#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What call sites, call stacks and the times of calls cost: nanoseconds of CPU time for each call.

Usage: sites.py BUILD_DIR MPIEXEC [REPEATS]

bench/overhead (C) and, where there is a Fortran compiler, bench/sites-layer (a call through the
library's Fortran layer) run plain, recorded without sites, and recorded with them, in turns. So
does bench/stacks, 14 functions deep, which is recorded with stacks. The last tables compare sites
with sites and --times=10%: in the thread that calls, and in all threads, since Wend codes the times
in one of its own. Printed are medians, and what sites, stacks or times add. The exit status is 1 if
that is above the limit.
"""
import os
import statistics
import sys
import tempfile

import measure

LIMIT_C, LIMIT_LAYER = 5, 40
LIMIT_STACK = 60  # of a stack like that of the call before
LIMIT_TIMES = 12
FEW, MANY = "50", "500"  # thousand calls; Wend's thread can leave the times of FEW until later


# Loops whose stacks differ from call to call.
OTHER_STACKS = ("other_lines", "other_callers", "other_paths")


def medians(build, mpiexec, program, repeats, before, options):
    """{loop: [plain, recorded with the options BEFORE, with OPTIONS]}"""
    environment, launch = measure.clean_environment(), measure.launcher(mpiexec, 1)
    runs = [[], [], []]
    with tempfile.TemporaryDirectory(prefix="wend-sites.") as scratch:
        for i in range(repeats):
            trace = measure.tracer(build, f"{scratch}/{i}") + options
            without = measure.tracer(build, f"{scratch}/{i}-before") + before
            processor = measure.fastest_processor()
            here, only = program, processor
            if "-c" in program:  # Wend's thread is not measured, and must not take its place
                here, only = [*program, "-p", str(processor)], None
            for column, words in zip(runs, ([], without, trace)):
                column.append(measure.loop_times(launch + words + here, environment, only))
    return {
        loop: [statistics.median(one[loop] for one in column) for column in runs]
        for loop in runs[0][0]
    }


def main():
    build, mpiexec = sys.argv[1:3]
    repeats = int(sys.argv[3]) if len(sys.argv) > 3 else 7
    missed = False
    print(f"nanoseconds of CPU time for each call, medians of {repeats} runs")
    no_sites, times = ["--no-sites"], ["--times=10%"]
    tables = (
        ("no sites", "sites", ["overhead"], LIMIT_C, no_sites, []),
        ("no sites", "sites", ["sites-layer"], LIMIT_LAYER, no_sites, []),
        ("no sites", "stacks", ["stacks"], LIMIT_STACK, no_sites, ["--stacks"]),
        ("sites", "and times", ["overhead", "-c", "-n", FEW], LIMIT_TIMES, [], times),
        ("sites", "all of it", ["overhead", "-n", MANY], None, [], times),
    )
    for first, second, (name, *arguments), limit, before, options in tables:
        program = os.path.join(build, "bench", name)
        if not os.path.exists(program):
            continue
        print(f"{'loop':24}{'plain':>9}{first:>10}{second:>10}{'added':>8}{'limit':>7}")
        rows = medians(build, mpiexec, [program, *arguments], repeats, before, options)
        for loop, (plain, without, recorded) in rows.items():
            limited = limit is not None and loop not in OTHER_STACKS
            missed |= limited and recorded - without > limit
            print(
                f"{loop:24}{plain:9.1f}{without:10.1f}{recorded:10.1f}{recorded - without:8.1f}"
                f"{limit if limited else '-':>7}"
            )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
