# SPDX-License-Identifier: BSD-3-Clause
"""Python that calls MPI without an extension module: looked_up.py HOW LIBRARY

HOW: local, global, deep (RTLD_DEEPBIND), program (all that is loaded): ctypes; cffi; fortran:
ctypes and the Fortran names, in the library's Fortran part."""
import ctypes
import sys

how, library = sys.argv[1:]
mpich = "mpich" in library


def by_ctypes(lib):
    def handle(value, name):
        if mpich:
            return ctypes.c_int(value)
        return ctypes.byref(ctypes.c_char.in_dll(lib, name))

    world = handle(0x44000000, "ompi_mpi_comm_world")
    integer = handle(0x4C000405, "ompi_mpi_int")
    rank, value, status = ctypes.c_int(), ctypes.c_int(), ctypes.create_string_buffer(64)
    lib.MPI_Init(None, None)
    lib.MPI_Comm_rank(world, ctypes.byref(rank))
    for value.value in range(4):
        if rank.value == 0:
            lib.MPI_Send(ctypes.byref(value), 1, integer, 1, 5, world)
        else:
            lib.MPI_Recv(ctypes.byref(value), 1, integer, 0, 5, world, status)
    print(f"rank {rank.value} has {value.value}")
    lib.MPI_Finalize()


def by_fortran(lib):
    def number(n):
        return ctypes.byref(ctypes.c_int(n))

    world, integer = number(0x44000000 if mpich else 0), number(0x4C00041B if mpich else 7)
    rank, value, error = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    key, attribute, flag = ctypes.c_int(), ctypes.c_long(7), ctypes.c_int()
    status = ctypes.byref((ctypes.c_int * 16)())
    lib.mpi_init_(ctypes.byref(error))
    lib.mpi_comm_rank_(world, ctypes.byref(rank), ctypes.byref(error))
    for value.value in range(4):
        arguments = (ctypes.byref(value), number(1), integer, number(1 - rank.value), number(5))
        if rank.value == 0:
            lib.mpi_send_(*arguments, world, ctypes.byref(error))
        else:
            lib.mpi_recv_(*arguments, world, status, ctypes.byref(error))
    none = [ctypes.cast(getattr(lib, f"mpi_comm_null_{f}_fn_"), ctypes.c_void_p)
            for f in ("copy", "delete")]
    lib.mpi_comm_create_keyval_(*none, ctypes.byref(key), number(0), ctypes.byref(error))
    lib.mpi_comm_set_attr_(world, ctypes.byref(key), ctypes.byref(attribute), ctypes.byref(error))
    lib.mpi_comm_get_attr_(world, ctypes.byref(key), ctypes.byref(attribute), ctypes.byref(flag),
                           ctypes.byref(error))
    print(f"rank {rank.value} has {value.value} {attribute.value} {flag.value != 0}")
    lib.mpi_finalize_(ctypes.byref(error))


def by_cffi():
    import cffi

    ffi = cffi.FFI()
    handle = "int" if mpich else "void *"
    ffi.cdef(f"""int MPI_Init(int *, char ***); int MPI_Finalize(void);
        int MPI_Comm_rank({handle}, int *);
        int MPI_Send(const void *, int, {handle}, int, int, {handle});
        int MPI_Recv(void *, int, {handle}, int, int, {handle}, void *);""")
    if not mpich:
        ffi.cdef("extern char ompi_mpi_comm_world[], ompi_mpi_int[];")
    lib = ffi.dlopen(library)
    world = 0x44000000 if mpich else ffi.addressof(lib, "ompi_mpi_comm_world")
    integer = 0x4C000405 if mpich else ffi.addressof(lib, "ompi_mpi_int")
    rank, value, status = ffi.new("int *"), ffi.new("int *"), ffi.new("char[64]")
    lib.MPI_Init(ffi.NULL, ffi.NULL)
    lib.MPI_Comm_rank(world, rank)
    for value[0] in range(4):
        if rank[0] == 0:
            lib.MPI_Send(value, 1, integer, 1, 5, world)
        else:
            lib.MPI_Recv(value, 1, integer, 0, 5, world, status)
    print(f"rank {rank[0]} has {value[0]}")
    lib.MPI_Finalize()


if how == "cffi":
    by_cffi()
elif how == "fortran":
    by_fortran(ctypes.CDLL(library))
elif how == "program":
    ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
    by_ctypes(ctypes.CDLL(None))
else:
    by_ctypes(ctypes.CDLL(library, mode={"local": 0, "global": ctypes.RTLD_GLOBAL, "deep": 8}[how]))
