# SPDX-License-Identifier: BSD-3-Clause
"""wrapper_turns.py: the part of a wrapper that has the order of threads
(src/tracer/objects/turns.h)."""


class TurnsOfWrapper:
    """What wrappers.py's Wrapper has of it: self.f is the function, self.line adds a line."""

    # Calls that block, and the nonblocking ones that are posted in a turn.
    POSTS = {"Recv": "Irecv", "Send": "Isend", "Ssend": "Issend", "Rsend": "Irsend"}

    def turns(self):
        """The turns of a call: (direction, peer, tag), the receive first."""
        f = self.f
        if not f.flags & {"send", "recv"} or "persistent" in f.flags or not f.self_param:
            return []
        turns = []
        of = next((p for p in f.params if p.relative and p.relative[0] in ("recv", "probe")), None)
        if of:
            turns.append(("receive", *of.relative[1][:2]))
        if f.param("dest"):
            turns.append(("send", "dest", "sendtag" if f.param("sendtag") else "tag"))
        return turns

    def take(self, direction, peer, tag):
        kind = f"TURN_{direction.upper()}"
        self.line(f"TURN {direction} = turn_take(c, turns, {kind}, {peer}, {tag});", 2)

    def give(self, direction):
        self.line(f"turn_give(&{direction});", 2)

    def post(self, name, arguments, request):
        """The expression that posts one half of a call that blocks."""
        values = self.replayed()
        arguments = [values.get(a, a) for a in arguments]
        suffix = "_c" if self.f.name.endswith("_c") else ""
        return f"PMPI_{name}{suffix}({', '.join(arguments)}, {request})"

    def call_in_turns(self, turns):
        """The call: as the application makes it, or in turns. Leaves its code in rc."""
        f = self.f
        name = f.name[len("MPI_"):].removesuffix("_c")
        comm = f.self_param.name
        status = "filled" if any(p.kind == "status" for p in f.params) else "MPI_STATUS_IGNORE"
        self.line("int rc;")
        if name == "Sendrecv_replace":
            arguments = ("buf, count, datatype, dest, sendtag, source, recvtag, "
                         f"{self.replayed()['source']}, {self.replayed()['recvtag']}")
            self.line("if (!turns_on()")
            self.line(f"|| !turn_sendrecv_replace(c, comm_order(facts, {comm}), {arguments}, "
                      f"{comm}, filled, &rc))", 2)
            self.line(f"rc = {self.call(True)};", 2)
            return
        self.line("if (turns_on()) {")
        self.line(f"CommOrder *turns = comm_order(facts, {comm});", 2)
        if name in ("Probe", "Mprobe"):
            arguments = self.call(True).split("(", 1)[1]
            self.line(f"rc = turn_{name.lower()}(c, turns, {arguments};", 2)
        elif name == "Sendrecv":
            self.line("MPI_Request posted[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};", 2)
            self.line("int sent = MPI_ERR_OTHER;", 2)
            self.take(*turns[0])
            self.line("rc = " + self.post("Irecv", [
                "recvbuf", "recvcount", "recvtype", "source", "recvtag", comm], "&posted[0]") + ";",
                2)
            self.give("receive")
            self.take(*turns[1])
            self.line("if (rc == MPI_SUCCESS)", 2)
            self.line("sent = " + self.post("Isend", [
                "sendbuf", "sendcount", "sendtype", "dest", "sendtag", comm], "&posted[1]") + ";",
                3)
            self.give("send")
            self.line("rc = turn_wait_both(rc, sent, posted, filled);", 2)
        else:
            for turn in turns:
                self.take(*turn)
            if name in self.POSTS:
                arguments = [p.name for p in f.params if p.kind not in ("status", "self")]
                self.line("MPI_Request posted = MPI_REQUEST_NULL;", 2)
                self.line(f"rc = {self.post(self.POSTS[name], arguments, '&posted')};", 2)
            else:
                self.line(f"rc = {self.call(True)};", 2)
            if "poll" in f.flags:
                self.line("if (rc != MPI_SUCCESS || (flag && *flag))", 2)
                self.line("turn_give(&receive);", 3)
            else:
                for turn in turns:
                    self.give(turn[0])
            if name in self.POSTS:
                self.line(f"rc = turn_wait(rc, &posted, {status});", 2)
        self.line("} else {")
        self.line(f"rc = {self.call(True)};", 2)
        self.line("}")
