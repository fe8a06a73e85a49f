! SPDX-License-Identifier: BSD-3-Clause
! racing: rank 0 takes messages as they come, in each way that MPI has, and prints in which order
! they came. In all three interfaces from one source.
!
!   -DBINDING=1 mpif.h, 2 use mpi, 3 use mpi_f08
#include "bindings.inc"
#define ROUNDS 4

program racing
#if BINDING == 3
  use mpi_f08
#elif BINDING == 2
  use mpi
#endif
  implicit none
#if BINDING == 1
  include 'mpif.h'
#endif
  integer :: rank, ranks, e

  call MPI_Init(e)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, e)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, e)
  if (rank == 0) then
    call take
    call take_any
    call take_some
    call take_probed
    call take_again
  else
    call send(1)
    call send(2)
    call send(3)
    call send(4)
    call send(5)
  end if
  call MPI_Finalize(e)

contains

  ! A message of each round, and rank 0 has taken all of this kind.
  subroutine send(tag)
    integer, intent(in) :: tag
    integer :: i, value
    do i = 1, ROUNDS
      value = 100*rank + i
      call MPI_Send(value, 1, MPI_INTEGER, 0, tag, MPI_COMM_WORLD, e)
    end do
    call MPI_Barrier(MPI_COMM_WORLD, e)
  end subroutine

  subroutine say(name, value, source)
    character(len=*), intent(in) :: name
    integer, intent(in) :: value, source
    print '(a, i0, a, i0)', name // ' ', value, ' of rank ', source
  end subroutine

  subroutine take
    integer :: i, value
    STATUS :: s
    do i = 1, ROUNDS*(ranks - 1)
      call MPI_Recv(value, 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, s, e)
      call say('receive:', value, FIELD(s, MPI_SOURCE))
    end do
    call MPI_Barrier(MPI_COMM_WORLD, e)
  end subroutine

  subroutine post(values, requests)
    integer, asynchronous, intent(inout) :: values(:)
    HANDLE(MPI_Request), intent(out) :: requests(:)
    integer :: i
    do i = 1, size(values)
      call MPI_Irecv(values(i), 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &
        requests(i), e)
    end do
  end subroutine

  subroutine take_any
    integer, asynchronous :: values(ROUNDS*(ranks - 1))
    HANDLE(MPI_Request) :: requests(ROUNDS*(ranks - 1))
    integer :: i, index
    STATUS :: s
    call post(values, requests)
    do i = 1, size(values)
      call MPI_Waitany(size(values), requests, index, s, e)
      print '(a, i0)', 'waitany: ', index
      call say('waitany:', values(index), FIELD(s, MPI_SOURCE))
    end do
    call MPI_Barrier(MPI_COMM_WORLD, e)
  end subroutine

  subroutine take_some
    integer, asynchronous :: values(ROUNDS*(ranks - 1))
    HANDLE(MPI_Request) :: requests(ROUNDS*(ranks - 1))
    integer :: i, n, left, polls, indices(ROUNDS*(ranks - 1))
    STATUSES(s, ROUNDS*(ranks - 1))
    call post(values, requests)
    left = size(values)
    polls = 0
    do while (left > 0)
      call MPI_Testsome(size(values), requests, n, indices, s, e)
      polls = polls + 1
      do i = 1, n
        ! not the message: MPICH 4.0's mpi_f08 gives indices from 0 on
        call say('testsome:', indices(i), FIELD_OF(s, i, MPI_SOURCE))
      end do
      left = left - n
    end do
    print '(a, i0, a)', 'testsome: ', polls, ' polls'
    call MPI_Barrier(MPI_COMM_WORLD, e)
  end subroutine

  subroutine take_probed
    integer :: i, value, polls
    logical :: found
    STATUS :: s
    do i = 1, ROUNDS*(ranks - 1)
      found = .false.
      polls = 0
      do while (.not. found)
        call MPI_Iprobe(MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, found, s, e)
        polls = polls + 1
      end do
      call MPI_Recv(value, 1, MPI_INTEGER, FIELD(s, MPI_SOURCE), 4, MPI_COMM_WORLD, s, e)
      print '(a, i0, a)', 'probe: ', polls, ' polls'
      call say('probe:', value, FIELD(s, MPI_SOURCE))
    end do
    call MPI_Barrier(MPI_COMM_WORLD, e)
  end subroutine

  subroutine take_again
    integer, asynchronous :: value
    integer :: i
    logical :: done
    HANDLE(MPI_Request) :: request
    STATUS :: s
    call MPI_Recv_init(value, 1, MPI_INTEGER, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, request, e)
    do i = 1, ROUNDS*(ranks - 1)
      call MPI_Start(request, e)
      done = .false.
      do while (.not. done)
        call MPI_Test(request, done, s, e)
      end do
      call say('persistent:', value, FIELD(s, MPI_SOURCE))
    end do
    call MPI_Request_free(request, e)
    call MPI_Barrier(MPI_COMM_WORLD, e)
  end subroutine
end program
