/* SPDX-License-Identifier: BSD-3-Clause */
// cxx: MPI's C++ bindings. The program prints all that it receives, so that a run under wend trace
// can be compared with one without. "cxx handler" has an error handler that returns; MPICH's
// bindings then treat the error as handled. "cxx handlers" has a second one, which throws.
#include <mpi.h>

#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

static std::ostringstream said;
static int rank_, size_, copies, deletions;

template <class T> static void say(const char *what, const std::vector<T> &values)
{
    said << "rank " << rank_ << ": " << what << ":";
    for (const T &v : values)
        said << ' ' << v;
    said << '\n';
}
static void say(const char *what, int value) { say(what, std::vector<int>(1, value)); }

static void larger(const void *in, void *inout, int n, const MPI::Datatype &type)
{
    const int *a = static_cast<const int *>(in);
    int *b = static_cast<int *>(inout);
    for (int i = 0; i < n && type == MPI::INT; i++)
        if (std::abs(a[i]) > std::abs(b[i]))
            b[i] = a[i];
}

static int copy(const MPI::Comm &comm, int, void *extra, void *in, void *out, bool &flag)
{
    copies += comm.Get_size();
    *static_cast<void **>(out) = static_cast<char *>(in) + *static_cast<int *>(extra);
    flag = *static_cast<int *>(extra) != 3;
    return MPI::SUCCESS;
}

static int remove(MPI::Comm &, int, void *, void *)
{
    deletions++;
    return MPI::SUCCESS;
}

static int copy_type(const MPI::Datatype &, int, void *, void *in, void *out, bool &flag)
{
    *static_cast<void **>(out) = in;
    flag = true;
    return MPI::SUCCESS;
}

static void handler(MPI::Comm &, int *code, ...)
{
    say("handler", MPI::Get_error_class(*code));
}

static void thrower(MPI::Comm &, int *code, ...)
{
    throw MPI::Exception(*code);
}

static int query(void *, MPI::Status &status)
{
    status.Set_elements(MPI::INT, 3);
    status.Set_cancelled(false);
    status.Set_source(5);
    status.Set_tag(6);
    return MPI::SUCCESS;
}
static int nothing(void *) { return MPI::SUCCESS; }
static int cancel(void *, bool) { return MPI::SUCCESS; }

static void attributes(MPI::Intracomm &world)
{
    int extra = 7, value = 0, other = 3;
    void *got = NULL;
    int key = MPI::Comm::Create_keyval(copy, remove, &extra);
    int uncopied = MPI::Comm::Create_keyval(copy, remove, &other);
    world.Set_attr(key, &value);
    world.Set_attr(uncopied, &value);
    MPI::Intracomm dup = world.Dup();
    say("attribute", dup.Get_attr(key, &got) && got == reinterpret_cast<char *>(&value) + 7);
    say("attribute that is not copied", dup.Get_attr(uncopied, &got));
    dup.Free();
    world.Delete_attr(key);
    world.Delete_attr(uncopied);
    MPI::Comm::Free_keyval(key);
    MPI::Comm::Free_keyval(uncopied);
    say("callbacks", std::vector<int>{copies, deletions});
    int of_type = MPI::Datatype::Create_keyval(copy_type, MPI::Datatype::NULL_DELETE_FN, NULL);
    MPI::Datatype pair = MPI::INT.Create_contiguous(2);
    pair.Set_attr(of_type, &value);
    MPI::Datatype again = pair.Dup();
    say("attribute of a type", again.Get_attr(of_type, &got) && got == &value);
    again.Free();
    pair.Free();
    MPI::Datatype::Free_keyval(of_type);
}

static void exceptions(MPI::Intracomm &world, int handlers)
{
    int data = 1;
    MPI::Intracomm comm = world.Dup();
    comm.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
    for (int i = 0; i < 3; i++) {
        try {
            comm.Send(&data, 1, MPI::INT, size_ + i, 0);
        } catch (MPI::Exception &e) {
            say("exception", e.Get_error_class());
        }
    }
    if (handlers > 0) {
        MPI::Errhandler own = MPI::Comm::Create_errhandler(handler);
        comm.Set_errhandler(own);
        comm.Send(&data, -1, MPI::INT, 0, 0);
        comm.Iprobe(size_, 0); // gives nothing, and what it says is no result
        own.Free();
    }
    if (handlers > 1) {
        MPI::Errhandler own = MPI::Comm::Create_errhandler(thrower);
        comm.Set_errhandler(own);
        try {
            comm.Send(&data, 1, MPI::INT, 0, -9);
        } catch (MPI::Exception &e) {
            say("thrown", e.Get_error_class());
        }
        own.Free();
    }
    comm.Set_errhandler(MPI::ERRORS_RETURN);
    comm.Free();
}

int main(int argc, char **argv)
{
    MPI::Init(argc, argv);
    MPI::Intracomm world = MPI::COMM_WORLD.Dup();
    rank_ = world.Get_rank();
    size_ = world.Get_size();
    int right = (rank_ + 1) % size_, left = (rank_ + size_ - 1) % size_;

    std::vector<int> out{rank_, -rank_, 5}, in(3, -1);
    MPI::Status status;
    world.Sendrecv(&out[0], 3, MPI::INT, right, 1, &in[0], 3, MPI::INT, left, 1, status);
    say("sendrecv", in);
    say("status",
        std::vector<int>{status.Get_source(), status.Get_tag(), status.Get_count(MPI::INT)});
    MPI::Request requests[2] = {world.Irecv(&in[0], 3, MPI::INT, MPI::ANY_SOURCE, 2),
                                world.Isend(&out[0], 2, MPI::INT, right, 2)};
    MPI::Status both[2];
    MPI::Request::Waitall(2, requests, both);
    say("waitall", both[0].Get_count(MPI::INT));
    requests[0] = world.Irecv(&in[0], 3, MPI::INT, left, 3);
    requests[1] = world.Isend(&out[0], 3, MPI::INT, right, 3);
    MPI::Request::Waitall(2, requests);
    MPI::Prequest start = world.Recv_init(&in[0], 3, MPI::INT, left, 4);
    start.Start();
    world.Send(&out[0], 3, MPI::INT, right, 4);
    start.Wait();
    start.Free();
    say("persistent", in);

    world.Allreduce(MPI::IN_PLACE, &out[0], 3, MPI::INT, MPI::SUM);
    say("in place", out);
    MPI::Op op;
    op.Init(larger, true);
    out = std::vector<int>{rank_, -2 * rank_, 1};
    world.Allreduce(&out[0], &in[0], 3, MPI::INT, op);
    world.Scan(&out[0], &out[0] == &in[0] ? &out[0] : &in[0], 3, MPI::INT, op);
    op.Free();
    say("operator", in);

    const int dims[1] = {size_};
    const bool periods[1] = {true};
    MPI::Cartcomm grid = world.Create_cart(1, dims, periods, false);
    int source, dest, coords[1];
    bool got[1];
    int lengths[1];
    grid.Shift(0, 1, source, dest);
    grid.Get_topo(1, lengths, got, coords);
    say("grid", std::vector<int>{source, dest, lengths[0], got[0], coords[0]});
    grid.Free();
    MPI::Datatype column = MPI::INT.Create_vector(3, 1, 2);
    column.Commit();
    std::vector<int> matrix{10 * rank_, 1, 10 * rank_ + 2, 3, 10 * rank_ + 4, 5};
    world.Sendrecv_replace(&matrix[0], 1, column, right, 5, left, 5);
    column.Free();
    say("column", matrix);
    MPI::Intracomm half = world.Split(rank_ % 2, rank_);
    say("split", half.Get_size());
    half.Free();
    MPI::Grequest general;
    general = general.Start(query, nothing, cancel, NULL);
    general.Complete();
    general.Wait(status);
    say("generalized",
        std::vector<int>{status.Get_source(), status.Get_tag(), status.Get_count(MPI::INT)});
    attributes(world);
    exceptions(world, argc == 1 ? 0 : std::string(argv[1]) == "handler" ? 1 : 2);
    world.Free();
    std::cout << said.str() << std::flush;
    MPI::Finalize();
}
