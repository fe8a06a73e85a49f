# SPDX-License-Identifier: BSD-3-Clause
"""What the measurements of this folder share: runs of MPI programs, plain and under Wend."""
import os
import subprocess
import time

LAUNCH = {"openmpi": ["--oversubscribe", "--allow-run-as-root"]}


def clean_environment():
    """The environment without settings of Wend."""
    return {name: value for name, value in os.environ.items() if not name.startswith("WEND_")}


def yielding_environment(build):
    """The same, for more ranks than processors: a rank that waits gives the processor away."""
    environment = clean_environment()
    yielding = os.path.join(build, "tests", "support", "yield.so")
    environment["LD_PRELOAD"] = " ".join([environment.get("LD_PRELOAD", ""), yielding]).strip()
    return environment


def launcher(mpiexec, ranks):
    """The words of a command before the program."""
    version = subprocess.run([mpiexec, "--version"], stdout=subprocess.PIPE, text=True).stdout
    more = LAUNCH["openmpi"] if "OpenRTE" in version else []
    return [mpiexec, *more, "-n", str(ranks)]


def tracer(build, directory):
    """The words between launcher and program that record the run in DIRECTORY."""
    return [os.path.join(build, "wend"), "trace", "--quiet", "-o", directory]


def fastest_processor():
    """The number of the processor that is the fastest at present.

    On a virtual machine one may be half as fast as another for minutes, because of what others do
    with it. Runs that are compared must not differ in that.
    """
    allowed = os.sched_getaffinity(0)

    def seconds(processor):
        os.sched_setaffinity(0, {processor})
        start = time.thread_time()
        for _ in range(300000):
            pass
        return time.thread_time() - start

    try:
        return min(allowed, key=lambda processor: min(seconds(processor) for _ in range(3)))
    finally:
        os.sched_setaffinity(0, allowed)


def output_rows(command, environment, processor=None):
    """The words of each line that a command prints. Fails if the command does.

    All its processes stay on PROCESSOR, unless that is None.
    """
    result = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        check=True,
        timeout=300,
        text=True,
        stdin=subprocess.DEVNULL,
        env=environment,
        preexec_fn=None if processor is None else lambda: os.sched_setaffinity(0, {processor}),
    )
    return [line.split() for line in result.stdout.splitlines()]


def loop_times(command, environment, processor=None):
    """{loop: nanoseconds}, of a program that prints a line "LOOP NANOSECONDS" for each."""
    return {row[0]: float(row[1]) for row in output_rows(command, environment, processor)}
