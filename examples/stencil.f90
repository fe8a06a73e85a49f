! SPDX-License-Identifier: BSD-3-Clause
! stencil: Jacobi iteration on a line of cells, in Fortran with the mpi module.
!
!   stencil [CELLS [ITERATIONS]]
!
! Each rank has CELLS cells of a rod whose ends are held at 0 and 1. Borders go to both neighbours
! with MPI_Isend and MPI_Irecv (MPI_PROC_NULL at the ends), and the largest change is reduced in
! place. With so few iterations the rod is far from its final state. So the check is that
! temperatures rise along it, across ranks too, and stay between 0 and 1.
program stencil
  use mpi
  implicit none
  integer :: n, iterations, rank, ranks, left, right, it, ierr, length
  integer :: requests(4), statuses(MPI_STATUS_SIZE, 4)
  double precision, allocatable :: u(:), v(:)
  double precision :: change, first, last, sums(2), total(2)
  character(len=32) :: argument
  logical :: ok, all_ok

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  n = 40
  iterations = 30
  call get_command_argument(1, argument, length)
  if (length > 0) read (argument, *) n
  call get_command_argument(2, argument, length)
  if (length > 0) read (argument, *) iterations

  left = rank - 1
  right = rank + 1
  if (left < 0) left = MPI_PROC_NULL
  if (right == ranks) right = MPI_PROC_NULL

  allocate (u(0:n + 1), v(0:n + 1))
  u = 0
  if (right == MPI_PROC_NULL) u(n + 1) = 1
  v = u
  change = 0
  do it = 1, iterations
    call MPI_Irecv(u(0), 1, MPI_DOUBLE_PRECISION, left, 1, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Irecv(u(n + 1), 1, MPI_DOUBLE_PRECISION, right, 2, MPI_COMM_WORLD, requests(2), ierr)
    call MPI_Isend(u(1), 1, MPI_DOUBLE_PRECISION, left, 2, MPI_COMM_WORLD, requests(3), ierr)
    call MPI_Isend(u(n), 1, MPI_DOUBLE_PRECISION, right, 1, MPI_COMM_WORLD, requests(4), ierr)
    call MPI_Waitall(4, requests, statuses, ierr)
    v(1:n) = 0.5d0*(u(0:n - 1) + u(2:n + 1))
    change = maxval(abs(v(1:n) - u(1:n)))
    u(1:n) = v(1:n)
    call MPI_Allreduce(MPI_IN_PLACE, change, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
  end do

  ok = all(u(1:n) >= 0) .and. all(u(1:n) <= 1) .and. all(u(2:n) >= u(1:n - 1))
  first = u(1)
  last = 0
  call MPI_Sendrecv(u(n), 1, MPI_DOUBLE_PRECISION, right, 3, &
                    last, 1, MPI_DOUBLE_PRECISION, left, 3, &
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  ok = ok .and. last <= first
  call MPI_Allreduce(ok, all_ok, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, ierr)
  if (.not. all_ok) call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  sums = [sum(u(1:n)), dble(n)]
  call MPI_Reduce(sums, total, 2, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(a, i0, a, i0, a, i0, a, f10.6)', 'stencil (Fortran): ', ranks, &
    ' ranks, ', nint(total(2)), ' cells, ', iterations, ' iterations, mean ', total(1)/total(2)
  deallocate (u, v)
  call MPI_Finalize(ierr)
end program stencil
