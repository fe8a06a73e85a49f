# SPDX-License-Identifier: BSD-3-Clause
"""wrapper_onesided.py: the part of a wrapper that has the results and the order of one-sided
communication (src/tracer/side-streams/onesided.h)."""


class OneSidedOfWrapper:
    """What wrappers.py's Wrapper has of it: self.f is the function, self.line adds a line."""

    # Calls after which the results of operations are valid, and of which targets.
    COMPLETES = {
        "MPI_Win_complete": "ONESIDED_ALL",
        "MPI_Win_fence": "ONESIDED_ALL",
        "MPI_Win_flush": "rank",
        "MPI_Win_flush_all": "ONESIDED_ALL",
        "MPI_Win_flush_local": "rank",
        "MPI_Win_flush_local_all": "ONESIDED_ALL",
        "MPI_Win_unlock": "rank",
        "MPI_Win_unlock_all": "ONESIDED_ALL",
    }
    LOCKS = {
        "MPI_Win_lock": "rank, lock_type == MPI_LOCK_EXCLUSIVE",
        "MPI_Win_lock_all": "ONESIDED_ALL, false",
    }

    def result(self):
        """(address, count, datatype) of what the operation gets, or None."""
        p = next((p for p in self.f.params if p.kind == "buf" and p.direction == "inout"), None)
        if not p or not self.f.param("target_rank"):
            return None
        kind, arguments = p.extent
        return (p.name, "1", arguments[0]) if kind == "one" else (p.name, *arguments)

    def is_operation(self):
        """It gets something, or is atomic: any but MPI_Put."""
        return self.f.param("target_rank") and (self.result() or self.f.param("op"))

    def makes_window(self):
        win = self.f.param("win")
        return win and win.direction == "out" and self.f.param("comm")

    def onesided_before(self):
        """After call_start."""
        name = self.f.name
        if self.makes_window():
            self.line("struct WindowFile *shared_order = onesided_announce(comm);")
        elif name == "MPI_Win_free":
            self.line("struct WindowFile *shared_order = onesided_window_ends(win);")
        elif name in self.LOCKS:
            self.line(f"onesided_lock(c, win, {self.LOCKS[name]});")
        elif name in ("MPI_Win_unlock", "MPI_Win_unlock_all"):
            self.line(f"onesided_unlock(win, {self.COMPLETES[name]});")
        elif self.is_operation():
            is_atomic = self.f.param("op") or name == "MPI_Compare_and_swap"
            accumulates = "true" if is_atomic else "false"
            self.line(f"ONE_SIDED access = onesided_begin(c, win, target_rank, {accumulates});")

    def onesided_after(self):
        """Between the call and call_stop."""
        name = self.f.name
        if self.makes_window():
            self.line("onesided_window_made(shared_order, comm, rc, win);")
        elif name == "MPI_Win_free":
            self.line("onesided_window_ended(shared_order);")
        elif name in self.LOCKS:
            self.line(f"onesided_locked(win, {self.LOCKS[name]}, rc);")
        elif name in self.COMPLETES:
            self.line(f"onesided_synchronized(win, {self.COMPLETES[name]}, rc);")
        elif self.is_operation():
            result = ", ".join(self.result() or ("NULL", "0", "MPI_DATATYPE_NULL"))
            request = "true" if self.f.request else "false"
            self.line(f"onesided_end(&access, rc, {result}, {request});")
