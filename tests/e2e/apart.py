"""Servers and clients on cores of their own, so that what a client waits for is the server and not a core."""

import contextlib
import os
import pathlib



def go_last():
    """This thread, and what it starts, runs when no honest client on its core wants to, as if that were on a machine
    of its own. Where all of it has a real-time priority (`chrt -f 10`, beside other work) it keeps the least."""
    policy = os.sched_getscheduler(0)
    least = (policy, 1) if policy in (os.SCHED_FIFO, os.SCHED_RR) else (os.SCHED_IDLE, 0)
    os.sched_setscheduler(0, least[0], os.sched_param(least[1]))


def pin(pid, cores):
    """All threads of a process, those to come included."""
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(ProcessLookupError):
            os.sched_setaffinity(int(task.name), cores)


@contextlib.contextmanager
def from_clients(workers):
    """The workers have the first core to themselves, this process and what it starts has the others; with one core
    all share it."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        yield
        return
    for pid in workers:
        pin(pid, cores[:1])
    pin(os.getpid(), cores[1:])
    try:
        yield
    finally:
        pin(os.getpid(), cores)
