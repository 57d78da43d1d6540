"""What opcache does in the processes of `apus serve`: one memory for all, reset, preloading, the JIT, reload."""

import json
import os
import time

from serve_cases import Sites
from support import until

STATUS = """<?php
require __DIR__ . '/value.php';
$status = opcache_get_status(true);
echo json_encode([
    'value' => value(), 'pid' => getmypid(), 'restarts' => $status['opcache_statistics']['manual_restarts'],
    'start' => $status['opcache_statistics']['start_time'], 'scripts' => array_map('basename', array_keys($status['scripts'])),
    'hits' => $status['scripts'][__FILE__]['hits'] ?? 0,
]);"""
FILES = {
    "status.php": STATUS,
    "value.php": "<?php function value() { return 1; }",
    "reset.php": "<?php var_dump(opcache_reset());",
    "invalidate.php": "<?php var_dump(opcache_invalidate(__DIR__ . '/value.php', true));",
    "slow.php": "<?php usleep(200000); echo getmypid();",
}
OLD = 1_700_000_000


class Opcache(Sites):
    def start(self, files=(), *args, ini=("opcache.validate_timestamps=0",), **options):
        root = self.directory({**FILES, **dict(files)})
        for file in root.iterdir():
            # What was written in the last seconds is not kept.
            os.utime(file, (OLD, OLD))
        return root, self.served(root, *args, ini=ini, **options)

    def change(self, root, value):
        (root / "value.php").write_text(f"<?php function value() {{ return {value}; }}")
        os.utime(root / "value.php", (OLD, OLD))

    def together(self, server, path, count):
        """Answers of as many processes."""
        clients = [self.enterContext(server.connect()) for _ in range(count)]
        for client in clients:
            client.send(f"GET {path} HTTP/1.1\r\nHost: test\r\n\r\n".encode())
        return [client.answer().body for client in clients]

    def test_its_memory_is_one_for_all_processes(self):
        _, server = self.start(workers=3)
        first = server.get("/status.php").json()
        for _ in range(2):
            self.assertEqual(len(set(self.together(server, "/slow.php", 3))), 3)
        seen = {}

        def two_of_them():
            for text in self.together(server, "/status.php", 3):
                answer = json.loads(text)
                seen[answer["pid"]] = answer
            return len(seen) > 1

        until("another process tells, too", two_of_them)
        for answer in seen.values():
            self.assertEqual((answer["start"], answer["restarts"]), (first["start"], 0))
            # Compiled by the first of them.
            self.assertGreater(answer["hits"], 0)
            self.assertIn("slow.php", answer["scripts"])

    def test_what_is_reset_or_invalid_is_compiled_anew(self):
        root, server = self.start()
        value = lambda: server.get("/status.php").json()["value"]  # noqa: E731
        self.assertEqual(value(), 1)
        self.change(root, 2)
        self.assertEqual(value(), 1)
        self.assertIn(b"true", server.get("/invalidate.php").body)
        self.assertEqual(value(), 2)
        self.change(root, 3)
        self.assertEqual(value(), 2)
        self.assertIn(b"true", server.get("/reset.php").body)
        until("it is compiled anew", lambda: value() == 3)
        self.assertEqual(server.get("/status.php").json()["restarts"], 1)

    def test_a_reload_begins_with_new_code(self):
        root, server = self.start(workers=2)
        self.assertEqual(server.get("/status.php").json()["value"], 1)
        self.change(root, 2)
        self.assertEqual(server.get("/status.php").json()["value"], 1)
        self.assertTrue(server.control("reload wait")["ok"])
        answers = [server.get("/status.php").json()["value"] for _ in range(4)]
        self.assertEqual(answers, [2] * 4)

    def test_what_is_preloaded_is_there_in_every_request(self):
        preloaded = "<?php class Preloaded { public function name(): string { return 'preloaded'; } } function helper() { return 7; }"
        page = "<?php echo json_encode([class_exists('Preloaded', false), (new Preloaded)->name(), helper(), opcache_get_status()['preload_statistics']['classes']]);"
        root = self.directory({"pre/load.php": preloaded, "page.php": page, "reset.php": FILES["reset.php"]})
        ini = [f"opcache.preload={root}/pre/load.php"]
        if os.geteuid() == 0:
            # As root nothing is preloaded without it.
            ini.append("opcache.preload_user=nobody")
            root.chmod(0o755)
        server = self.served(root, ini=ini)
        expected = [True, "preloaded", 7, ["Preloaded"]]
        self.assertEqual([server.get("/page.php").json() for _ in range(3)], [expected] * 3)
        server.get("/reset.php")
        self.assertEqual([server.get("/page.php").json() for _ in range(3)], [expected] * 3)
        self.assertTrue(server.control("reload wait")["ok"])
        self.assertEqual(server.get("/page.php").json(), expected)

    def test_scripts_run_compiled_by_the_jit(self):
        hot = """<?php
        function hot(int $n): int { for ($sum = 0, $i = 0; $i < $n; $i++) { $sum = ($sum * 31 + ($i ^ 0x55)) % 1000003; } return $sum; }
        $before = opcache_get_status(false)['jit'];
        $sum = hot(200_000);
        $after = opcache_get_status(false)['jit'];
        echo json_encode(['sum' => $sum, 'on' => $after['on'], 'free' => [$before['buffer_free'], $after['buffer_free']], 'size' => $after['buffer_size']]);"""
        expected = 0
        for i in range(200_000):
            expected = (expected * 31 + (i ^ 0x55)) % 1_000_003
        root, server = self.start({"hot.php": hot}, "--jit=16M", ini=())
        for _ in range(20):
            answer = server.get("/hot.php").json()
            self.assertEqual((answer["sum"], answer["on"]), (expected, True))
        self.assertLess(answer["free"][1], answer["size"], "code was compiled")

    def test_changed_files_are_seen_when_they_are_looked_at_again(self):
        root, server = self.start(ini=("opcache.validate_timestamps=1", "opcache.revalidate_freq=1"))
        self.assertEqual(server.get("/status.php").json()["value"], 1)
        (root / "value.php").write_text("<?php function value() { return 5; }")
        os.utime(root / "value.php", (time.time() - 100, OLD + 1))
        until("it is seen", lambda: server.get("/status.php").json()["value"] == 5)
