! SPDX-License-Identifier: BSD-3-Clause
! fortran: the parts of "use mpi" that C does not have: sentinels, MPI_BOTTOM, attributes of both
! kinds, callbacks, logicals, strings, indices from 1.
! All that arrives is printed, so that a run under wend trace can be compared with one without.
module callbacks
  use mpi
  implicit none
  integer :: copies = 0, deletions = 0
contains
  subroutine larger(a, b, len, datatype)
    integer :: len, datatype
    integer :: a(len), b(len)
    if (datatype /= MPI_INTEGER) len = 0
    where (abs(a) > abs(b)) b = a
  end subroutine

  subroutine copy(oldcomm, key, extra, value_in, value_out, flag, ierror)
    integer :: oldcomm, key, ierror, size
    integer(MPI_ADDRESS_KIND) :: extra, value_in, value_out
    logical :: flag
    call MPI_Comm_size(oldcomm, size, ierror)
    copies = copies + 1
    value_out = value_in + extra
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine

  subroutine delete(comm, key, value, extra, ierror)
    integer :: comm, key, ierror
    integer(MPI_ADDRESS_KIND) :: value, extra
    deletions = deletions + 1
    ierror = MPI_SUCCESS
  end subroutine

  subroutine old_copy(oldcomm, key, extra, value_in, value_out, flag, ierror)
    integer :: oldcomm, key, extra, value_in, value_out, ierror
    logical :: flag
    copies = copies + 100
    value_out = value_in + extra
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine

  subroutine old_delete(comm, key, value, extra, ierror)
    integer :: comm, key, value, extra, ierror
    deletions = deletions + 100
    ierror = MPI_SUCCESS
  end subroutine
end module

program fortran
  use mpi
  use callbacks
  implicit none
  integer :: rank, ranks, i, key, old_key, length, left, right, e, old_value, dup, op, info, type, &
    index, whole
  integer :: requests(4), statuses(MPI_STATUS_SIZE, 4), status(MPI_STATUS_SIZE), lengths(2), &
    types(2)
  integer :: matrix(4, 6), sums(3), all(3), one, two
  integer(MPI_ADDRESS_KIND) :: value, places(2)
  logical :: flag, logicals(2)
  character(len=MPI_MAX_INFO_VAL) :: text
  double precision :: x

  call MPI_Init(e)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, e)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, e)
  left = modulo(rank - 1, ranks)
  right = modulo(rank + 1, ranks)

  matrix = reshape([(100*rank + i, i = 1, 24)], [4, 6])
  call MPI_Irecv(matrix(1, 1), 4, MPI_INTEGER, left, 1, MPI_COMM_WORLD, requests(1), e)
  call MPI_Irecv(matrix(1, 2), 4, MPI_INTEGER, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, requests(2), e)
  call MPI_Isend(matrix(1, 3), 4, MPI_INTEGER, right, 1, MPI_COMM_WORLD, requests(3), e)
  call MPI_Isend(matrix(1, 6), 4, MPI_INTEGER, right, 2, MPI_COMM_WORLD, requests(4), e)
  call MPI_Waitany(1, requests(3:3), index, MPI_STATUS_IGNORE, e)
  if (index /= 1) print *, 'index ', index
  call MPI_Waitall(4, requests, statuses, e)
  print '(a, i0, a, 24i5, 2(a, i0))', 'rank ', rank, ':', matrix, &
    ' source ', statuses(MPI_SOURCE, 2), ' tag ', statuses(MPI_TAG, 2)
  call MPI_Irecv(matrix(1, 1), 4, MPI_INTEGER, left, 1, MPI_COMM_WORLD, requests(1), e)
  call MPI_Send(matrix(1, 3), 4, MPI_INTEGER, right, 1, MPI_COMM_WORLD, e)
  call MPI_Waitall(1, requests, MPI_STATUSES_IGNORE, e)

  one = rank
  x = rank/2d0
  call MPI_Get_address(one, places(1), e)
  call MPI_Get_address(x, places(2), e)
  lengths = 1
  types = [MPI_INTEGER, MPI_DOUBLE_PRECISION]
  call MPI_Type_create_struct(2, lengths, places, types, whole, e)
  call MPI_Type_commit(whole, e)
  call MPI_Bcast(MPI_BOTTOM, 1, whole, ranks - 1, MPI_COMM_WORLD, e)
  call MPI_Type_free(whole, e)
  print '(a, i0, a, i0, f6.2)', 'bottom of ', rank, ': ', one, x

  sums = [rank, -rank, 1]
  call MPI_Allreduce(MPI_IN_PLACE, sums, 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, e)
  call MPI_Op_create(larger, .true., op, e)
  all = [rank, -2*rank, 7]
  call MPI_Allreduce(MPI_IN_PLACE, all, 3, MPI_INTEGER, op, MPI_COMM_WORLD, e)
  call MPI_Op_free(op, e)
  logicals = [rank == 0, .true.]
  call MPI_Allreduce(MPI_IN_PLACE, logicals, 2, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, e)
  print '(a, i0, a, 6i5, 2l2)', 'sums of ', rank, ':', sums, all, logicals

  call MPI_Comm_create_keyval(copy, delete, key, 10_MPI_ADDRESS_KIND, e)
  call MPI_Keyval_create(old_copy, old_delete, old_key, 20, e)
  call MPI_Comm_set_attr(MPI_COMM_WORLD, key, int(rank + 1000, MPI_ADDRESS_KIND), e)
  call MPI_Attr_put(MPI_COMM_WORLD, old_key, -1 - rank, e)
  call MPI_Comm_dup(MPI_COMM_WORLD, dup, e)
  call MPI_Comm_get_attr(dup, key, value, flag, e)
  print '(a, i0, a, i0, l2)', 'attribute of ', rank, ': ', value, flag
  call MPI_Attr_get(dup, old_key, old_value, flag, e)
  print '(a, i0, a, i0, l2)', 'old attribute of ', rank, ': ', old_value, flag
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, e)
  print '(a, l2)', 'tags up to 32767 at least:', flag .and. value >= 32767
  call MPI_Comm_free(dup, e)
  call MPI_Comm_delete_attr(MPI_COMM_WORLD, key, e)
  call MPI_Attr_delete(MPI_COMM_WORLD, old_key, e)
  call MPI_Comm_free_keyval(key, e)
  call MPI_Keyval_free(old_key, e)
  print '(a, i0, a, 2i4)', 'callbacks of ', rank, ':', copies, deletions

  call MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND, e)
  call MPI_Type_contiguous(3, MPI_INTEGER, type, e)
  call MPI_Type_set_attr(type, key, 17_MPI_ADDRESS_KIND, e)
  call MPI_Type_get_attr(type, key, value, flag, e)
  print '(a, i0, a, i0, l2)', 'attribute of the type of ', rank, ': ', value, flag
  call MPI_Type_free(type, e)
  call MPI_Type_free_keyval(key, e)

  call MPI_Info_create(info, e)
  call MPI_Info_set(info, 'a key', ' a value', e)
  call MPI_Info_get(info, 'a key', len(text), text, flag, e)
  print '(a, i0, 3a, l2)', 'info of ', rank, ': [', trim(text), ']', flag
  call MPI_Info_free(info, e)
  call MPI_Recv(two, 1, MPI_INTEGER, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, status, e)
  if (status(MPI_SOURCE) /= MPI_PROC_NULL) print *, 'source ', status(MPI_SOURCE)
  call MPI_Finalize(e)
end program
