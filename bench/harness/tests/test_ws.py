"""The WebSocket benchmark: the contract's check, the client's conversation, figures, aims, recipes."""

import copy
import socket
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from types import SimpleNamespace

from harness.load import LoadFailed
from harness.verify import WrongAnswer
from harness.ws import client, measure, plan, report, verify
from harness.ws.results import WsResults
from harness.ws.suite import WebSockets

LATENCY = {"count": 9, "mean_ns": 2_000_000, "p50_ns": 1_000, "p99_ns": 3_000, "p999_ns": 4_000, "max_ns": 5_000}


def run(**figures):
    return {"failed": 0, "failures": {}, "client_load": 0.5, "foreign_load": 0.0, **figures}


def document():
    cases = [case for case in plan.CASES if case.name in ("open-20000", "echo-64", "idle-10000", "push", "push-calm")]
    return {
        "format": "ws-1",
        "date": "2026-01-31",
        "machine": {"cpu": "Test CPU", "cores": 4, "kernel": "6.1", "scratch": "tmpfs", "load_average": [0, 0, 0]},
        "options": {"seconds": 1.5, "rounds": None, "server_cores": "0,1", "client_cores": "2,3"},
        "contenders": {name: {"title": name.title(), "version": "1"} for name in ("apus", "uws", "swoole")},
        "absent": {"node": "no command node; to have it: apt\nmore"},
        "failed": {"swoole in push": "the server ended at once\nlog"},
        "cases": [{"name": one.name, "title": one.title, "mode": one.mode, "connections": 1} for one in cases],
        "runs": {
            "open-20000": {"apus": [run(seconds=1.2)], "uws": [run(seconds=1.0)]},
            "echo-64": {
                "apus": [run(cpu_us=9.0), run(cpu_us=11.0), run(cpu_us=10.0)],
                "uws": [run(cpu_us=8.0, client_load=0.99, foreign_load=0.5)],
                "swoole": [run(cpu_us=20.0, failed=2, failures={"read: reset": 2})],
            },
            "idle-10000": {"apus": [run(bytes=700.0)], "swoole": [run(bytes=7000.0)]},
            "push": {"apus": [run(rate=400_000.0, out_of_order=0)]},
            "push-calm": {
                "apus": [run(rate=30_000.0, p99_us=250.0, out_of_order=1)],
                "floor": [run(rate=30_000.0, p99_us=100.0, out_of_order=0)],
            },
        },
    }


class Server(threading.Thread):
    """A server that keeps the contract, but for broadcasts where it is told not to."""

    def __init__(self, broadcasts=True):
        super().__init__(daemon=True)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._peers, self._broadcasts = [], broadcasts
        self.port = self._listener.getsockname()[1]

    def run(self):
        while True:
            try:
                peer, _ = self._listener.accept()
            except OSError:
                return
            self._peers.append(peer)
            threading.Thread(target=self._serve, args=(peer,), daemon=True).start()

    def close(self):
        self._listener.close()

    def _serve(self, peer):
        head = b""
        while b"\r\n\r\n" not in head:
            head += peer.recv(4096)
        key = head.split(b"Sec-WebSocket-Key: ")[1].split(b"\r\n")[0]
        peer.sendall(b"HTTP/1.1 101 Switching\r\nSec-WebSocket-Accept: " + accept(key) + b"\r\n\r\n")
        data = b""
        while chunk := peer.recv(65536):
            data += chunk
            while (parsed := unmasked(data)) is not None:
                opcode, payload, used = parsed
                data = data[used:]
                everybody = self._broadcasts and opcode == verify.TEXT and payload.startswith(b"b:")
                for other in self._peers if everybody else [peer]:
                    other.sendall(plain(verify.PONG if opcode == verify.PING else opcode, payload))


def accept(key):
    import base64
    import hashlib

    return base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())


def plain(opcode, payload):
    """As `verify.frame` with a mask of zeros, but without it."""
    framed = verify.frame(opcode, payload, bytes(4))
    start = len(framed) - len(payload) - 4
    return bytes([framed[0], framed[1] & 0x7F]) + framed[2:start] + payload


def unmasked(data):
    """The first frame of a client, by way of the parser for a server's."""
    if len(data) < 2:
        return None
    head = 2 if data[1] & 0x7F < 126 else 4
    parsed = verify.parse(bytes([data[0], data[1] & 0x7F]) + data[2:head] + data[head + 4 :])
    if parsed is None or len(data) < parsed[2] + 4:
        return None
    mask = data[head : head + 4]
    payload = bytes(byte ^ mask[index % 4] for index, byte in enumerate(parsed[1]))
    return parsed[0], payload, parsed[2] + 4


class Contract(unittest.TestCase):
    def serve(self, **options):
        server = Server(**options)
        server.start()
        self.addCleanup(server.close)
        return server.port

    def test_a_server_that_keeps_it_passes(self):
        verify.verify(self.serve())

    def test_a_broadcast_that_reaches_the_sender_only_is_found(self):
        peers, verify.Peer.__init__.__defaults__ = verify.Peer.__init__.__defaults__, (0.2,)
        self.addCleanup(setattr, verify.Peer.__init__, "__defaults__", peers)
        with self.assertRaisesRegex(WrongAnswer, "connection 1 of"):
            verify.verify(self.serve(broadcasts=False))

    def test_frames_of_each_length_come_back(self):
        for length in (0, 1, 125, 126, 65535, 65536):
            payload = bytes(length)
            whole = plain(verify.TEXT, payload)
            self.assertEqual(verify.parse(whole + b"x"), (verify.TEXT, payload, len(whole)))
            self.assertIsNone(verify.parse(plain(verify.TEXT, payload + b"x")[:-1]))

    def test_frames_that_a_server_must_not_send(self):
        for data in (b"\xc1\x00", b"\x01\x00", b"\x81\x80"):
            with self.subTest(data=data), self.assertRaises(WrongAnswer):
                verify.parse(data)

    def test_the_head_is_checked(self):
        key, right = b"dGhlIHNhbXBsZSBub25jZQ==", b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
        verify.check_head(b"HTTP/1.1 101 x\r\nSec-WebSocket-Accept: " + right, key)
        refused = b"HTTP/1.1 200 OK\r\nSec-WebSocket-Accept: " + right
        for head in (refused, b"HTTP/1.1 101 x\r\nSec-WebSocket-Accept: no", b""):
            with self.subTest(head=head), self.assertRaises(WrongAnswer):
                verify.check_head(head, key)


class Conversation(unittest.TestCase):
    def client(self, program):
        path = Path(tempfile.mkdtemp()) / "client"
        path.write_text(f"#!{sys.executable}\n{program}")
        path.chmod(0o755)
        self.addCleanup(path.parent.rmdir)
        self.addCleanup(path.unlink)
        return client.Client(path, [], (0,))

    def test_it_measures_when_told_to(self):
        program = """print('{"state":"ready","connected":7}', flush=True); input(); print('{"failed":0}')"""
        with self.client(program) as one:
            self.assertEqual(one.ready(), 7)
            self.assertEqual(one.measure(), {"failed": 0})

    def test_one_that_ends_says_why(self):
        program = "import sys; sys.exit('no such port')"
        with self.client(program) as one, self.assertRaisesRegex(LoadFailed, "no such port"):
            one.ready()

    def test_one_that_does_not_get_ready_is_not_believed(self):
        with self.client("print('{}')") as one, self.assertRaises(LoadFailed):
            one.ready()
        with self.client("print('nonsense')") as one, self.assertRaisesRegex(LoadFailed, "nonsense"):
            one.ready()

    def test_arguments(self):
        by_name = {case.name: case for case in plan.CASES}
        words = client.words(by_name["open-20000"], 99, (2, 3), 1.5)
        self.assertEqual(words[:2], ["open", "--wait"])
        self.assertNotIn("--window", words)
        self.assertEqual(words[words.index("--cores") + 1], "2,3")
        self.assertIn("--window", client.words(by_name["echo-64"], 99, (2, 3), 1.5))


class Plan(unittest.TestCase):
    def test_cores_are_halved(self):
        cores = plan.Cores.of([0, 1, 2, 3])
        self.assertEqual((cores.for_workers(2), cores.for_workers(1)), ((0, 1), (1,)))
        self.assertEqual((cores.for_processes(2), cores.for_processes(1)), ((2, 3), (2,)))
        self.assertEqual(plan.Cores.of([4, 5]), plan.Cores((4,), (5,)))
        with self.assertRaises(ValueError):
            plan.Cores.of([0])

    def test_contenders_take_turns(self):
        ready = [SimpleNamespace(name=name) for name in ("apus", "node")]
        suite = WebSockets(WebSockets.parse(["--cases", "echo-64,push", "--rounds", "2"]))
        shown = [(step.case.name, step.number, step.contender.name) for step in suite.steps(ready)]
        echoes = [("echo-64", number, name) for number in (1, 2) for name in ("apus", "node")]
        self.assertEqual(shown, [*echoes, ("push", 1, "apus"), ("push", 2, "apus")])


class Figures(unittest.TestCase):
    def derive(self, name, told, cpu=0.0, full=None, empty=None):
        case = next(case for case in plan.CASES if case.name == name)
        return measure.derive(case, {"failed": 0, "failures": {}, **told}, cpu, full or {}, empty or {})

    def test_what_the_client_tells_becomes_the_tables_figures(self):
        told = {"connected": 100, "open_ns": 5 * 10**8, "handshake": LATENCY, "first_echo": LATENCY}
        opened = self.derive("open-5000", told, 0.01)
        self.assertEqual((opened["seconds"], opened["cpu_us"], opened["handshake_ms"]), (0.5, 100.0, 2.0))
        echo = self.derive("echo-64", {"messages": 1000, "echo_time_ns": 10**8, "latency": LATENCY}, 0.01)
        self.assertEqual((echo["rate"], echo["cpu_us"], echo["p99_us"]), (10_000.0, 10.0, 3.0))
        told = {"all": LATENCY, "received": 50, "open_ns": 10**9}
        self.assertEqual(self.derive("broadcast-20000", told, 0.001)["cpu_us"], 20.0)
        full, empty = {"own": 9000, "pss": 0, "kernel": 5000}, {"own": 1000, "pss": 2**20, "kernel": 1000}
        idle = self.derive("idle-10000", {"held": 10}, 0, full, empty)
        self.assertEqual((idle["bytes"], idle["kernel_bytes"], idle["empty_mib"]), (800.0, 400.0, 1.0))

    def test_pushes(self):
        told = {"received": 101, "push_time_ns": 10**6, "out_of_order": 3, "latency": LATENCY}
        self.assertEqual(self.derive("push", told, 0.0101)["rate"], 100_000.0)
        self.assertAlmostEqual(self.derive("push", told, 0.0101)["cpu_us"], 100.0)
        self.assertIsNone(self.derive("push-calm", told, 1.0)["cpu_us"])
        self.assertIsNone(self.derive("push", {"received": 0})["rate"])

    def test_nothing_connected_is_no_division(self):
        told = {"connected": 0, "open_ns": 0, "handshake": LATENCY, "first_echo": LATENCY}
        self.assertIsNone(self.derive("open-5000", told)["cpu_us"])

    def test_memory_is_read(self):
        import os

        from harness import procs

        found = measure.memory(procs.tree([os.getpid()]))
        self.assertGreater(found["own"], 1 << 20)
        self.assertGreaterEqual(found["pss"], found["own"])
        self.assertGreater(found["kernel"], 1 << 20)


class Aims(unittest.TestCase):
    def test_medians_and_ratios(self):
        results = WsResults(document())
        self.assertEqual(results.value("echo-64", "apus", "cpu_us"), 10.0)
        self.assertEqual(results.ratio("echo-64", "cpu_us", "apus", "uws"), 1.25)
        self.assertIsNone(results.ratio("echo-64", "cpu_us", "apus", "node"))

    def test_failures_are_counted(self):
        results = WsResults(document())
        self.assertEqual(results.failed("echo-64", "swoole"), 2)
        self.assertEqual(results.failed("push", "swoole"), 1)
        self.assertEqual(results.all_failed("apus"), 1)
        self.assertIsNone(results.all_failed("node"))

    def test_aims(self):
        states = [aim.state for aim in WsResults(document()).aims()]
        self.assertEqual(
            states,
            ["not met", "not met", *["not measured"] * 5, "met", "met", "met", "met", "not met"],
        )

    def test_other_formats_are_refused(self):
        with self.assertRaises(ValueError):
            WsResults(document() | {"format": "db-1"})

    def test_save_and_load(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a" / "b.json"
            WsResults(document()).save(path)
            self.assertEqual(WsResults.load(path).document, document())

    def test_the_report_says_all(self):
        text = report.markdown(WsResults(document()))
        for part in (
            "| CPU an echo, 64 connections: Apus / Uws, at most | 1.1 | 1.25 | not met |",
            "| Pushes a second from worker to worker, at least | 300,000 | 400,000 | met |",
            "| Uws | 8.00*~ |",
            "Not measured: node (no command node; to have it: apt).",
            "Failed: swoole in push (the server ended at once).",
            "Swoole in echo-64: 2 times read: reset.",
            "Test CPU",
        ):
            self.assertIn(part, text)
        empty = copy.deepcopy(document()) | {"runs": {}, "failed": {}}
        self.assertIn("not measured", report.terminal(WsResults(empty)))


class Recipes(unittest.TestCase):
    def test_all_contenders_are_whole(self):
        known = WebSockets.known()
        self.assertEqual([one.name for one in known], list(WebSockets.ORDER))
        for one in known:
            words = " ".join(one.start[0])
            self.assertIn("@PORT@", words, one.name)
            self.assertIn("@WORKERS@", words, one.name)
            for name in one.files:
                self.assertTrue((one.folder / name).is_file(), name)

    def test_those_that_push_are_known(self):
        for case in plan.CASES:
            self.assertTrue(set(case.only or ()) <= set(WebSockets.ORDER), case.name)
            self.assertGreaterEqual(case.workers * 19_000, case.connections, case.name)
            self.assertGreaterEqual(case.processes * 19_000, case.connections, case.name)
