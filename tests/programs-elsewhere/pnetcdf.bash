# SPDX-License-Identifier: BSD-3-Clause
# PnetCDF: parallel access to netCDF files, over MPI-IO. The cases are its tests (C, C++, Fortran 77
# and 90) and examples, with as many ranks as its own "make ptest" has, or one where that has none.
# Needs gfortran, g++ and m4.
build() {
    fetch pnetcdf || return
    built "$CACHE/pnetcdf/complete" build_pnetcdf
}
build_pnetcdf() (
    cd "$CACHE/pnetcdf" || exit
    suffix=$(expr "$MPICC" : '.*/mpicc\(.*\)')
    autoreconf -fi &&
        ./configure --disable-shared --disable-versioning --enable-thread-safe \
            --enable-burst-buffering MPICC="$MPICC" MPICXX="$MPIRUN_DIR/mpicxx$suffix" \
            MPIF77="$MPIRUN_DIR/mpif77$suffix" MPIF90="$MPIRUN_DIR/mpifort$suffix" \
            CFLAGS="-O1 -w" CXXFLAGS="-O1 -w" FFLAGS="-O1 -w" FCFLAGS="-O1 -w" &&
        make && make tests &&
        touch complete
)
cases() {
    local folder
    for folder in "$CACHE"/pnetcdf/{test,examples}/*/; do
        if [ -e "$folder/parallel_run.sh" ]; then
            programs 4 "$folder"*
        else
            programs 1 "$folder"*
        fi
    done
}
# As PnetCDF's own scripts do: most programs take the name of a file to write, some that of a folder
# or of an existing file.
run_case() {
    local program=$CACHE/pnetcdf/$1
    command=("$program" file.nc)
    unset PNETCDF_HINTS
    case $1 in
    */burst_buffer/*)
        export PNETCDF_HINTS="nc_burst_buf=enable;nc_burst_buf_overwrite=enable"
        PNETCDF_HINTS+=";nc_burst_buf_dirname=$PWD" ;;
    */test_inq_format | */tst_corrupt) command=("$program" "${program%/*}") ;;
    */tst_open_cdf5) command=("$program" "${program%/*}/bad_begin.nc5") ;;
    */nc_test/nc_test) command=("$program" -d .) ;;
    */nf*_test/nf*_test) # opens what is no netCDF file
        cp "$program" "${program%/*}"/test_get.F* .
        command=("./${program##*/}" -d .) ;;
    */tst_io) command=("$program" .) ;;
    */pres_temp_4D_rd) mpi 1 "${program%rd}wr" file.nc ;;
    */pnetcdf-read-* | */get_vara) # what its counterpart has written
        local writer=${1##*/}
        writer=${writer/read/write}
        mpi 4 "${program%/*}/${writer/get/put}" file.nc ;;
    esac >preparation
}
comparable() { # not times
    sed -E 's/[0-9]*\.[0-9]+//g' "$1" | words
}
