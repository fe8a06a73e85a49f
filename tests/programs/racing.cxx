/* SPDX-License-Identifier: BSD-3-Clause */
// racing: rank 0 takes messages as they come, by MPI's C++ bindings, and prints in which order they
// came.
#include <mpi.h>

#include <iostream>
#include <vector>

enum { ROUNDS = 4, RECEIVE, ANY, SOME, PROBE, PERSISTENT };

static int messages;

static void say(const char *how, int value, const MPI::Status &s)
{
    std::cout << how << ' ' << value << " of rank " << s.Get_source() << '\n';
}

static std::vector<MPI::Request> post(std::vector<int> &values, int tag)
{
    std::vector<MPI::Request> requests;
    for (int &value : values)
        requests.push_back(MPI::COMM_WORLD.Irecv(&value, 1, MPI::INT, MPI::ANY_SOURCE, tag));
    return requests;
}

static void take()
{
    MPI::Status s;
    int value;
    for (int i = 0; i < messages; i++) {
        MPI::COMM_WORLD.Recv(&value, 1, MPI::INT, MPI::ANY_SOURCE, MPI::ANY_TAG, s);
        say("receive", value, s);
    }
}

static void take_any()
{
    std::vector<int> values(messages);
    std::vector<MPI::Request> requests = post(values, ANY);
    MPI::Status s;
    for (int i = 0; i < messages; i++) {
        int index = MPI::Request::Waitany(messages, requests.data(), s);
        std::cout << "waitany " << index << '\n';
        say("waitany", values[index], s);
    }
}

static void take_some()
{
    std::vector<int> values(messages), indices(messages);
    std::vector<MPI::Request> requests = post(values, SOME);
    std::vector<MPI::Status> s(messages);
    int polls = 0;
    for (int left = messages; left > 0; polls++) {
        int n = MPI::Request::Testsome(messages, requests.data(), indices.data(), s.data());
        for (int i = 0; i < n; i++)
            say("testsome", values[indices[i]], s[i]);
        left -= n;
    }
    std::cout << polls << " polls\n";
}

static void take_probed()
{
    MPI::Status s;
    int value;
    for (int i = 0; i < messages; i++) {
        int polls = 1;
        while (!MPI::COMM_WORLD.Iprobe(MPI::ANY_SOURCE, PROBE, s))
            polls++;
        MPI::COMM_WORLD.Recv(&value, 1, MPI::INT, s.Get_source(), PROBE);
        std::cout << polls << " polls\n";
        say("probe", value, s);
    }
}

static void take_again()
{
    int value;
    MPI::Prequest request =
        MPI::COMM_WORLD.Recv_init(&value, 1, MPI::INT, MPI::ANY_SOURCE, PERSISTENT);
    for (int i = 0; i < messages; i++) {
        MPI::Status s;
        request.Start();
        while (!request.Test(s))
            ;
        say("persistent", value, s);
    }
    request.Free();
}

int main(int argc, char **argv)
{
    static void (*const ways[])() = {take, take_any, take_some, take_probed, take_again};
    MPI::Init(argc, argv);
    int rank = MPI::COMM_WORLD.Get_rank();
    messages = ROUNDS * (MPI::COMM_WORLD.Get_size() - 1);
    for (int tag = RECEIVE; tag <= PERSISTENT; tag++) {
        if (rank == 0)
            ways[tag - RECEIVE]();
        for (int i = 0; rank > 0 && i < ROUNDS; i++) {
            int value = 100 * rank + i;
            MPI::COMM_WORLD.Send(&value, 1, MPI::INT, 0, tag);
        }
        MPI::COMM_WORLD.Barrier();
    }
    MPI::Finalize();
    return 0;
}
