! SPDX-License-Identifier: BSD-3-Clause
! f08: the parts of "use mpi_f08" that reach the library in ways of their own: calls without a
! choice buffer, strided array sections, sentinels, attributes, callbacks. The program prints all
! that it receives, so that a run under wend trace can be compared with one without.
module callbacks
  use mpi_f08
  implicit none
  integer :: copies = 0, deletions = 0
contains
  subroutine larger(invec, inoutvec, len, datatype)
    use, intrinsic :: iso_c_binding
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    if (datatype /= MPI_INTEGER) call MPI_Abort(MPI_COMM_WORLD, 2)
    call c_f_pointer(invec, a, [len])
    call c_f_pointer(inoutvec, b, [len])
    where (abs(a) > abs(b)) b = a
  end subroutine

  subroutine copy(oldcomm, key, extra, value_in, value_out, flag, ierror)
    type(MPI_Comm) :: oldcomm
    integer :: key, ierror, size
    integer(MPI_ADDRESS_KIND) :: extra, value_in, value_out
    logical :: flag
    call MPI_Comm_size(oldcomm, size)
    copies = copies + 1
    value_out = value_in + extra
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine

  subroutine delete(comm, key, value, extra, ierror)
    type(MPI_Comm) :: comm
    integer :: key, ierror
    integer(MPI_ADDRESS_KIND) :: value, extra
    deletions = deletions + 1
    ierror = MPI_SUCCESS
  end subroutine
end module

program f08
  use mpi_f08
  use callbacks
  implicit none
  integer :: rank, ranks, i, key, count, length, left, right
  integer, asynchronous :: matrix(4, 6)
  integer :: sums(3), all(3)
  integer(MPI_ADDRESS_KIND) :: value
  logical :: flag
  type(MPI_Comm) :: dup
  type(MPI_Op) :: op
  type(MPI_Request) :: requests(4)
  type(MPI_Status) :: status, statuses(4)
  type(MPI_Datatype) :: row
  type(MPI_Info) :: info
  character(len=MPI_MAX_INFO_VAL) :: text

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  left = modulo(rank - 1, ranks)
  right = modulo(rank + 1, ranks)

  matrix = reshape([(100*rank + i, i = 1, 24)], [4, 6])
  ! Where the library is given a copy of a section, that is gone when the operation writes.
  if (MPI_SUBARRAYS_SUPPORTED) then
    call MPI_Irecv(matrix(1:4:2, 1), 2, MPI_INTEGER, left, 1, MPI_COMM_WORLD, requests(1))
  else
    call MPI_Irecv(matrix(:, 1), 2, MPI_INTEGER, left, 1, MPI_COMM_WORLD, requests(1))
  end if
  call MPI_Irecv(matrix(:, 2), 4, MPI_INTEGER, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, requests(2))
  if (MPI_SUBARRAYS_SUPPORTED) then
    call MPI_Isend(matrix(2, 3:6:2), 2, MPI_INTEGER, right, 1, MPI_COMM_WORLD, requests(3))
  else
    call MPI_Isend(matrix(:, 3), 2, MPI_INTEGER, right, 1, MPI_COMM_WORLD, requests(3))
  end if
  call MPI_Isend(matrix(:, 6), 4, MPI_INTEGER, right, 2, MPI_COMM_WORLD, requests(4))
  call MPI_Waitall(4, requests, statuses)
  call MPI_Get_count(statuses(2), MPI_INTEGER, count)
  print '(a, i0, a, 24i5, 3(a, i0))', 'rank ', rank, ':', matrix, &
    ' source ', statuses(2)%MPI_SOURCE, ' tag ', statuses(2)%MPI_TAG, ' count ', count

  call MPI_Type_vector(6, 1, 4, MPI_INTEGER, row)
  call MPI_Type_commit(row)
  call MPI_Sendrecv_replace(matrix, 1, row, right, 3, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  call MPI_Sendrecv(matrix(3, 1), 1, row, right, 4, matrix(4, 1), 1, row, left, 4, MPI_COMM_WORLD, &
    status)
  call MPI_Type_free(row)
  print '(a, i0, a, 24i5)', 'rows of ', rank, ':', matrix

  sums = [rank, -rank, 1]
  call MPI_Allreduce(MPI_IN_PLACE, sums, 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call MPI_Op_create(larger, .true., op)
  all = [rank, -2*rank, 7]
  call MPI_Allreduce(MPI_IN_PLACE, all, 3, MPI_INTEGER, op, MPI_COMM_WORLD)
  call MPI_Op_free(op)
  print '(a, i0, a, 6i5)', 'sums of ', rank, ':', sums, all

  call MPI_Comm_create_keyval(copy, delete, key, 10_MPI_ADDRESS_KIND)
  call MPI_Comm_set_attr(MPI_COMM_WORLD, key, int(rank + 1000, MPI_ADDRESS_KIND))
  call MPI_Comm_dup(MPI_COMM_WORLD, dup)
  call MPI_Comm_get_attr(dup, key, value, flag)
  print '(a, i0, a, i0, l2)', 'attribute of ', rank, ': ', value, flag
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag)
  print '(a, l2)', 'tags up to 32767 at least:', flag .and. value >= 32767
  call MPI_Comm_free(dup)
  call MPI_Comm_delete_attr(MPI_COMM_WORLD, key)
  call MPI_Comm_free_keyval(key)
  print '(a, i0, a, 2i3)', 'callbacks of ', rank, ':', copies, deletions

  call MPI_Info_create(info)
  call MPI_Info_set(info, 'a key', ' a value')
  length = len(text)
  call MPI_Info_get(info, 'a key', length, text, flag)
  print '(a, i0, 3a, l2)', 'info of ', rank, ': [', trim(text), ']', flag
  call MPI_Info_free(info)
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_Finalize()
end program
