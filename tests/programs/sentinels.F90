! SPDX-License-Identifier: BSD-3-Clause
! sentinels: arguments and constants that Fortran treats differently from C, in all three interfaces
! from one source. Each case prints all results under its name (data, statuses, indices, flags,
! strings, error classes), so that a run under wend trace can be compared with one without.
!
!   -DBINDING=1 mpif.h, 2 use mpi, 3 use mpi_f08
!
!   sentinels [LEVEL [CASE…]]
!
! LEVEL is the thread level that MPI_Init_thread asks for, 0 to 3. -1 (default) calls MPI_Init.
#include "bindings.inc"
#define ADDRESS integer(MPI_ADDRESS_KIND)
#if BINDING == 2
#define CONVERSION convert /* the null function is not in every mpi module */
#else
#define CONVERSION MPI_CONVERSION_FN_NULL
#endif

module cases
#if BINDING == 3
  use mpi_f08
#elif BINDING == 2
  use mpi
#endif
  use, intrinsic :: iso_c_binding
  implicit none
#if BINDING == 1
  include 'mpif.h'
#endif
  integer :: rank, ranks, left, right, e
  integer :: copies = 0, deletions = 0, errors = 0, last_class = 0, queries = 0, frees = 0, &
    cancels = 0, extents = 0
  ADDRESS :: last_extra = 0

contains

  ! -- what came back --

  subroutine say(name, values)
    character(len=*), intent(in) :: name
    integer, intent(in) :: values(:)
    print '(a, i0, 3a, *(i0, 1x))', 'rank ', rank, ' ', name, ': ', values
  end subroutine

  subroutine say_text(name, text)
    character(len=*), intent(in) :: name, text
    print '(a, i0, 5a, i0)', 'rank ', rank, ' ', name, ': [', text, '] ', len(text)
  end subroutine

  integer function class_of(code)
    integer, intent(in) :: code
    integer :: ignored
    call MPI_Error_class(code, class_of, ignored)
  end function

  integer function number(l) ! a logical, and no other bit pattern
    logical, intent(in) :: l
    number = merge(1, 0, l)
    if (l .neqv. (transfer(l, 0) /= 0)) number = 99
  end function

  ! -- the application's functions --

#if BINDING == 3
  subroutine larger(invec, inoutvec, n, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: n
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    call c_f_pointer(invec, a, [n])
    call c_f_pointer(inoutvec, b, [n])
    if (datatype /= MPI_INTEGER) n = 0
#else
  subroutine larger(a, b, n, datatype)
    integer :: n, datatype, a(n), b(n)
    if (datatype /= MPI_INTEGER) n = 0
#endif
    where (abs(a(1:n)) > abs(b(1:n))) b(1:n) = a(1:n)
  end subroutine

#if BINDING == 3
  subroutine then_this(invec, inoutvec, n, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: n
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    call c_f_pointer(invec, a, [n])
    call c_f_pointer(inoutvec, b, [n])
#else
  subroutine then_this(a, b, n, datatype)
    integer :: n, datatype, a(n), b(n)
#endif
    b(1:n) = 10*a(1:n) + b(1:n)
  end subroutine

  subroutine copy(object, key, extra, value_in, value_out, flag, ierror)
    HANDLE(MPI_Comm) :: object
    integer :: key, ierror
    ADDRESS :: extra, value_in, value_out
    logical :: flag
    copies = copies + 1
    last_extra = extra
    value_out = value_in + extra
    flag = value_in /= 5     ! 5 is not copied
    ierror = MPI_SUCCESS
    if (value_in == 6) ierror = MPI_ERR_OTHER
  end subroutine

  subroutine delete(object, key, value, extra, ierror)
    HANDLE(MPI_Comm) :: object
    integer :: key, ierror
    ADDRESS :: value, extra
    deletions = deletions + 1
    ierror = MPI_SUCCESS
    if (value == 7) ierror = MPI_ERR_OTHER
  end subroutine

  subroutine copy_of_type(object, key, extra, value_in, value_out, flag, ierror)
    HANDLE(MPI_Datatype) :: object
    integer :: key, ierror
    ADDRESS :: extra, value_in, value_out
    logical :: flag
    copies = copies + 1
    value_out = value_in*extra
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine

  subroutine delete_of_type(object, key, value, extra, ierror)
    HANDLE(MPI_Datatype) :: object
    integer :: key, ierror
    ADDRESS :: value, extra
    deletions = deletions + 1
    ierror = MPI_SUCCESS
  end subroutine

  subroutine copy_of_win(object, key, extra, value_in, value_out, flag, ierror)
    HANDLE(MPI_Win) :: object
    integer :: key, ierror
    ADDRESS :: extra, value_in, value_out
    logical :: flag
    flag = .false.
    ierror = MPI_SUCCESS
  end subroutine

  subroutine delete_of_win(object, key, value, extra, ierror)
    HANDLE(MPI_Win) :: object
    integer :: key, ierror
    ADDRESS :: value, extra
    deletions = deletions + int(value)
    ierror = MPI_SUCCESS
  end subroutine

#if BINDING != 3
  subroutine old_copy(object, key, extra, value_in, value_out, flag, ierror)
    integer :: object, key, extra, value_in, value_out, ierror
    logical :: flag
    copies = copies + 1
    value_out = value_in + extra
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine

  subroutine old_delete(object, key, value, extra, ierror)
    integer :: object, key, value, extra, ierror
    deletions = deletions + 1
    ierror = MPI_SUCCESS
  end subroutine
#endif

  subroutine on_error(comm, code)
    HANDLE(MPI_Comm) :: comm
    integer :: code
    errors = errors + 1
    last_class = class_of(code)
  end subroutine

  subroutine on_error_of_win(win, code)
    HANDLE(MPI_Win) :: win
    integer :: code
    errors = errors + 10
    last_class = class_of(code)
  end subroutine

  subroutine on_error_of_file(file, code)
    HANDLE(MPI_File) :: file
    integer :: code
    errors = errors + 100
    last_class = class_of(code)
  end subroutine

  subroutine query(extra, s, ierror)
    ADDRESS :: extra
    STATUS :: s
    integer :: ierror
    queries = queries + 1
    FIELD(s, MPI_SOURCE) = 3
    FIELD(s, MPI_TAG) = int(extra)
    call MPI_Status_set_elements(s, MPI_INTEGER, 4, ierror)
    call MPI_Status_set_cancelled(s, cancels > 0, ierror)
    ierror = MPI_SUCCESS
  end subroutine

  subroutine free(extra, ierror)
    ADDRESS :: extra
    integer :: ierror
    frees = frees + 1
    ierror = MPI_SUCCESS
  end subroutine

  subroutine cancel(extra, complete, ierror)
    ADDRESS :: extra
    logical :: complete
    integer :: ierror
    cancels = cancels + merge(10, 1, complete)
    ierror = MPI_SUCCESS
  end subroutine

  subroutine extent_of(datatype, extent, extra, ierror)
    HANDLE(MPI_Datatype) :: datatype
    ADDRESS :: extent, extra
    integer :: ierror
    extents = extents + 1
    extent = 4
    ierror = MPI_SUCCESS
  end subroutine

#if BINDING == 2
  subroutine convert(userbuf, datatype, n, filebuf, position, extra, ierror)
    integer :: datatype, n, ierror
    character(len=1) :: userbuf(*), filebuf(*)
    integer(MPI_OFFSET_KIND) :: position
    ADDRESS :: extra
    ierror = MPI_SUCCESS
  end subroutine
#endif

  ! -- the cases --

  subroutine blocking()
    integer :: a(4), b(4), n, parts
    STATUS :: s
    HANDLE(MPI_Comm) :: comm
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, e)
    a = [rank, -rank, 17, huge(0)]
    b = -1
    if (mod(rank, 2) == 0) then
      call MPI_Send(a, 4, MPI_INTEGER, right, 5, MPI_COMM_WORLD, e)
      call MPI_Recv(b, 4, MPI_INTEGER, left, 5, MPI_COMM_WORLD, s, e)
    else
      call MPI_Recv(b, 4, MPI_INTEGER, left, 5, MPI_COMM_WORLD, s, e)
      call MPI_Ssend(a, 4, MPI_INTEGER, right, 5, MPI_COMM_WORLD, e)
    end if
    call MPI_Get_count(s, MPI_INTEGER, n, e)
    call say('recv', [b, FIELD(s, MPI_SOURCE), FIELD(s, MPI_TAG), n])
    b = -1
    call MPI_Sendrecv(a, 3, MPI_INTEGER, right, 6, b, 4, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, &
      comm, MPI_STATUS_IGNORE, e)
    call MPI_Comm_free(comm, e)
    call say('sendrecv, status ignored', b)
    call MPI_Sendrecv_replace(a, 4, MPI_INTEGER, right, 7, left, 7, MPI_COMM_WORLD, s, e)
    call MPI_Get_elements(s, MPI_INTEGER, parts, e)
    call say('sendrecv_replace', [a, FIELD(s, MPI_SOURCE), FIELD(s, MPI_TAG), parts])
    call MPI_Recv(b, 4, MPI_INTEGER, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, s, e)
    call MPI_Get_count(s, MPI_INTEGER, n, e)
    call say('from MPI_PROC_NULL', [b, merge(1, 0, FIELD(s, MPI_SOURCE) == MPI_PROC_NULL), &
      merge(1, 0, FIELD(s, MPI_TAG) == MPI_ANY_TAG), n])
  end subroutine

  subroutine probing()
    integer :: a(2), n
    logical :: flag
    STATUS :: s
    HANDLE(MPI_Message) :: message
    HANDLE(MPI_Request) :: r
    call MPI_Isend([rank, 4], 2, MPI_INTEGER, right, 8, MPI_COMM_WORLD, r, e)
    call MPI_Probe(left, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE, e)
    call MPI_Iprobe(left, MPI_ANY_TAG, MPI_COMM_WORLD, flag, s, e)
    call MPI_Get_count(s, MPI_INTEGER, n, e)
    call MPI_Mprobe(left, 8, MPI_COMM_WORLD, message, s, e)
    call MPI_Mrecv(a, 2, MPI_INTEGER, message, MPI_STATUS_IGNORE, e)
    call say('probe', [number(flag), n, FIELD(s, MPI_SOURCE), FIELD(s, MPI_TAG), a])
    call MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE, e)
    call say('iprobe', [number(flag)])
    call MPI_Wait(r, MPI_STATUS_IGNORE, e)
  end subroutine

  subroutine nonblocking()
    integer, asynchronous :: a(3), b(3, 4)
    integer :: n(4), i
    HANDLE(MPI_Request) :: r(8)
    STATUSES(s, 8)
    STATUS :: one
    logical :: flag
    a = [rank, 2*rank, 3*rank]
    b = -1
    do i = 1, 4
      call MPI_Irecv(b(1, i), 3, MPI_INTEGER, left, 10 + i, MPI_COMM_WORLD, r(i), e)
      call MPI_Isend(a, i - 1, MPI_INTEGER, right, 10 + i, MPI_COMM_WORLD, r(4 + i), e)
    end do
    call MPI_Waitall(8, r, s, e)
    do i = 1, 4
#if BINDING == 3
      call MPI_Get_count(s(i), MPI_INTEGER, n(i), e)
#else
      call MPI_Get_count(s(:, i), MPI_INTEGER, n(i), e)
#endif
    end do
    call say('waitall', [reshape(b, [12]), n, (FIELD_OF(s, i, MPI_TAG), i=1, 4), &
      (FIELD_OF(s, i, MPI_SOURCE), i=1, 4)])
    call say('waitall nulls', [(merge(1, 0, r(i) == MPI_REQUEST_NULL), i=1, 8)])
    b = -1
    call MPI_Irecv(b, 3, MPI_INTEGER, left, 15, MPI_COMM_WORLD, r(1), e)
    call MPI_Isend(a, 3, MPI_INTEGER, right, 15, MPI_COMM_WORLD, r(2), e)
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE, e)
    call say('waitall, statuses ignored', b(:, 1))
    call MPI_Irecv(b(1, 2), 3, MPI_INTEGER, left, 16, MPI_COMM_WORLD, r(1), e)
    call MPI_Isend(a, 3, MPI_INTEGER, right, 16, MPI_COMM_WORLD, r(2), e)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE, e)
    call MPI_Wait(r(2), one, e)
    call say('wait, status ignored', b(:, 2))
    call MPI_Testall(2, r, flag, MPI_STATUSES_IGNORE, e)
    call say('testall of nulls', [number(flag)])
    call MPI_Test(r(1), flag, MPI_STATUS_IGNORE, e)
    call say('test of null', [number(flag)])
    call MPI_Irecv(b(1, 3), 3, MPI_INTEGER, left, 17, MPI_COMM_WORLD, r(1), e)
    call MPI_Cancel(r(1), e)
    call MPI_Wait(r(1), one, e)
    call MPI_Test_cancelled(one, flag, e)
    call say('cancelled', [number(flag)])
  end subroutine

  subroutine persistent()
    integer, asynchronous :: a(2), b(2)
    integer :: i, index
    HANDLE(MPI_Request) :: r(2)
    STATUSES(s, 2)
    call MPI_Recv_init(b, 2, MPI_INTEGER, left, 21, MPI_COMM_WORLD, r(1), e)
    call MPI_Send_init(a, 2, MPI_INTEGER, right, 21, MPI_COMM_WORLD, r(2), e)
    do i = 1, 3
      a = [i, rank]
      if (i < 3) then
        call MPI_Startall(2, r, e)
      else
        call MPI_Start(r(1), e)
        call MPI_Start(r(2), e)
      end if
      call MPI_Waitall(2, r, s, e)
      call say('persistent', [b, FIELD_OF(s, 1, MPI_SOURCE)])
    end do
    call MPI_Startall(2, r, e)
    do i = 1, 3 ! which comes first is left to chance, but not that the third finds none
      call MPI_Waitany(2, r, index, MPI_STATUS_IGNORE, e)
    end do
    call say('waitany of inactive ones', [merge(1, 0, index == MPI_UNDEFINED)])
    call MPI_Request_free(r(1), e)
    call MPI_Request_free(r(2), e)
    call say('freed', [merge(1, 0, r(1) == MPI_REQUEST_NULL)])
  end subroutine

  subroutine indices()
    integer, asynchronous :: b(5)
    integer :: i, index, n, done, where_(5), seen(0:5) ! MPICH 4.0's mpi_f08 counts from 0
    logical :: flag
    HANDLE(MPI_Request) :: r(5)
    STATUS :: s
    STATUSES(all, 5)
    do i = 1, 5
      r(i) = MPI_REQUEST_NULL
    end do
    call MPI_Waitany(5, r, index, s, e)
    call say('waitany of none', [merge(1, 0, index == MPI_UNDEFINED)])
    call MPI_Testany(5, r, index, flag, MPI_STATUS_IGNORE, e)
    call say('testany of none', [merge(1, 0, index == MPI_UNDEFINED), number(flag)])
    call MPI_Waitsome(5, r, n, where_, MPI_STATUSES_IGNORE, e)
    call say('waitsome of none', [merge(1, 0, n == MPI_UNDEFINED)])
    call MPI_Testsome(5, r, n, where_, all, e)
    call say('testsome of none', [merge(1, 0, n == MPI_UNDEFINED)])
    b = -1
    do i = 1, 5
      call MPI_Irecv(b(i), 1, MPI_INTEGER, left, 30 + i, MPI_COMM_WORLD, r(i), e)
    end do
    call MPI_Testany(5, r, index, flag, s, e)
    call say('testany of none yet', [merge(1, 0, index == MPI_UNDEFINED), number(flag)])
    call MPI_Testsome(5, r, n, where_, MPI_STATUSES_IGNORE, e)
    call say('testsome of none yet', [n])
    call MPI_Barrier(MPI_COMM_WORLD, e)
    ! One after the other, so that there is one index that can come back.
    do i = 5, 3, -1
      call MPI_Send(100*rank + i, 1, MPI_INTEGER, right, 30 + i, MPI_COMM_WORLD, e)
      if (i == 5) call MPI_Waitany(5, r, index, s, e)
      if (i == 4) call MPI_Waitany(5, r, index, MPI_STATUS_IGNORE, e)
      if (i == 3) then
        flag = .false.
        do while (.not. flag)
          call MPI_Testany(5, r, index, flag, s, e)
        end do
      end if
      call say('index', [index, b, (merge(1, 0, r(n) == MPI_REQUEST_NULL), n=1, 5)])
      if (i /= 4) call say('its status', [FIELD(s, MPI_SOURCE), FIELD(s, MPI_TAG)])
      call MPI_Barrier(MPI_COMM_WORLD, e)
    end do
    call MPI_Send(100*rank + 2, 1, MPI_INTEGER, right, 32, MPI_COMM_WORLD, e)
    call MPI_Waitsome(5, r, n, where_, all, e)
    call say('waitsome', [n, where_(1), b, FIELD_OF(all, 1, MPI_TAG)])
    call MPI_Barrier(MPI_COMM_WORLD, e)
    call MPI_Send(100*rank + 1, 1, MPI_INTEGER, right, 31, MPI_COMM_WORLD, e)
    n = 0
    do while (n == 0)
      call MPI_Testsome(5, r, n, where_, MPI_STATUSES_IGNORE, e)
    end do
    call say('testsome', [n, where_(1), b])
    ! Several at once: in which portions is left to chance, but not which there are.
    do i = 1, 5
      call MPI_Irecv(b(i), 1, MPI_INTEGER, left, 40 + i, MPI_COMM_WORLD, r(i), e)
    end do
    do i = 1, 5
      call MPI_Send(-i, 1, MPI_INTEGER, right, 40 + i, MPI_COMM_WORLD, e)
    end do
    done = 0
    seen = 0
    do while (done < 5)
      call MPI_Waitsome(5, r, n, where_, MPI_STATUSES_IGNORE, e)
      seen(where_(1:n)) = seen(where_(1:n)) + 1
      done = done + n
    end do
    call say('all of several', [seen, b])
  end subroutine

  subroutine in_place()
    integer :: a(3), v(ranks), i, counts(ranks), displs(ranks), m(ranks)
    HANDLE(MPI_Request) :: r
    a = [rank, -rank, 2]
    call MPI_Allreduce(MPI_IN_PLACE, a, 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, e)
    call say('in place: allreduce', a)
    a = [rank, -rank, 2]
    if (rank == ranks - 1) then
      call MPI_Reduce(MPI_IN_PLACE, a, 3, MPI_INTEGER, MPI_MIN, ranks - 1, MPI_COMM_WORLD, e)
    else
      call MPI_Reduce(a, a, 3, MPI_INTEGER, MPI_MIN, ranks - 1, MPI_COMM_WORLD, e)
    end if
    call say('in place: reduce', a)
    v = -1
    v(rank + 1) = 7*rank
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, v, 1, MPI_INTEGER, MPI_COMM_WORLD, e)
    call say('in place: allgather', v)
    v = -1
    v(rank + 1) = 9*rank
    if (rank == 0) then
      call MPI_Gather(MPI_IN_PLACE, 1, MPI_INTEGER, v, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, e)
    else
      call MPI_Gather(v(rank + 1), 1, MPI_INTEGER, v, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, e)
    end if
    call say('in place: gather', v)
    if (rank == 0) then
      call MPI_Scatter(v, 1, MPI_INTEGER, MPI_IN_PLACE, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, e)
    else
      call MPI_Scatter(v, 1, MPI_INTEGER, v(1), 1, MPI_INTEGER, 0, MPI_COMM_WORLD, e)
    end if
    call say('in place: scatter', v)
    v = [(10*rank + i, i=1, ranks)]
    call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, v, 1, MPI_INTEGER, MPI_COMM_WORLD, e)
    call say('in place: alltoall', v)
    counts = 1
    displs = [(i - 1, i=ranks, 1, -1)]
    m = v
    call MPI_Alltoallv(MPI_IN_PLACE, counts, displs, MPI_INTEGER, m, counts, displs, MPI_INTEGER, &
      MPI_COMM_WORLD, e)
    call say('in place: alltoallv', m)
    call MPI_Reduce_scatter_block(MPI_IN_PLACE, v, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, e)
    call say('in place: reduce_scatter_block', [v(1)])
    a = rank + 1
    call MPI_Scan(MPI_IN_PLACE, a, 3, MPI_INTEGER, MPI_PROD, MPI_COMM_WORLD, e)
    call say('in place: scan', a)
    a = rank + 1
    call MPI_Exscan(MPI_IN_PLACE, a, 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, e)
    if (rank > 0) call say('in place: exscan', a)
    a = rank + 1
    call MPI_Iallreduce(MPI_IN_PLACE, a, 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r, e)
    call MPI_Wait(r, MPI_STATUS_IGNORE, e)
    call say('in place: iallreduce', a)
  end subroutine

  subroutine bottom()
    integer :: i, whole_size
    integer, asynchronous :: one
    double precision, asynchronous :: x
    integer :: lengths(2)
    ADDRESS :: places(2), lb, extent
    HANDLE(MPI_Datatype) :: types(2), whole
    HANDLE(MPI_Request) :: r
    STATUS :: s
    one = rank
    x = rank/4d0
    call MPI_Get_address(one, places(1), e)
    call MPI_Get_address(x, places(2), e)
    lengths = 1
    types(1) = MPI_INTEGER
    types(2) = MPI_DOUBLE_PRECISION
    call MPI_Type_create_struct(2, lengths, places, types, whole, e)
    call MPI_Type_commit(whole, e)
    call MPI_Type_size(whole, whole_size, e)
    call MPI_Bcast(MPI_BOTTOM, 1, whole, ranks - 1, MPI_COMM_WORLD, e)
    call say('bottom: bcast', [one, int(4*x), whole_size])
    one = 10*rank
    x = -rank/4d0
    call MPI_Sendrecv_replace(MPI_BOTTOM, 1, whole, right, 50, left, 50, MPI_COMM_WORLD, s, e)
    call say('bottom: sendrecv_replace', [one, int(4*x), FIELD(s, MPI_SOURCE)])
    if (rank == 0) then
      do i = 1, ranks - 1
        call MPI_Isend(MPI_BOTTOM, 1, whole, i, 51, MPI_COMM_WORLD, r, e)
        call MPI_Wait(r, MPI_STATUS_IGNORE, e)
      end do
    else
      call MPI_Irecv(MPI_BOTTOM, 1, whole, 0, 51, MPI_COMM_WORLD, r, e)
      call MPI_Wait(r, MPI_STATUS_IGNORE, e)
    end if
    call MPI_F_sync(one, x)
    call say('bottom: irecv', [one, int(4*x)])
    call MPI_Type_free(whole, e)
    call MPI_Type_get_extent(MPI_INTEGER, lb, extent, e)
    call say('extent', [int(lb), int(extent)])
  contains
    subroutine MPI_F_sync(a, b) ! keeps the compiler from knowing better
      integer, asynchronous :: a
      double precision, asynchronous :: b
      if (a == -12345) b = 0
    end subroutine
  end subroutine

  subroutine weights()
    HANDLE(MPI_Comm) :: ring, weighted, alone, general
    integer :: n_in, n_out, from(2), to(2), w_in(2), w_out(2), got(2), empty(0)
    logical :: flag
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [left], MPI_UNWEIGHTED, 1, [right], &
      MPI_UNWEIGHTED, MPI_INFO_NULL, .false., ring, e)
    call MPI_Dist_graph_neighbors_count(ring, n_in, n_out, flag, e)
    from = -1
    to = -1
    call MPI_Dist_graph_neighbors(ring, 1, from, MPI_UNWEIGHTED, 1, to, MPI_UNWEIGHTED, e)
    call say('unweighted', [n_in, n_out, number(flag), from(1), to(1)])
    got = -1
    call MPI_Neighbor_allgather([rank], 1, MPI_INTEGER, got, 1, MPI_INTEGER, ring, e)
    call say('neighbour', got)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [left], [rank + 1], 1, [right], &
      [rank + 2], MPI_INFO_NULL, .false., weighted, e)
    call MPI_Dist_graph_neighbors_count(weighted, n_in, n_out, flag, e)
    call MPI_Dist_graph_neighbors(weighted, 1, from, w_in, 1, to, w_out, e)
    call say('weighted', [n_in, n_out, number(flag), from(1), w_in(1), to(1), w_out(1)])
    ! rank 0 alone has neighbours: itself
    if (rank == 0) then
      call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [0], [3], 1, [0], [3], MPI_INFO_NULL, &
        .false., alone, e)
    else
      call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, empty, MPI_WEIGHTS_EMPTY, 0, empty, &
        MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, .false., alone, e)
    end if
    call MPI_Dist_graph_neighbors_count(alone, n_in, n_out, flag, e)
    call say('weights empty', [n_in, n_out, number(flag)])
    call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, [rank], [1], [right], MPI_UNWEIGHTED, &
      MPI_INFO_NULL, .false., general, e)
    call MPI_Dist_graph_neighbors_count(general, n_in, n_out, flag, e)
    call say('unweighted graph', [n_in, n_out, number(flag)])
    call MPI_Comm_free(general, e)
    if (rank == 0) then
      call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, [0], [1], [0], [9], MPI_INFO_NULL, .false., &
        general, e)
    else
      call MPI_Dist_graph_create(MPI_COMM_WORLD, 0, empty, empty, empty, MPI_WEIGHTS_EMPTY, &
        MPI_INFO_NULL, .false., general, e)
    end if
    call MPI_Dist_graph_neighbors_count(general, n_in, n_out, flag, e)
    call say('weights empty graph', [n_in, n_out, number(flag)])
    call MPI_Comm_free(general, e)
    call MPI_Comm_free(alone, e)
    call MPI_Comm_free(weighted, e)
    call MPI_Comm_free(ring, e)
  end subroutine

  subroutine sections()
    integer, asynchronous :: m(6, 6)
    integer :: i
#if BINDING == 3
    HANDLE(MPI_Request) :: r(2)
#endif
    m = reshape([(1000*rank + i, i=1, 36)], [6, 6])
    if (mod(rank, 2) == 0) then
      call MPI_Send(m(1:6:2, 2), 3, MPI_INTEGER, right, 60, MPI_COMM_WORLD, e)
      call MPI_Recv(m(2, 1:5:2), 3, MPI_INTEGER, left, 60, MPI_COMM_WORLD, MPI_STATUS_IGNORE, e)
    else
      call MPI_Recv(m(2, 1:5:2), 3, MPI_INTEGER, left, 60, MPI_COMM_WORLD, MPI_STATUS_IGNORE, e)
      call MPI_Send(m(1:6:2, 2), 3, MPI_INTEGER, right, 60, MPI_COMM_WORLD, e)
    end if
    call say('section', reshape(m, [36]))
    call MPI_Bcast(m(6:1:-1, 3), 6, MPI_INTEGER, 0, MPI_COMM_WORLD, e)
    call say('backwards', m(:, 3))
    call MPI_Allreduce(MPI_IN_PLACE, m(1:3, 1:6:3), 6, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, e)
    call say('block', [class_of(e), reshape(m(1:3, :), [18])])
    call MPI_Sendrecv(m(5, :), 6, MPI_INTEGER, right, 61, m(6, :), 6, MPI_INTEGER, left, 61, &
      MPI_COMM_WORLD, MPI_STATUS_IGNORE, e)
    call say('rows', reshape(m(5:6, :), [12]))
#if BINDING == 3
    if (MPI_SUBARRAYS_SUPPORTED) then
      call MPI_Irecv(m(1:5:2, 4:6:2), 6, MPI_INTEGER, left, 62, MPI_COMM_WORLD, r(1), e)
      call MPI_Isend(m(2:6:2, 1:2), 6, MPI_INTEGER, right, 62, MPI_COMM_WORLD, r(2), e)
      call MPI_Waitall(2, r, MPI_STATUSES_IGNORE, e)
    end if
    call say('sections of two dimensions', reshape(m, [36]))
#endif
  end subroutine

  subroutine logicals()
    HANDLE(MPI_Comm) :: grid, line
    HANDLE(MPI_Op) :: op
    HANDLE(MPI_Request) :: r
    STATUS :: s
    integer :: dims(2), coords(2), i, source, dest
    logical :: periods(2), flag, all(4), got(4)
    periods = [.true., .false.]
    call MPI_Cart_create(MPI_COMM_WORLD, 2, [ranks, 1], periods, .false., grid, e)
    periods = [.false., .true.]
    call MPI_Cart_get(grid, 2, dims, periods, coords, e)
    call say('cart', [dims, (number(periods(i)), i=1, 2), coords])
    call MPI_Cart_shift(grid, 1, 1, source, dest, e)
    call say('shift', [merge(1, 0, source == MPI_PROC_NULL), merge(1, 0, dest == MPI_PROC_NULL)])
    call MPI_Cart_sub(grid, [.true., .false.], line, e)
    call MPI_Cart_get(line, 1, dims, periods, coords, e)
    call say('sub', [dims(1), number(periods(1)), coords(1)])
    call MPI_Comm_free(line, e)
    call MPI_Comm_free(grid, e)
    all = [.true., .false., rank == 0, mod(rank, 2) == 0]
    call MPI_Allreduce(all, got, 4, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, e)
    call say('land', [(number(got(i)), i=1, 4)])
    call MPI_Allreduce(all, got, 4, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD, e)
    call say('lor', [(number(got(i)), i=1, 4)])
    call MPI_Allreduce(all, got, 4, MPI_LOGICAL, MPI_LXOR, MPI_COMM_WORLD, e)
    call say('lxor', [(number(got(i)), i=1, 4)])
    call MPI_Op_create(then_this, .false., op, e)
    call MPI_Op_commutative(op, flag, e)
    call say('commutative', [number(flag)])
    call MPI_Op_free(op, e)
    call MPI_Comm_test_inter(MPI_COMM_WORLD, flag, e)
    call say('inter', [number(flag)])
    call MPI_Initialized(flag, e)
    call say('initialized', [number(flag)])
    call MPI_Is_thread_main(flag, e)
    call say('main thread', [number(flag)])
    call MPI_Ibarrier(MPI_COMM_WORLD, r, e)
    flag = .false.
    do while (.not. flag)
      ! Open MPI does not query a request whose status is ignored
      call MPI_Request_get_status(r, flag, s, e)
    end do
    call MPI_Test(r, flag, MPI_STATUS_IGNORE, e)
    call say('test', [number(flag)])
  end subroutine

  subroutine strings()
    HANDLE(MPI_Info) :: info
    HANDLE(MPI_Comm) :: comm
    HANDLE(MPI_Datatype) :: type
    character(len=MPI_MAX_OBJECT_NAME) :: name
    character(len=MPI_MAX_INFO_VAL) :: long
    character(len=4) :: short
    character(len=MPI_MAX_ERROR_STRING) :: text
    character(len=7) :: letters
    integer :: n, class, code
    logical :: flag
    call MPI_Info_create(info, e)
    call MPI_Info_set(info, '  key  ', '  a value  ', e)
    call MPI_Info_set(info, 'other key', 'abcdefgh', e)
    call MPI_Info_get_nkeys(info, n, e)
    call say('keys', [n])
    long = repeat('x', len(long))
    call MPI_Info_get(info, 'key', len(long), long, flag, e)
    call say('info flag', [number(flag)])
    call say_text('info', long(1:20))
    short = 'yyyy'
    call MPI_Info_get(info, 'other key', 4, short, flag, e)
    call say('info, cut', [class_of(e)])
    call say_text('info, cut', short)
    call MPI_Info_get_valuelen(info, 'other key', n, flag, e)
    call say('value length', [n, number(flag)])
    call MPI_Info_get(info, 'no key', 4, short, flag, e)
    call say('info without', [number(flag)])
    call MPI_Info_get_nthkey(info, 0, name, e)
    call say_text('key', name(1:12))
    call MPI_Info_delete(info, 'key', e)
    call MPI_Info_free(info, e)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, e)
    call MPI_Comm_set_name(comm, ' a name of the communicator   ', e)
    name = repeat('x', len(name))
    call MPI_Comm_get_name(comm, name, n, e)
    call say_text('name', name(1:n))
    call say_text('name, padded', name(1:40))
    call MPI_Comm_free(comm, e)
    call MPI_Type_contiguous(2, MPI_INTEGER, type, e)
    call MPI_Type_set_name(type, 'type', e)
    call MPI_Type_get_name(type, name, n, e)
    call say_text('type', name(1:n + 1))
    call MPI_Type_free(type, e)
    call MPI_Add_error_class(class, e)
    call MPI_Add_error_code(class, code, e)
    call MPI_Add_error_string(code, 'an error of ours', e)
    call MPI_Error_string(code, text, n, e)
    call say_text('error', text(1:n + 1))
    letters = 'abc'
    if (rank == 0) letters = 'ABCDEFG'
    call MPI_Bcast(letters(2:5), 4, MPI_CHARACTER, 0, MPI_COMM_WORLD, e)
    call say_text('letters', letters)
  end subroutine

  subroutine operators()
    HANDLE(MPI_Op) :: commutes, ordered
    HANDLE(MPI_Request) :: r
    integer :: a(3), b(3)
    call MPI_Op_create(larger, .true., commutes, e)
    call MPI_Op_create(then_this, .false., ordered, e)
    a = [rank, -2*rank, 7]
    b = -1
    call MPI_Allreduce(a, b, 3, MPI_INTEGER, commutes, MPI_COMM_WORLD, e)
    call say('op: allreduce', b)
    a = rank + 1
    call MPI_Allreduce(a, b, 3, MPI_INTEGER, ordered, MPI_COMM_WORLD, e)
    call say('op: ordered', b)
    call MPI_Scan(a, b, 3, MPI_INTEGER, ordered, MPI_COMM_WORLD, e)
    call say('op: scan', b)
    call MPI_Ireduce(a, b, 3, MPI_INTEGER, ordered, 0, MPI_COMM_WORLD, r, e)
    call MPI_Wait(r, MPI_STATUS_IGNORE, e)
    if (rank == 0) call say('op: ireduce', b)
    b = 3
    call MPI_Reduce_local(a, b, 3, MPI_INTEGER, ordered, e)
    call say('op: local', b)
    call MPI_Op_free(commutes, e)
    call MPI_Op_free(ordered, e)
    call say('op: freed', [merge(1, 0, ordered == MPI_OP_NULL)])
  end subroutine

  subroutine attributes()
    integer :: key, other
#if BINDING != 3
    integer :: old
#endif
    ADDRESS :: value, size
    logical :: flag
    HANDLE(MPI_Comm) :: dup, dup2
    HANDLE(MPI_Datatype) :: type, copied
    HANDLE(MPI_Win) :: win
    integer, asynchronous :: memory(4)
    copies = 0
    deletions = 0
    call MPI_Comm_dup(MPI_COMM_WORLD, dup, e)
    call MPI_Comm_set_errhandler(dup, MPI_ERRORS_RETURN, e)
    call MPI_Comm_create_keyval(copy, delete, key, 10_MPI_ADDRESS_KIND, e)
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, other, &
      0_MPI_ADDRESS_KIND, e)
    value = -1
    call MPI_Comm_get_attr(dup, key, value, flag, e)
    call say('attribute: none', [number(flag)])
    call MPI_Comm_set_attr(dup, key, int(rank + 1000, MPI_ADDRESS_KIND), e)
    call MPI_Comm_set_attr(dup, other, -3_MPI_ADDRESS_KIND, e)
    call MPI_Comm_dup(dup, dup2, e)
    call MPI_Comm_get_attr(dup2, key, value, flag, e)
    call say('attribute: copied', [int(value), number(flag), int(last_extra)])
    call MPI_Comm_get_attr(dup2, other, value, flag, e)
    call say('attribute: by MPI_COMM_DUP_FN', [int(value), number(flag)])
    call MPI_Comm_free(dup2, e)
    call say('attribute: calls', [copies, deletions])
    call MPI_Comm_set_attr(dup, key, 5_MPI_ADDRESS_KIND, e)
    call MPI_Comm_dup(dup, dup2, e)
    call MPI_Comm_get_attr(dup2, key, value, flag, e)
    call say('attribute: not copied', [number(flag), copies, deletions])
    call MPI_Comm_free(dup2, e)
    call MPI_Comm_set_attr(dup, key, 6_MPI_ADDRESS_KIND, e)
    call MPI_Comm_dup(dup, dup2, e)
    call say('attribute: copying fails', [merge(1, 0, e /= MPI_SUCCESS), copies, deletions])
    call MPI_Comm_set_attr(dup, key, 7_MPI_ADDRESS_KIND, e)
    call MPI_Comm_delete_attr(dup, key, e)
    call say('attribute: deleting fails', [merge(1, 0, e /= MPI_SUCCESS), deletions])
    call MPI_Comm_delete_attr(dup, other, e)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, e)
    call say('attribute: MPI_TAG_UB', [number(flag), merge(1, 0, value >= 32767)])
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, value, flag, e)
    call say('attribute: MPI_WTIME_IS_GLOBAL', [number(flag), int(value)])
    call MPI_Comm_free_keyval(other, e)
    call say('keyval: freed', [merge(1, 0, other == MPI_KEYVAL_INVALID)])

    call MPI_Type_create_keyval(copy_of_type, delete_of_type, other, 3_MPI_ADDRESS_KIND, e)
    call MPI_Type_contiguous(2, MPI_INTEGER, type, e)
    call MPI_Type_set_attr(type, other, 14_MPI_ADDRESS_KIND, e)
    call MPI_Type_dup(type, copied, e)
    call MPI_Type_get_attr(copied, other, value, flag, e)
    call say('attribute of type', [int(value), number(flag), copies, deletions])
    call MPI_Type_free(copied, e)
    call MPI_Type_delete_attr(type, other, e)
    call MPI_Type_free(type, e)
    call MPI_Type_free_keyval(other, e)

    call MPI_Win_create_keyval(copy_of_win, delete_of_win, other, 0_MPI_ADDRESS_KIND, e)
    size = 16
    call MPI_Win_create(memory, size, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, e)
    call MPI_Win_set_attr(win, other, 100_MPI_ADDRESS_KIND, e)
    call MPI_Win_get_attr(win, other, value, flag, e)
    call say('attribute of window', [int(value), number(flag)])
    call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, flag, e)
    call say('attribute: MPI_WIN_SIZE', [int(value), number(flag)])
    call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, value, flag, e)
    call say('attribute: MPI_WIN_DISP_UNIT', [int(value), number(flag)])
    call MPI_Win_free(win, e)
    call MPI_Win_free_keyval(other, e)
    call say('attributes: calls', [copies, deletions])
#if BINDING != 3
    call MPI_Keyval_create(old_copy, old_delete, old, 20, e)
    call MPI_Attr_put(MPI_COMM_WORLD, old, -1 - rank, e)
    call MPI_Comm_dup(MPI_COMM_WORLD, dup2, e)
    call MPI_Attr_get(dup2, old, other, flag, e)
    call say('old attribute', [other, number(flag), copies])
    call MPI_Comm_free(dup2, e)
    call MPI_Attr_delete(MPI_COMM_WORLD, old, e)
    call MPI_Keyval_free(old, e)
    call say('old attributes: calls', [copies, deletions])
#endif
  end subroutine

  subroutine handlers()
    HANDLE(MPI_Errhandler) :: handler, of_win, of_file, got
    HANDLE(MPI_Comm) :: comm
    HANDLE(MPI_Win) :: win
    HANDLE(MPI_File) :: file
    integer, asynchronous :: memory(4)
    integer :: a(1)
    ADDRESS :: size
    errors = 0
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, e)
    call MPI_Comm_create_errhandler(on_error, handler, e)
    call MPI_Comm_set_errhandler(comm, handler, e)
    call MPI_Comm_get_errhandler(comm, got, e)
    call MPI_Errhandler_free(got, e)
    a = 1
    call MPI_Send(a, 1, MPI_INTEGER, ranks + 5, 1, comm, e)
    call say('handler', [errors, last_class, class_of(e)])
    call MPI_Send(a, -1, MPI_INTEGER, right, 1, comm, e)
    call say('handler again', [errors, last_class, class_of(e)])
    call MPI_Comm_call_errhandler(comm, MPI_ERR_TOPOLOGY, e)
    call say('handler called', [errors, last_class, class_of(e)])
    call MPI_Errhandler_free(handler, e)
    call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN, e)
    call MPI_Send(a, 1, MPI_INTEGER, right, -7, comm, e)
    call say('errors return', [errors, class_of(e)])
    call MPI_Comm_free(comm, e)
    call MPI_Win_create_errhandler(on_error_of_win, of_win, e)
    size = 16
    call MPI_Win_create(memory, size, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, e)
    call MPI_Win_set_errhandler(win, of_win, e)
    call MPI_Win_call_errhandler(win, MPI_ERR_DISP, e)
    call say('handler of window', [errors, last_class, class_of(e)])
    call MPI_Errhandler_free(of_win, e)
    call MPI_Win_free(win, e)
    call MPI_File_create_errhandler(on_error_of_file, of_file, e)
    call MPI_File_open(MPI_COMM_SELF, 'sentinels.' // achar(iachar('a') + rank), &
      MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, file, e)
    call MPI_File_set_errhandler(file, of_file, e)
    call MPI_File_call_errhandler(file, MPI_ERR_FILE, e)
    call say('handler of file', [errors, last_class, class_of(e)])
    call MPI_File_close(file, e)
    call MPI_Errhandler_free(of_file, e)
  end subroutine

  subroutine generalized()
    HANDLE(MPI_Request) :: r
    STATUS :: s
    integer :: n
    logical :: flag
    queries = 0
    frees = 0
    cancels = 0
    call MPI_Grequest_start(query, free, cancel, 77_MPI_ADDRESS_KIND, r, e)
    call MPI_Test(r, flag, s, e)
    call say('generalized: not yet', [number(flag), queries])
    call MPI_Grequest_complete(r, e)
    call MPI_Wait(r, s, e)
    call MPI_Get_count(s, MPI_INTEGER, n, e)
    call MPI_Test_cancelled(s, flag, e)
    call say('generalized', [queries, frees, cancels, FIELD(s, MPI_SOURCE), FIELD(s, MPI_TAG), n, &
      number(flag)])
    call MPI_Grequest_start(query, free, cancel, 78_MPI_ADDRESS_KIND, r, e)
    call MPI_Cancel(r, e)
    call MPI_Grequest_complete(r, e)
    call MPI_Cancel(r, e)
    call MPI_Wait(r, s, e)
    call MPI_Test_cancelled(s, flag, e)
    call say('generalized: cancelled', [queries, frees, cancels, FIELD(s, MPI_TAG), number(flag)])
    call MPI_Grequest_start(query, free, cancel, 79_MPI_ADDRESS_KIND, r, e)
    call MPI_Grequest_complete(r, e)
    call MPI_Wait(r, MPI_STATUS_IGNORE, e)
    call say('generalized: status ignored', [queries, frees])
  end subroutine

  subroutine windows()
    HANDLE(MPI_Win) :: win
    integer, asynchronous :: memory(4)
    integer, pointer :: allocated(:)
    type(c_ptr) :: base
    ADDRESS :: size, disp
    memory = rank
    size = 16
    disp = 1
    call MPI_Win_create(memory, size, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, e)
    call MPI_Win_fence(0, win, e)
    call MPI_Put([10 + rank, 20 + rank], 2, MPI_INTEGER, right, disp, 2, MPI_INTEGER, win, e)
    call MPI_Win_fence(0, win, e)
    disp = 3
    call MPI_Accumulate([rank + 1], 1, MPI_INTEGER, 0, disp, 1, MPI_INTEGER, MPI_SUM, win, e)
    call MPI_Win_fence(0, win, e)
    call say('window', memory)
    call MPI_Win_free(win, e)
    call MPI_Win_allocate(size, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, e)
    call c_f_pointer(base, allocated, [4])
    allocated = [1, 2, 3, rank]
    call MPI_Win_fence(0, win, e)
    disp = 2
    call MPI_Get(memory, 2, MPI_INTEGER, left, disp, 2, MPI_INTEGER, win, e)
    call MPI_Win_fence(0, win, e)
    call say('allocated window', [allocated, memory])
    call MPI_Win_free(win, e)
    call MPI_Alloc_mem(size, MPI_INFO_NULL, base, e)
    call c_f_pointer(base, allocated, [4])
    allocated = rank
    call MPI_Bcast(allocated, 4, MPI_INTEGER, 0, MPI_COMM_WORLD, e)
    call say('allocated memory', allocated)
    call MPI_Free_mem(allocated, e)
  end subroutine

  subroutine packing()
    character(len=1) :: buffer(64), bytes(256)
    integer :: position, a(2), size, detached
    double precision :: x
#if BINDING == 3
    type(c_ptr) :: address
#else
    ADDRESS :: address
#endif
    position = 0
    call MPI_Pack([rank, 5], 2, MPI_INTEGER, buffer, 64, position, MPI_COMM_WORLD, e)
    call MPI_Pack(rank/2d0, 1, MPI_DOUBLE_PRECISION, buffer, 64, position, MPI_COMM_WORLD, e)
    size = position
    call MPI_Sendrecv_replace(buffer, size, MPI_PACKED, right, 70, left, 70, MPI_COMM_WORLD, &
      MPI_STATUS_IGNORE, e)
    position = 0
    call MPI_Unpack(buffer, 64, position, a, 2, MPI_INTEGER, MPI_COMM_WORLD, e)
    call MPI_Unpack(buffer, 64, position, x, 1, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, e)
    call say('unpacked', [a, int(2*x), position - size])
    call MPI_Buffer_attach(bytes, 256, e)
    call MPI_Bsend([rank], 1, MPI_INTEGER, right, 71, MPI_COMM_WORLD, e)
    call MPI_Recv(a, 1, MPI_INTEGER, left, 71, MPI_COMM_WORLD, MPI_STATUS_IGNORE, e)
    call MPI_Buffer_detach(address, detached, e)
    call say('buffered', [a(1), detached])
  end subroutine

  subroutine intercommunicators()
    HANDLE(MPI_Comm) :: half, both
    integer :: a(2), root
    if (ranks < 2) return
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half, e)
    call MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - mod(rank, 2), 80, both, e)
    a = [rank, 3]
    root = 0
    if (mod(rank, 2) == 0) root = merge(MPI_ROOT, MPI_PROC_NULL, rank == 0)
    call MPI_Bcast(a, 2, MPI_INTEGER, root, both, e)
    call say('root of the others', a)
    call MPI_Comm_free(both, e)
    call MPI_Comm_split(MPI_COMM_WORLD, merge(MPI_UNDEFINED, 0, rank == 0), 0, both, e)
    call say('split', [merge(1, 0, both == MPI_COMM_NULL)])
    if (both /= MPI_COMM_NULL) call MPI_Comm_free(both, e)
    call MPI_Comm_free(half, e)
  end subroutine

  subroutine files()
    HANDLE(MPI_File) :: file
    STATUS :: s
    integer :: a(2), n
    integer(MPI_OFFSET_KIND) :: at
    character(len=12) :: representation
    HANDLE(MPI_Datatype) :: etype, filetype
    call MPI_File_open(MPI_COMM_WORLD, 'sentinels.data  ', &
      MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, file, e)
    at = 8*rank
    call MPI_File_write_at(file, at, [rank, -rank], 2, MPI_INTEGER, s, e)
    call MPI_Get_count(s, MPI_INTEGER, n, e)
    call MPI_File_sync(file, e)
    call MPI_Barrier(MPI_COMM_WORLD, e)
    call MPI_File_sync(file, e)
    at = 8*right
    call MPI_File_read_at_all(file, at, a, 2, MPI_INTEGER, MPI_STATUS_IGNORE, e)
    call say('file', [n, a])
    at = 0
    call MPI_File_set_view(file, at, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, e)
    call MPI_File_get_view(file, at, etype, filetype, representation, e)
    call say_text('representation', representation)
    call MPI_File_close(file, e)
    call MPI_Register_datarep('ours', CONVERSION, CONVERSION, extent_of, 0_MPI_ADDRESS_KIND, e)
    call say('register_datarep', [class_of(e), extents])
  end subroutine

  subroutine spawning()
    HANDLE(MPI_Comm) :: children
    integer :: codes(1)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, e)
    codes = -5
    call MPI_Comm_spawn('./no such program', MPI_ARGV_NULL, 0, MPI_INFO_NULL, 0, MPI_COMM_SELF, &
      children, MPI_ERRCODES_IGNORE, e)
    call say('spawn', [merge(1, 0, e == MPI_SUCCESS)])
    call MPI_Comm_spawn_multiple(1, ['./no such program'], MPI_ARGVS_NULL, [0], [MPI_INFO_NULL], &
      0, MPI_COMM_SELF, children, codes, e)
    call say('spawn_multiple', [merge(1, 0, e == MPI_SUCCESS), codes])
  end subroutine

  subroutine run(name)
    character(len=*), intent(in) :: name
    select case (name)
    case ('blocking'); call blocking()
    case ('probing'); call probing()
    case ('nonblocking'); call nonblocking()
    case ('persistent'); call persistent()
    case ('indices'); call indices()
    case ('in_place'); call in_place()
    case ('bottom'); call bottom()
    case ('weights'); call weights()
    case ('sections'); call sections()
    case ('logicals'); call logicals()
    case ('strings'); call strings()
    case ('operators'); call operators()
    case ('attributes'); call attributes()
    case ('handlers'); call handlers()
    case ('generalized'); call generalized()
    case ('windows'); call windows()
    case ('packing'); call packing()
    case ('intercommunicators'); call intercommunicators()
    case ('files'); call files()
    case ('spawning'); call spawning()
    case default; call MPI_Abort(MPI_COMM_WORLD, 9, e)
    end select
  end subroutine
end module

program sentinels
  use cases
  implicit none
  character(len=20), parameter :: all(19) = [character(len=20) :: 'blocking', 'probing', &
    'nonblocking', 'persistent', 'indices', 'in_place', 'bottom', 'weights', 'sections', &
    'logicals', 'strings', 'operators', 'attributes', 'handlers', 'generalized', 'windows', &
    'packing', 'intercommunicators', 'files']
  character(len=20) :: argument
  integer :: i, level, provided
  level = -1
  if (command_argument_count() > 0) then
    call get_command_argument(1, argument)
    read (argument, *) level
  end if
  if (level < 0) then
    call MPI_Init(e)
  else
    call MPI_Init_thread(level, provided, e)
  end if
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, e)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, e)
  left = modulo(rank - 1, ranks)
  right = modulo(rank + 1, ranks)
  ! some of the calls that follow are errors in some libraries
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, e)
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, e)
  call MPI_Query_thread(i, e)
  if (level >= 0) call say('level', [level, provided, i, merge(1, 0, all_in_order())])
  if (command_argument_count() > 1) then
    do i = 2, command_argument_count()
      call get_command_argument(i, argument)
      call run(trim(argument))
    end do
  else
    do i = 1, size(all)
      call run(trim(all(i)))
    end do
  end if
  call MPI_Finalize(e)
contains
  logical function all_in_order()
    all_in_order = MPI_THREAD_SINGLE < MPI_THREAD_FUNNELED .and. &
      MPI_THREAD_FUNNELED < MPI_THREAD_SERIALIZED .and. MPI_THREAD_SERIALIZED < MPI_THREAD_MULTIPLE
  end function
end program
