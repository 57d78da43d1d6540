"""Shared memory against SIGKILL: processes are killed wherever they are, thousands of times in all.

APUS_KILLS=5000 makes a storm of a test, APUS_SEED another one.
"""

import os
import subprocess
import unittest

from support import HERE, PATIENCE, module, php

KILLS = int(os.environ.get("APUS_KILLS", "250"))
SEED = os.environ.get("APUS_SEED", "1")
# A fork and a death take a few milliseconds; PATIENCE is for what hangs.
LIMIT = PATIENCE * 4 + KILLS * 0.2


class Kill(unittest.TestCase):
    def storm(self, case):
        line = [php(), "-n", "-d", "extension=posix", "-d", f"extension={module()}", HERE / "fixtures" / "kill" / "storm.php", case, str(KILLS), SEED]
        with subprocess.Popen(
            line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
        ) as process:
            try:
                output, _ = process.communicate(timeout=LIMIT)
            finally:
                # Its children, too, where it failed.
                with_children(process.pid)
        self.assertRegex(output, rf"^ok: {KILLS} kills, ", f"case {case}, seed {SEED}")

    def test_rows_are_whole_and_counted(self):
        self.storm("table")

    def test_an_index_lists_each_row_once(self):
        self.storm("columns")

    def test_accepted_messages_of_dead_producers_arrive(self):
        self.storm("queue")

    def test_dead_consumers_lose_what_they_held_alone(self):
        self.storm("consumers")

    def test_locks_of_the_dead_open(self):
        self.storm("locks")

    def test_a_cache_forgets_and_does_not_lie(self):
        self.storm("cache")


def with_children(session):
    """Ends what is left of a session that this test started."""
    try:
        os.killpg(session, 9)
    except ProcessLookupError:
        pass


if __name__ == "__main__":
    unittest.main()
