# SPDX-License-Identifier: BSD-3-Clause
"""mpi4py: objects and arrays, blocking and nonblocking calls, an operator and attributes in
Python, exceptions, threads that call at once."""
import array
import os
import pickle
import threading

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
left, right = (rank - 1) % size, (rank + 1) % size
said = []

# One for each thread. Made first, so that no object gets another number from run to run.
comms = [world.Dup() for _ in range(3)]


def say(what, *values):
    said.append(f"rank {rank}: {what}: {' '.join(map(str, values))}")


say("level", MPI.Query_thread() == MPI.THREAD_MULTIPLE)
say(
    "object", world.sendrecv({"from": rank, "data": list(range(rank + 3))}, dest=right, source=left)
)
request = world.irecv(source=left, tag=7)
world.isend(("text", rank), dest=right, tag=7).wait()
say("irecv", request.wait())
say(
    "bcast",
    world.bcast([1, "two", 3.0] if rank == 0 else None),
    "gather",
    world.gather(rank**2),
    "alltoall",
    world.alltoall([10 * rank + i for i in range(size)]),
)

mine, theirs = array.array("i", [rank, -rank, 5]), array.array("i", [0] * 3)
world.Allreduce(mine, theirs, op=MPI.SUM)
say("Allreduce", theirs.tolist())
world.Allreduce(MPI.IN_PLACE, mine, op=MPI.MAX)
say("in place", mine.tolist())
requests = [
    world.Irecv([theirs, MPI.INT], source=MPI.ANY_SOURCE, tag=1),
    world.Isend([mine, MPI.INT], dest=right, tag=1),
]
status = [MPI.Status(), MPI.Status()]
MPI.Request.Waitall(requests, status)
say(
    "Waitall",
    theirs.tolist(),
    status[0].Get_source() == left,
    status[0].Get_count(MPI.INT),
    [r == MPI.REQUEST_NULL for r in requests],
)


def larger(a, b, datatype):
    a, b = memoryview(a).cast("i"), memoryview(b).cast("i")
    for i, value in enumerate(a):
        b[i] = max(b[i], value, key=abs)


op = MPI.Op.Create(larger, commute=True)
mine = array.array("i", [(-3) ** rank, rank])
world.Allreduce(MPI.IN_PLACE, mine, op=op)
op.Free()
say("operator", mine.tolist())

key = MPI.Comm.Create_keyval(
    copy_fn=lambda comm, key, value: value + [rank],
    delete_fn=lambda comm, key, value: say("deleted", value),
)
world.Set_attr(key, ["attribute"])
copy = world.Dup()
say("attribute", copy.Get_attr(key))
copy.Free()
world.Delete_attr(key)
MPI.Comm.Free_keyval(key)

for wrong in (
    lambda: world.Send([mine, MPI.INT], dest=size + 3),
    lambda: MPI.COMM_NULL.Get_size(),
    lambda: MPI.INT.Create_vector(-1, 1, 1),
):
    try:
        wrong()
    except MPI.Exception as e:
        say("exception", e.Get_error_class() in (MPI.ERR_RANK, MPI.ERR_COMM, MPI.ERR_ARG))

vector = MPI.INT.Create_vector(3, 1, 2).Commit()
numbers = array.array("i", range(10 * rank, 10 * rank + 6))
world.Sendrecv_replace([numbers, 1, vector], dest=right, source=left)
vector.Free()
say("vector", numbers.tolist())

grid = world.Create_cart([size], periods=[True])
say("grid", grid.Shift(0, 1), grid.Get_coords(rank))
grid.Free()
window = MPI.Win.Allocate(8, comm=world)
window.Fence()
put = array.array("i", [rank, rank])  # until the fence
window.Put([put, MPI.INT], right)
window.Fence()
say("window", memoryview(window).cast("i").tolist())
window.Free()
data = pickle.dumps(rank)
say("pickle", [pickle.loads(d) for d in world.allgather(data)])

results = [None] * len(comms)


def exchange(i, comm):
    results[i] = [comm.sendrecv((i, n, rank), dest=right, source=left) for n in range(5)]


threads = [threading.Thread(target=exchange, args=(i, c)) for i, c in enumerate(comms)]
for t in threads:
    t.start()
for t in threads:
    t.join()
for c in comms:
    c.Free()
say("threads", results)
# In one piece: launchers mix those of the ranks.
os.write(1, ("\n".join(said) + "\n").encode())
