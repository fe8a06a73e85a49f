# SPDX-License-Identifier: BSD-3-Clause
# A Spack recipe: "spack repo add packaging/spack", "spack dev-build wend" in a clone of Wend.
import re
from pathlib import Path

from spack.package import *


def version_of_clone():
    """The version that configure.ac states, in the clone that this file is part of."""
    for folder in Path(__file__).resolve().parents:
        source = folder / "configure.ac"
        if source.is_file():
            text = source.read_text()
            found = re.search(r"^AC_INIT\(\[wend\], \[([^\]]+)\]\)", text, re.MULTILINE)
            if found:
                return found.group(1)
    return "develop"


class Wend(AutotoolsPackage):
    """Records a run of any MPI program, without its source, as one small archive that loses
    nothing about communication. Prints, compares and merges recordings, and compiles them to C
    programs that communicate as the application did."""

    license("BSD-3-Clause")

    # There is no release to download yet: "spack dev-build" takes the clone.
    version(version_of_clone())

    depends_on("c", type="build")
    depends_on("autoconf@2.71:", type="build")
    depends_on("automake@1.16:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.8:", type="build")

    # One recorder for each family; the MPI that Spack resolves decides which one is built.
    depends_on("mpi")
    depends_on("elfutils@0.170:")
    depends_on("glib@2.66:")
    depends_on("libarchive@3.4:")
    depends_on("libffi")
    depends_on("otf2@3:")
    depends_on("protobuf-c@1.3:")
    depends_on("xxhash")
    depends_on("zstd@1.4:")

    def autoreconf(self, spec, prefix):
        autoreconf = which("autoreconf")
        autoreconf("--force", "--install")

    def configure_args(self):
        return ["MPICC=" + self.spec["mpi"].mpicc]

    def setup_run_environment(self, env):
        env.prepend_path("LD_LIBRARY_PATH", self.prefix.lib)

    def check(self):
        make("check-unit")
