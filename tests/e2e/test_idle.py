"""What has nothing to do sleeps: wake-ups of the master and of workers are counted while another process counts ticks."""

import pathlib

from support import Case, until

TICK = 0.1
TICKS = 30
# At most, of all threads of a process.
WAKE_UPS_A_SECOND = 2
BEFORE = f"""
$server->addProcess(new Apus\\Process(function () use ($folder) {{
    while (true) {{
        Coroutine::sleep({TICK});
        file_put_contents("$folder/ticks", '.', FILE_APPEND);
    }}
}}, false, 0, true));"""


def wake_ups(pid):
    """How often the threads of a process have slept until something happened."""
    return sum(
        int(line.split()[1])
        for status in pathlib.Path(f"/proc/{pid}/task").glob("*/status")
        for line in status.read_text().splitlines()
        if line.startswith("voluntary_ctxt_switches")
    )


class Idle(Case):
    alone = True

    def test_a_server_without_requests_sleeps(self):
        settings = {"worker_num": 2, "blocked_loop_warn": 0.05, "enable_preemptive_scheduler": True}
        server = self.serve(before=BEFORE, settings=settings)
        self.assertEqual(server.get("/").body, b"ok")
        pids = [server.pid, *(worker["pid"] for worker in server.status()["workers"] if worker["id"] < 2)]
        ticks = server.folder / "ticks"

        def ticked(count):
            until(f"{count} ticks", lambda: ticks.exists() and ticks.stat().st_size >= count)

        # What a request leaves behind is over a second later: threads that watched it go to sleep.
        ticked(10)
        before = {pid: wake_ups(pid) for pid in pids}
        ticked(10 + TICKS)
        after = {pid: wake_ups(pid) - before[pid] for pid in pids}
        self.assertGreaterEqual(len(after), 3)
        self.assertLessEqual(max(after.values()), WAKE_UPS_A_SECOND * TICK * TICKS, after)
