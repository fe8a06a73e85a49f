# SPDX-License-Identifier: BSD-3-Clause
# HPC Challenge: HPL, PTRANS, RandomAccess, FFT and more in one program.
build() {
    fetch hpcc || return
    built "$CACHE/hpcc/hpcc" build_hpcc
}
build_hpcc() (
    cd "$CACHE/hpcc/hpl" || exit
    # functions that MPI 3.0 removed, and Open MPI does not declare
    sed -i -e 's/MPI_Address *(/MPI_Get_address(/' \
        -e 's/MPI_Type_struct *(/MPI_Type_create_struct(/' src/comm/*.c
    cat >Make.wend <<END
SHELL = /bin/sh
CD = cd
CP = cp
LN_S = ln -s -f
MKDIR = mkdir -p
RM = /bin/rm -f
TOUCH = touch
ARCH = wend
TOPdir = ../../..
INCdir = \$(TOPdir)/include
BINdir = \$(TOPdir)/bin/\$(ARCH)
LIBdir = \$(TOPdir)/lib/\$(ARCH)
HPLlib = \$(LIBdir)/libhpl.a
MPlib =
MPinc =
LAlib = -lblas
LAinc =
F2CDEFS = -DAdd_ -DF77_INTEGER=int -DStringSunStyle
HPL_INCLUDES = -I\$(INCdir) -I\$(INCdir)/\$(ARCH)
HPL_LIBS = \$(HPLlib) \$(LAlib) -lm
HPL_OPTS =
HPL_DEFS = \$(F2CDEFS) \$(HPL_OPTS) \$(HPL_INCLUDES)
CC = $MPICC
CCNOOPT = \$(HPL_DEFS) -w
CCFLAGS = \$(HPL_DEFS) -O2 -w
LINKER = $MPICC
LINKFLAGS = \$(CCFLAGS)
ARCHIVER = ar
ARFLAGS = r
RANLIB = echo
END
    cd .. && make arch=wend
)
cases() {
    printf 'small %s\n' 4 8
    echo "all 4"
    echo "all 9"
    echo "all 16"
}
# one small problem on a grid of P × Q ranks; little memory, which is what sizes RandomAccess
run_case() {
    local p=1 n=$2 q size=120 megabytes=4
    [ "$1" != small ] || size=40 megabytes=1
    replays=$ELSEWHERE_REPLAYS
    # RandomAccess ends after some seconds
    trace_options=(--values)
    while (((p + 1) * (p + 1) <= n)); do ((p++)); done
    while ((n % p)); do ((p--)); done
    q=$((n / p))
    sed -e "s/^1000 .*Ns\$/$size Ns/; s/^80 .*NBs\$/20 NBs/" \
        -e "s/^2  *Ps\$/$p Ps/; s/^2  *Qs\$/$q Qs/" \
        -e 's/^1200 10000 30000 /60 10000 30000 /' "$CACHE/hpcc/_hpccinf.txt" >hpccinf.txt
    echo "Total=$megabytes" >hpccmemf.txt
    command=("$CACHE/hpcc/hpcc")
}
comparable() { # not its times, nor what it computes of them
    grep -E 'PASSED|FAILED|Success=' "$1" | grep -v '^CPU'
}
