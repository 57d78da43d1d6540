"""Signals: what ends a process of a server, and what must not."""

import os
import pathlib
import signal

from support import Case, alive, until


class Signals(Case):
    def test_meaningless_signals_do_not_end_the_master(self):
        with self.serve() as server:
            workers = server.workers()
            for number in (
                signal.SIGALRM,
                signal.SIGVTALRM,
                signal.SIGPROF,
                signal.SIGIO,
                signal.SIGPWR,
                signal.SIGXCPU,
                signal.SIGXFSZ,
                signal.SIGPIPE,
                signal.SIGRTMIN,
                signal.SIGRTMAX,
            ):
                server.kill(number)
                self.assertEqual(server.get().body, b"ok", number)
                server.status()
            self.assertEqual(server.workers(), workers)
            self.assertEqual(server.stop(), 0)

    def test_programs_started_by_workers_have_the_defaults(self):
        server = self.serve("$response->end(shell_exec('cat /proc/self/status'));")
        status = dict(line.split(":\t") for line in server.get().body.decode().splitlines() if line.startswith("Sig"))
        ignored, blocked = int(status["SigIgn"], 16), int(status["SigBlk"], 16)
        # PHP's command line ignores SIGPIPE, and its children with it; 32 and 33 are the C library's.
        others = sum(1 << (number - 1) for number in (signal.SIGPIPE, 32, 33))
        self.assertEqual((ignored & ~others, blocked), (0, 0))

    def test_helper_threads_take_no_signals(self):
        server = self.serve(
            """
    Apus\\Coroutine\\System::readFile('/proc/self/stat');
    gethostbyname('localhost');
    $response->end((string) getmypid());
""",
            settings={"blocked_loop_warn": 1},
        )
        pid = int(server.get().body)
        faults = sum(
            1 << (number - 1)
            for number in (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP)
        )
        # Not in a mask: KILL and STOP, and the two that the C library keeps for itself.
        expected = (
            (1 << 64) - 1 & ~faults & ~sum(1 << (number - 1) for number in (signal.SIGKILL, signal.SIGSTOP, 32, 33))
        )

        def masks():
            tasks = [path for path in pathlib.Path(f"/proc/{pid}/task").iterdir() if path.name != str(pid)]
            # A thread blocks them as its first act.
            lines = [line for path in tasks for line in (path / "status").read_text().splitlines() if line.startswith("SigBlk")]
            found = {int(line.split()[1], 16) for line in lines}
            return found if len(tasks) >= 2 and found == {expected} else None

        until("all helper threads block signals", masks)

    def test_a_fault_that_somebody_sends_ends_a_worker(self):
        server = self.serve("$response->end((string) getmypid());")
        pid = int(server.get().body)
        os.kill(pid, signal.SIGSEGV)
        until("one signal ends it", lambda: not alive(pid))
        self.assertNotEqual(int(server.get().body), pid)
        until("it is told", lambda: "SIGSEGV" in server.log())
