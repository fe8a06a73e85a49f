! SPDX-License-Identifier: BSD-3-Clause
! Calls of MPI through the library's Fortran layer: nanoseconds of CPU time for each.
program layer
    use mpi
    implicit none
    integer, parameter :: calls = 2000000
    integer :: i, rank, ierr
    real(8) :: start, end
    call MPI_Init(ierr)
    call cpu_time(start)
    do i = 1, calls
        call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    end do
    call cpu_time(end)
    print '(a, f10.2)', 'fortran_comm_rank ', (end - start) / calls * 1e9
    call cpu_time(start)
    do i = 1, calls / 4
        call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
        call MPI_Comm_size(MPI_COMM_WORLD, rank, ierr)
        call MPI_Comm_rank(MPI_COMM_SELF, rank, ierr)
        call MPI_Comm_size(MPI_COMM_SELF, rank, ierr)
    end do
    call cpu_time(end)
    print '(a, f10.2)', 'fortran_four_lines ', (end - start) / calls * 1e9
    call MPI_Finalize(ierr)
end program
