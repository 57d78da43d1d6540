"""Clients that mean harm to TLS: floods of handshakes, halves of them, records that are tiny, huge, broken or never read.
The worker lives, does not grow, and serves an honest client beside them.

Each attack goes on for APUS_ATTACK_SECONDS (1 unless set). From 5 seconds on the time that honest requests take is
judged, too: a shorter attack tells nothing of it. The machine should do nothing else, or the tests go before that:
`chrt -f 10 tests/e2e/run -j1 test_tls_attacks`.
"""

import os
import pathlib
import statistics
import subprocess
import sys
import time
import unittest

import support
from apart import from_clients
from tls_cases import TlsCase

SECONDS = float(os.environ.get("APUS_ATTACK_SECONDS", "1"))
ATTACKERS = pathlib.Path(__file__).resolve().with_name("tls_attackers.py")
JUDGED_FROM = 5
MEMORY = 32 << 20
# How much longer the slowest hundredth of honest requests may take than without the attack.
SLOWER = 3
# Below this nobody notices, whatever it was before.
UNNOTICED = 0.01
PAUSE = 0.005


def p99(times):
    return statistics.quantiles(times, n=100)[98]


class Attacks(TlsCase):
    def worth(self, server, seconds):
        """How long honest requests take, each over a connection that is kept, and one in two hundred over a new one."""
        times, end, client = [], time.monotonic() + seconds, None
        while time.monotonic() < end or len(times) < 20:
            begun = time.monotonic()
            if len(times) % 200 == 0:
                client and client.sock.close()
                client = support.Client(self.sealed(server))
            self.assertEqual(client.request().body, b"honest")
            times.append(time.monotonic() - begun)
            time.sleep(PAUSE)
        client.sock.close()
        return times

    def stands(self, name, server):
        """An attack of `tls_attackers.py`."""
        workers = sorted(server.workers())
        with from_clients(workers):
            self.compared(name, server, workers)
        # It has gone, and nothing of it is left.
        support.until("its connections are closed", lambda: server.status()["totals"]["connections"] == 0)
        self.assertEqual(self.ask(server).body, b"honest")

    def compared(self, name, server, workers):
        """What honest requests take beside it, and what the workers grow by."""
        quiet = p99(self.worth(server, min(SECONDS, 10) / 2))
        before = {pid: support.rss(pid) for pid in workers}
        line = [sys.executable, "-B", str(ATTACKERS), name, str(server.port), str(SECONDS), str(self.cert)]
        attackers = [subprocess.Popen(line, stdout=subprocess.PIPE, text=True) for _ in range(2)]
        try:
            times = self.worth(server, SECONDS)
            peak = max(support.rss(pid) - before[pid] for pid in workers)
            done = [attacker.communicate(timeout=SECONDS + support.PATIENCE)[0].strip() for attacker in attackers]
        finally:
            for attacker in attackers:
                attacker.poll() is None and attacker.kill()
                attacker.wait()
        took = p99(times)
        shown = f"{', '.join(done)}; honest p99 {took * 1000:.1f} ms, {quiet * 1000:.1f} before; +{peak >> 20} MiB"
        print(shown, file=sys.stderr)
        self.assertTrue(all(attacker.returncode == 0 for attacker in attackers), shown)
        self.assertEqual(sorted(server.workers()), workers, shown)
        self.assertLessEqual(peak, MEMORY, shown)
        if SECONDS >= JUDGED_FROM:
            self.assertLessEqual(took, max(SLOWER * quiet, UNNOTICED), shown)

    def attacked(self, **settings):
        handler = "$path === '/large' ? $response->sendfile($folder . '/large') : $response->end('honest');"
        server = self.https(handler, settings={"worker_num": 1, "max_wait_time": 5, **settings})
        with open(server.folder / "large", "wb") as file:
            file.truncate(16 << 20)
        # What a worker keeps after its first requests is no growth.
        self.worth(server, 0.2)
        return server

    def test_handshakes(self):
        # Without a limit who shakes hands takes what the processor has.
        self.stands("handshakes", self.attacked(ssl_handshake_rate=200))

    def test_resumptions(self):
        self.stands("resumptions", self.attacked(ssl_handshake_rate=200))

    def test_half_handshakes(self):
        self.stands("halves", self.attacked(ssl_handshake_timeout=1))

    def test_answers_that_nobody_answers(self):
        self.stands("answered", self.attacked(ssl_handshake_timeout=1, ssl_handshake_rate=500))

    def test_a_hello_in_fragments(self):
        self.stands("fragments", self.attacked())

    def test_a_huge_hello(self):
        self.stands("hugehello", self.attacked())

    def test_records_that_cannot_be_opened(self):
        self.stands("garbage", self.attacked(ssl_handshake_rate=200))

    def test_tiny_records(self):
        self.stands("tinyrecords", self.attacked())

    def test_renegotiation(self):
        self.stands("renegotiation", self.attacked())

    def test_slow_readers(self):
        self.stands("slowreaders", self.attacked(send_timeout=2))


if __name__ == "__main__":
    unittest.main()
