"""Entries of php.ini for a server, a port and a host of `apus serve`, as pools of php-fpm have them."""

import subprocess

from serve_cases import Sites
from support import PATIENCE, command

SHOW = """<?php
$names = ['memory_limit', 'precision', 'user_agent', 'short_open_tag', 'upload_max_filesize', 'display_errors'];
$before = array_map('ini_get', $names);
$changed = [@ini_set('memory_limit', '77M'), @ini_set('precision', '9'), @ini_set('user_agent', 'changed')];
echo json_encode([$before, $changed, array_map('ini_get', $names), 1 / 3]);
"""
VALUES = {"precision": "5", "short_open_tag": "1", "user_agent": "of the pool"}
ADMIN = {"memory_limit": "99M", "upload_max_filesize": "3M"}
POOL = [
    *(f"php_value[{name}] = {value}" for name, value in VALUES.items()),
    *(f"php_admin_value[{name}] = {value}" for name, value in ADMIN.items()),
]


def table(name, entries):
    return "\n".join([f"[{name}]", *(f'"{key}" = "{value}"' for key, value in entries.items()), ""])


class Entries(Sites):
    SETTINGS = {"try_files": ["$uri", "=404"]}

    def of(self, server, path, host="test", body=None):
        lines = [f"{'GET' if body is None else 'POST'} {path} HTTP/1.1", f"Host: {host}", "Connection: close"]
        if body is not None:
            lines += ["Content-Type: application/x-www-form-urlencoded", f"Content-Length: {len(body)}"]
        with server.connect() as client:
            client.send("\r\n".join([*lines, "", ""]).encode() + (body or b""))
            return client.answer()

    def test_they_are_those_of_a_pool(self):
        files = {"show.php": SHOW, "below/show.php": SHOW, "below/.user.ini": "precision = 7\nmemory_limit = 55M\nupload_max_filesize = 1M\n"}
        root = self.directory(files)
        more = table("server.php_values", VALUES) + table("server.php_admin_values", ADMIN)
        apus, nginx = self.served(root, settings=self.SETTINGS, more=more, workers=1), self.nginx(root, pool=POOL)
        for path in ("/show.php", "/below/show.php", "/show.php"):
            self.assertEqual(apus.get(path).json(), nginx.get(path).json(), path)
        before, changed, after, _ = apus.get("/show.php").json()
        self.assertEqual((before[:2], changed, after[:3]), (["99M", "5"], [False, "5", "of the pool"], ["99M", "9", "changed"]))

    def test_a_host_has_its_own_on_top(self):
        files = {
            "show.php": SHOW, "secret.txt": "secret",
            "one/show.php": SHOW, "one/read.php": "<?php echo @file_get_contents(dirname(__DIR__) . '/secret.txt') ?: 'refused';",
            "two/show.php": SHOW, "two/read.php": "<?php echo @file_get_contents(dirname(__DIR__) . '/secret.txt') ?: 'refused';",
            "two/post.php": "<?php echo strlen($_POST['a'] ?? ''), ini_get('post_max_size');",
        }
        root = self.directory(files)
        more = table("server.php_values", {"user_agent": "of the server"}) + table("server.php_admin_values", {"memory_limit": "99M"}) + f"""
[[host]]
names = ["one.example"]
document_root = "{root}/one"
try_files = ["$uri", "=404"]
php_admin_values = {{ open_basedir = "{root}/one:/tmp/none" }}
[[host]]
names = ["two.example"]
document_root = "{root}/two"
try_files = ["$uri", "=404"]
php_values = {{ precision = 3, memory_limit = "11M", post_max_size = "9M" }}
"""
        server = self.served(root, settings=self.SETTINGS, more=more, workers=1)
        for _ in range(2):
            one = self.of(server, "/show.php", "one.example").json()
            two = self.of(server, "/show.php", "two.example").json()
            own = self.of(server, "/show.php").json()
            self.assertEqual([shown[0][0] for shown in (own, one, two)], ["99M"] * 3)
            self.assertEqual([shown[0][2] for shown in (own, one, two)], ["of the server"] * 3)
            self.assertEqual((two[0][1], two[1][1], own[0][1] == "3"), ("3", "3", False))
            self.assertEqual(self.of(server, "/read.php", "one.example").body, b"refused")
            self.assertEqual(self.of(server, "/read.php", "two.example").body, b"secret")
        answer = self.of(server, "/post.php", "two.example", b"a=" + b"x" * 8_500_000)
        self.assertEqual((answer.status, answer.body), (200, b"85000009M"))

    def test_a_script_that_stays_begins_with_them(self):
        script = "<?php $boot = ini_get('precision'); while (Apus\\handle_request(function () use ($boot) { echo json_encode([$boot, ini_get('precision'), @ini_set('memory_limit', '1G'), ini_get('memory_limit')]); }));"
        root = self.directory({"worker.php": script})
        more = table("server.php_values", VALUES) + table("server.php_admin_values", ADMIN)
        server = self.served(root, settings={"script_worker": str(root / "worker.php")}, more=more)
        for _ in range(3):
            self.assertEqual(server.get("/").json(), ["5", "5", False, "99M"])

    def test_what_cannot_be_set_is_refused(self):
        root = self.directory({"show.php": SHOW})
        with self.assertRaisesRegex(AssertionError, "php_values: PHP has no entry memroy_limit"):
            self.served(root, more=table("server.php_values", {"memroy_limit": "1M"}))
        file = root / "site.toml"
        file.write_text(f'[server]\ndocument_root = "{root}"\n[[port]]\nlisten = "127.0.0.1:0"\nphp_admin_values = {{ disable_functions = "exec" }}\n')
        done = subprocess.run([command(), "check", str(file)], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"{file}:5:1: php_admin_values: PHP reads disable_functions once, when it starts: write it below [php]", done.stderr)
