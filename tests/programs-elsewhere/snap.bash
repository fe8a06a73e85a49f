# SPDX-License-Identifier: BSD-3-Clause
# SNAP, a proxy of a transport code: sweeps over a grid from four corners at once. A rank goes on
# with the corner of which both messages are there and both earlier sends are done, so what it does
# depends on the order of messages.
build() {
    fetch_repository snap lanl/SNAP || return
    built "$CACHE/snap/src/gsnap" make -C "$CACHE/snap/src" OPENMP=no \
        FORTRAN="$MPIRUN_DIR/$(basename "${MPICC/mpicc/mpif90}")" \
        FFLAGS="-O2 -w -fallow-argument-mismatch"
}
cases() { # ten recordings, in each of which messages come in another order
    for seed in 1 2 3 4 5 6 7 8 9 10; do
        echo "sweep.$seed 8"
    done
}
run_case() {
    cat >in <<'END'
! a small problem
&invar
  nthreads=1 nnested=1 npey=4 npez=2
  ndimen=3 nx=4 lx=1.0 ny=8 ly=1.0 nz=8 lz=1.0 ichunk=2
  nmom=1 nang=4 ng=2 mat_opt=1 src_opt=1
  timedep=0 it_det=0 tf=1.0 nsteps=1 iitm=3 oitm=3 epsi=1.E-4
  fluxp=0 scatp=0 fixup=0 soloutp=0 swp_typ=0 angcpy=1 multiswp=1
/
END
    delays=${1#sweep.}
    runs=4
    command=("$CACHE/snap/src/gsnap" in out)
}
comparable() { # not times
    sed -E '/Timing Summary/,/Inverse Grind/d; /[0-9]:[0-9][0-9]/d' "$1" | words
}
