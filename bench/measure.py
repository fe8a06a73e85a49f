# SPDX-License-Identifier: BSD-3-Clause
"""What the measurements of this folder share: runs of MPI programs, plain and under Wend."""
import os
import subprocess

LAUNCH = {"openmpi": ["--oversubscribe", "--allow-run-as-root"]}


def clean_environment():
    """The environment without settings of Wend."""
    return {name: value for name, value in os.environ.items() if not name.startswith("WEND_")}


def yielding_environment(build):
    """The same, for more ranks than processors: a rank that waits gives the processor away."""
    environment = clean_environment()
    yielding = os.path.join(build, "tests", "support", ".libs", "yield.so")
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


def output_rows(command, environment):
    """The words of each line that a command prints. Fails if the command does."""
    result = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        check=True,
        timeout=300,
        text=True,
        stdin=subprocess.DEVNULL,
        env=environment,
    )
    return [line.split() for line in result.stdout.splitlines()]
