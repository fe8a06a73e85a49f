# SPDX-License-Identifier: BSD-3-Clause
"""racing: rank 0 takes messages as they come, by mpi4py, and prints in which order they came."""
from mpi4py import MPI

ROUNDS = 4
world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
messages = ROUNDS * (size - 1)
said = []


def say(how, *values):
    said.append(f"{how} {' '.join(map(str, values))}")


def take(tag):
    status = MPI.Status()
    for _ in range(messages):
        value = world.recv(source=MPI.ANY_SOURCE, tag=tag, status=status)
        say("recv", value, "of rank", status.Get_source())


def take_any(tag):
    buffers = [bytearray(1) for _ in range(messages)]
    requests = [world.Irecv([b, MPI.BYTE], source=MPI.ANY_SOURCE, tag=tag) for b in buffers]
    status = MPI.Status()
    for _ in requests:
        index = MPI.Request.Waitany(requests, status)
        say("Waitany", index, "has", buffers[index][0], "of rank", status.Get_source())


def take_some(tag):
    buffers = [bytearray(1) for _ in range(messages)]
    requests = [world.Irecv([b, MPI.BYTE], source=MPI.ANY_SOURCE, tag=tag) for b in buffers]
    left, polls = messages, 0
    while left:
        indices = MPI.Request.Testsome(requests)
        for i in indices or []:
            say("Testsome", i, "has", buffers[i][0])
        left -= len(indices or [])
        polls += 1
    say("polls", polls)


def take_probed(tag):
    status = MPI.Status()
    for _ in range(messages):
        polls = 1
        while not (message := world.improbe(MPI.ANY_SOURCE, tag, status)):
            polls += 1
        say("improbe", message.recv(), "of rank", status.Get_source(), "polls", polls)


for tag, way in enumerate((take, take_any, take_some, take_probed)):
    if rank == 0:
        way(tag)
    for i in range(ROUNDS if rank else 0):
        if tag in (1, 2):
            world.Send([bytes([16 * rank + i]), MPI.BYTE], dest=0, tag=tag)
        else:
            world.send((rank, i), dest=0, tag=tag)
    world.Barrier()
if said:
    print("\n".join(said))
