"""Configuration files: `apus check`, `apus run --config`, and the ini entry `apus.config`."""

import re
import json
import socket
import subprocess

from support import PATIENCE, alive, module, needs, php
from test_command import Commands

SCRIPT = """<?php
$server = new Apus\\Http\\Server('127.0.0.1', 0);
$server->set(['worker_num' => 1, 'max_conn' => 100]);
$server->on('start', fn ($server) => file_put_contents(__DIR__ . '/port', $server->port));
$server->on('request', function ($request, $response) use ($server, $argv) {
    $ports = array_map(fn ($port) => $port->host, $server->ports);
    $response->end(json_encode([$server->setting['worker_num'], $server->setting['max_connection'], ini_get('memory_limit'), array_slice($argv, 1), $ports]));
});
$server->start();
"""

FILE = """
script = "server.php"
args = ["one", "--two"]

[php]
memory_limit = "77M"

[server]
worker_num = 2

[[port]]
listen = "unix:PLACE/more.sock"
enable_static_handler = true
document_root = "PLACE/files"
"""


class ConfigFile(Commands):
    def setUp(self):
        super().setUp()
        self.script.write_text(SCRIPT)
        self.file = self.folder / "shop.toml"
        self.file.write_text(FILE.replace("PLACE", str(self.folder)))

    def test_it_rules_over_the_script_and_adds_ports(self):
        (self.folder / "files").mkdir()
        (self.folder / "files" / "a.txt").write_text("a file")
        for name in (["server.php"], []):
            self.apus("start", "-d", "--config", "shop.toml", *name)
            status = self.status()
            self.assertEqual(len(status["workers"]), 2)
            sock = str(self.folder / "more.sock")
            told = [2, 100, "77M", [] if name else ["one", "--two"], ["127.0.0.1", sock]]
            self.assertEqual(json.loads(self.get()), told)
            curl = [needs("curl"), "-sS", "--unix-socket", sock]
            for path, expected in (("/a.txt", b"a file"), ("/", json.dumps(told, separators=(",", ":")).encode())):
                answer = subprocess.run([*curl, "http://x" + path], stdout=subprocess.PIPE, timeout=PATIENCE, check=True).stdout
                self.assertEqual(answer.replace(b"\\/", b"/"), expected)
            # The script's own port has no files.
            self.assertIn("77M", self.get("/a.txt"))
            self.apus("stop")
            self.assertFalse(alive(status["pid"]))

    def test_settings_of_a_port_that_the_script_has(self):
        sock = self.folder / "own.sock"
        self.script.write_text(SCRIPT.replace("'127.0.0.1', 0)", f"'{sock}', 0, 2, Apus\\SOCK_UNIX_STREAM)"))
        self.file.write_text(f"[[port]]\nlisten = 'unix:{sock}'\nserver_header = 'configured'\n")
        self.start("--config", "shop.toml")
        curl = [needs("curl"), "-sS", "-i", "--unix-socket", str(sock), "http://x/"]
        self.assertIn(b"Server: configured", subprocess.run(curl, stdout=subprocess.PIPE, timeout=PATIENCE, check=True).stdout)
        self.apus("stop")

    def test_hosts_and_files_without_a_script(self):
        for name in ("www", "own"):
            (self.folder / name).mkdir()
            (self.folder / name / "index.html").write_text(name)
        sock = self.folder / "site.sock"
        self.file.write_text(
            f"[server]\nworker_num = 2\n[[port]]\nlisten = 'unix:{sock}'\nenable_static_handler = true\ndocument_root = 'own'\n"
            "[[host]]\nnames = ['www.test']\ndocument_root = 'www'\n[[host]]\nnames = ['old.test']\nredirects = { '*' = 'http://www.test/*' }\n"
        )
        self.assertEqual(self.apus("check", "shop.toml"), "shop.toml: ok\n")
        curl = [needs("curl"), "-sS", "-w", " %{http_code} %{redirect_url}", "--unix-socket", str(sock)]
        self.apus("start", "-d", "--config", "shop.toml")
        status = json.loads(self.apus("status", "--json", "shop.toml"))
        self.assertEqual(len(status["workers"]), 2)
        for _ in range(2):
            for url, expected in (
                ("http://x/", b"own 200 "),
                ("http://www.test/", b"www 200 "),
                ("http://www.test/none", b"404 Not Found\n 404 "),
                ("http://old.test/a?b", b"http://www.test/a?b\n 301 http://www.test/a?b"),
            ):
                done = subprocess.run([*curl, url], stdout=subprocess.PIPE, timeout=PATIENCE, check=True)
                self.assertEqual(done.stdout, expected)
            self.apus("reload", "shop.toml")
        self.apus("stop", "shop.toml")
        self.assertFalse(alive(status["pid"]))

    def test_hosts_beside_those_of_the_script(self):
        sock = self.folder / "own.sock"
        script = SCRIPT.replace("'127.0.0.1', 0)", f"'{sock}', 0, 2, Apus\\SOCK_UNIX_STREAM)")
        host = "$server->host('a.test, *.a.test', ['server_header' => 'script'], fn ($request, $response) => $response->end('host'));"
        self.script.write_text(script.replace("$server->start", host + "\n$server->start"))
        self.file.write_text("[[host]]\nnames = ['A.test']\nserver_header = 'file'\n[[host]]\nnames = ['b.test']\nserver_header = 'more'\n")
        self.start("--config", "shop.toml")
        for name, field, body in (("x.a.test", "file", "host"), ("b.test", "more", "77M"), ("c.test", "Apus", "77M")):
            curl = [needs("curl"), "-sS", "-i", "--unix-socket", str(sock), f"http://{name}/"]
            answer = subprocess.run(curl, stdout=subprocess.PIPE, timeout=PATIENCE, check=True, text=True).stdout
            self.assertRegex(answer, f"(?is)server: {field}.*\n\n{'host' if body == 'host' else '.*'}")
        self.apus("stop")

    def test_what_is_wrong_is_told_with_its_line(self):
        (self.folder / "files").mkdir(exist_ok=True)
        self.assertEqual(self.apus("check", "shop.toml"), "shop.toml: ok\n")
        wrong = self.folder / "wrong.toml"
        wrong.write_text("[server]\nworker_nums = 1\nmax_conn = 'few'\n")
        told = self.apus("check", "shop.toml", "wrong.toml", code=1)
        self.assertIn('apus: wrong.toml:2:1: unknown setting "worker_nums": did you mean "worker_num"?\n', told)
        self.assertIn('apus: wrong.toml:3:12: setting "max_connection" must be a whole number', told)
        self.assertIn("wrong.toml:2:1:", self.apus("run", "-c", "wrong.toml", "server.php", code=1))
        self.assertIn("gone.toml", self.apus("check", "gone.toml", code=1))
        wrong.write_text("[server]\n")
        self.assertIn("names no script and no port", self.apus("run", "-c", "wrong.toml", code=2))

    def test_what_a_server_would_refuse_at_its_start_is_told_with_its_line(self):
        key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "key.pem"]
        line = [needs("openssl"), "req", "-x509", *key, "-subj", "/CN=a.test", "-out", "cert.pem"]
        subprocess.run(line, cwd=self.folder, check=True, stderr=subprocess.DEVNULL, timeout=PATIENCE)
        (self.folder / "users").write_text("nobody\n")
        (self.folder / "empty.pem").write_text("nothing\n")
        (self.folder / "public").mkdir()
        wrong = [
            ("redirects = { '/a/*' = '/a/b/*' }", "leads to itself"),
            ("redirects = { '/a' = '200 /b' }", "must be 301, 302, 303, 307 or 308"),
            ("rewrites = { '/a' = 'b' }", "must be a path"),
            ("cors_origins = ['*']\ncors_credentials = true", "name the origins"),
            ("basic_auth = { '/' = 'gone' }", "basic_auth /: gone: No such file"),
            ("basic_auth = { '/' = 'users' }", "basic_auth /: users:"),
            ("document_root = 'gone'\nenable_static_handler = true", "document_root gone: No such file"),
            ("rate_limits = { '/a' = 'many' }", "rate_limits"),
            ("rate_limit = 5\nrate_limit_by = 'shoe'", "rate_limit_by"),
            ("response_headers = { 'a b' = 'c' }", "is no header field"),
            ("ssl_cert_file = 'gone.pem'", "ssl_cert_file: gone.pem: No such file"),
            ("ssl_cert_file = 'empty.pem'", "there is no certificate in it"),
            ("ssl_cert_file = 'cert.pem'\nssl_key_file = 'empty.pem'", "ssl_key_file: empty.pem: no usable private key"),
            ("ssl_cert_file = 'cert.pem'\nssl_key_file = 'key.pem'\nssl_verify_peer = true", "ssl_verify_peer needs the authorities"),
        ]
        file = self.folder / "wrong.toml"
        port = "[[port]]\nlisten = 'unix:wrong.sock'\n"
        sealed = port + "open_ssl = true\nssl_cert_file = 'cert.pem'\nssl_key_file = 'key.pem'\n[[host]]\nnames = ['a.test']\n"
        for settings, why in wrong:
            for before in (port, sealed):
                file.write_text(before + settings + "\n[[host]]\nname = 'b.test'\n")
                with self.subTest(text=before + settings):
                    told = self.apus("check", "wrong.toml", code=1)
                    line = re.search(r"apus: wrong.toml:(\d+):1: (.*)", told)
                    self.assertIn(why, line[2])
                    self.assertEqual(told.count("wrong.toml:"), 1, told)
                    # The line of a setting that it names, and not only that of its table.
                    setting = file.read_text().splitlines()[int(line[1]) - 1].split(" ")[0]
                    self.assertTrue(setting in why or setting in line[2], told)
                    refused = self.apus("run", "-c", "wrong.toml", code=255)
                    self.assertIn(why.split(": ")[-1], refused)
        served = port + "document_root = 'public'\nenable_static_handler = true\n"
        of_server = [
            ("access_log_format = '$nothing'", "$nothing"),
            ("access_log = 'gone/log'", "No such file"),
            ("log_file = 'gone/log'", "No such file"),
            ("pid_file = 'empty.pem/pid'", "Not a directory"),
            ("metrics_address = 'nowhere'", "is no address"),
            ("user = 'nobody-of-that-name'", "there is no user"),
            ("group = 'nobody-of-that-name'", "there is no group"),
            ("chroot = 'gone'", "No such file"),
        ]
        of_port = [
            ("ssl_hsts = 'soon'\nssl_cert_file = 'cert.pem'\nssl_key_file = 'key.pem'", "must have a max-age"),
            ("open_length_check = true\nopen_mqtt_protocol = true", "exclude each other"),
            ("package_length_type = 'x'\nopen_length_check = true", "package_length_type must be one of"),
            ("open_ssl = true", "a certificate is needed"),
            ("ssl_sni_certs = { 'b.test' = { ssl_cert_file = 'gone.pem', ssl_key_file = 'key.pem' } }\nssl_cert_file = 'cert.pem'\nssl_key_file = 'key.pem'", "gone.pem: No such file"),
        ]
        texts = [(f"[server]\n{settings}\n{served}", settings, why) for settings, why in of_server]
        texts += [(served + settings + "\n", settings, why) for settings, why in of_port]
        texts.append((served + "[[host]]\nname = 'a.test'\naccess_log_format = '$nothing'\n", "access_log_format", "$nothing"))
        for text, settings, why in texts:
            file.write_text(text)
            with self.subTest(text=text):
                told = self.apus("check", "wrong.toml", code=1)
                line = re.search(r"apus: wrong.toml:(\d+):1: (.*)", told)
                self.assertIn(why, line[2])
                self.assertEqual(told.count("wrong.toml:"), 1, told)
                self.assertEqual(file.read_text().splitlines()[int(line[1]) - 1].split(" ")[0], settings.split(" ")[0])
                self.assertIn(why, self.apus("run", "-c", "wrong.toml", code=255))
        with socket.create_server(("127.0.0.1", 0)) as other:
            address = f"127.0.0.1:{other.getsockname()[1]}"
            file.write_text(served.replace("unix:wrong.sock", address))
            told = self.apus("check", "wrong.toml")
            self.assertIn("wrong.toml: ok\n", told)
            self.assertIn(f"note: a start would not do now: {address}: Address already in use", told)
        file.write_text(served.replace("unix:wrong.sock", "unix:empty.pem"))
        self.assertIn("empty.pem exists and is not a socket", self.apus("check", "wrong.toml", code=1))
        file.write_text("[[port]]\nlisten = 'unix:wrong.sock'\nssl_cert_file = 'cert.pem'\nssl_key_file = 'key.pem'\n[[host]]\nname = 'a.test'\ndocument_root = 'public'\nredirects = { '/a/*' = '/b/*' }\n")
        self.assertEqual(self.apus("check", "wrong.toml"), "wrong.toml: ok\n")
        file.write_text("[[port]]\nlisten = 'unix:wrong.sock'\nbacklog = 10\n")
        self.assertIn("apus: wrong.toml:1:1: nothing would answer requests of this port", self.apus("check", "wrong.toml", code=1))
        self.assertIn("nothing would answer requests", self.apus("run", "-c", "wrong.toml", code=255))
        # What a script may still give is not missed.
        file.write_text("script = 'server.php'\n[server]\nenable_static_handler = true\n")
        self.assertEqual(self.apus("check", "wrong.toml"), "wrong.toml: ok\n")

    def test_without_the_command(self):
        wrong = self.folder / "wrong.toml"
        for text, told in ((None, "apus.config: "), ("[server]\nworker_nums = 1\n", ":2:1: unknown setting")):
            if text:
                wrong.write_text(text)
            run = [php(), "-n", "-d", f"extension={module()}", "-d", f"apus.config={wrong}", "server.php"]
            done = subprocess.run(run, stdout=subprocess.PIPE, cwd=self.folder, timeout=PATIENCE, text=True)
            self.assertIn("Apus\\Server\\Exception", done.stdout)
            self.assertIn(str(wrong), done.stdout)
            self.assertIn(told, done.stdout)
