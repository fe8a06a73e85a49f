#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What wend trace --values costs: nanoseconds for each value, and bytes in the archive.

Usage: values.py BUILD_DIR MPIEXEC [REPEATS]

One rank reads the clock a million times in three ways (values.c): plain, recorded without values,
recorded with them, and replayed, in turns. Printed are medians, and the bytes by which the archive
grows for each value.
"""
import os
import shutil
import statistics
import sys
import tempfile

import measure

CALLS = 1000000
KINDS = ["MPI_Wtime in a loop", "clock_gettime in a loop", "MPI_Wtime around barriers"]
VALUES = 3 * CALLS + 6


def times(command, environment):
    return [float(word) for row in measure.output_rows(command, environment) for word in row]


def size(recording):
    return os.path.getsize(os.path.join(recording, "trace.tar.zst"))


def main():
    build, mpiexec = sys.argv[1:3]
    repeats = int(sys.argv[3]) if len(sys.argv) > 3 else 7
    environment = measure.clean_environment()
    launch = measure.launcher(mpiexec, 1)
    wend, program = os.path.join(build, "wend"), os.path.join(build, "bench", "values")
    program = [program, str(CALLS)]
    columns = [[], [], [], []]
    grown = []
    for _ in range(repeats):
        scratch = tempfile.mkdtemp(prefix="wend-values.")
        without, with_them = os.path.join(scratch, "a.dir"), os.path.join(scratch, "b.dir")
        trace = [wend, "trace", "--quiet"]
        try:
            commands = [
                program,
                trace + ["-o", without] + program,
                trace + ["--values", "-o", with_them] + program,
                [wend, "replay", with_them] + program,
            ]
            for column, command in zip(columns, commands):
                column.append(times(launch + command, environment))
            grown.append((size(with_them) - size(without)) / VALUES)
        finally:
            shutil.rmtree(scratch)
    print(f"nanoseconds a call, medians of {repeats} runs, one rank, {os.cpu_count()} processors")
    # In the replay the clock is the recorded one, so its times are those of the recorded run.
    print(f"{'':28}{'plain':>8}{'recorded':>10}{'--values':>10}")
    for i, kind in enumerate(KINDS):
        medians = [statistics.median(run[i] for run in column) for column in columns[:3]]
        print(f"{kind:28}{medians[0]:8.1f}{medians[1]:10.1f}{medians[2]:10.1f}")
    if any(a != b for a, b in zip(columns[2], columns[3])):
        raise SystemExit("a replay shows other times than the recorded run")
    print(f"{statistics.median(grown):.2f} bytes a value in the archive")


if __name__ == "__main__":
    main()
