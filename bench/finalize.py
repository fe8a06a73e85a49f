#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Milliseconds that MPI_Finalize takes at 2 to 64 ranks, with and without Wend.

Usage: finalize.py BUILD_DIR MPIEXEC [REPEATS]
RANKS="2 4" and PATTERNS="stencil" in the environment choose some of the runs.

bench/finalize runs plain and recorded in turns. Printed are medians, with the lowest and the
highest. The time of a run is that of its slowest rank. Rank 0 reports two steps of Wend's work:
"meeting" lasts until the merge begins, "merging" until the archive is there. "Root" is the CPU time
of rank 0. If there are more ranks than processors, the ranks take turns, so their work is done one
after the other.
"""
import os
import statistics
import sys
import tempfile

from measure import launcher, output_rows, tracer, yielding_environment


def run(command, environment):
    """Milliseconds of the slowest rank, and of rank 0's two steps and CPU time."""
    rows = {
        int(row[0]): [int(ns) / 1e6 for ns in row[1:]]
        for row in output_rows(command, environment)
        if len(row) == 5
    }
    return [max(row[0] for row in rows.values())] + rows[0][1:]


def main():
    build, mpiexec = sys.argv[1:3]
    repeats = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    ranks = [int(n) for n in os.environ.get("RANKS", "2 4 8 16 32 64").split()]
    patterns = os.environ.get("PATTERNS", "stencil own new chance").split()
    environment = yielding_environment(build)
    app = os.path.join(build, "bench", "finalize")
    print(
        f"milliseconds of MPI_Finalize, medians of {repeats} runs (lowest - highest), "
        f"{os.cpu_count()} processors"
    )
    print(
        f"{'pattern':10}{'ranks':>6}{'plain':>8}{'recorded':>22}"
        f"{'meeting':>9}{'merging':>9}{'root':>7}{'bytes':>9}"
    )
    for pattern in patterns:
        for n in ranks:
            plain, recorded = [], []
            launch = launcher(mpiexec, n)
            with tempfile.TemporaryDirectory(prefix="wend-finalize.") as scratch:
                # in turns, so that other load on the machine affects both
                for i in range(repeats):
                    plain.append(run([*launch, app, pattern], environment))
                    trace = tracer(build, f"{scratch}/{i}")
                    recorded.append(run([*launch, *trace, app, pattern], environment))
                size = os.path.getsize(f"{scratch}/0/trace.tar.zst")
            middle = [statistics.median(run[k] for run in recorded) for k in range(4)]
            spread = f"{min(r[0] for r in recorded):.1f} - {max(r[0] for r in recorded):.1f}"
            print(
                f"{pattern:10}{n:6}{statistics.median(r[0] for r in plain):8.1f}{middle[0]:9.1f} "
                f"({spread:>10}){middle[1]:9.1f}{middle[2]:9.1f}{middle[3]:7.1f}{size:9}",
                flush=True,
            )


if __name__ == "__main__":
    main()
