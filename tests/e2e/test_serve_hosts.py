"""`apus serve` as a front door: hosts by name, TLS and HTTP/2, logins, links, and what the command says of it."""

import contextlib
import json
import os
import signal
import ssl
import socket
import subprocess

import servers
import support
from serve_cases import Sites

TOLD = "<?php header('Content-Type: application/json'); echo json_encode($_SERVER);"


class Hosts(Sites):
    def hosts(self, *roots, more=""):
        """A server whose hosts, a.test, b.test and so on, have these directories."""
        sections = "\n".join(
            f"[[host]]\nnames = [\"{name}.test\"]\ndocument_root = {json.dumps(str(root))}\n{of_host}"
            for name, (root, of_host) in zip("abcdef", roots)
        )
        return self.served(self.directory({"index.php": TOLD}), more=f"{more}\n{sections}")

    def ask(self, server, host, path="/", headers=None):
        with server.connect() as client:
            lines = [f"GET {path} HTTP/1.1", f"Host: {host}", "Connection: close"]
            lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
            client.send("\r\n".join(lines).encode() + b"\r\n\r\n")
            return client.answer()

    def test_each_host_is_what_its_directory_holds(self):
        project = self.directory({"public/index.php": TOLD, "composer.json": "{}", "secret.php": TOLD})
        plain = self.directory({"index.php": TOLD, "x.php": TOLD})
        server = self.hosts((project, ""), (plain, "denied_scripts = [\"/x*\"]"))
        told = self.ask(server, "a.test", "/blog?q").json()
        self.assertEqual((told["DOCUMENT_ROOT"], told["SCRIPT_NAME"], told["SERVER_NAME"]), (f"{project}/public", "/index.php", "a.test"))
        self.assertEqual(self.ask(server, "a.test", "/secret.php").status, 404)
        self.assertEqual([self.ask(server, "b.test", path).status for path in ("/", "/blog", "/x.php")], [200, 404, 403])
        self.assertEqual(self.ask(server, "other.test", "/blog").status, 404)
        said = server.said()
        self.assertIn(f"a front controller in public/ in {project}/public", said)
        self.assertIn(f"plain PHP scripts in {plain}", said)

    def test_a_login_holds_for_every_way_to_a_script(self):
        code = "echo password_hash('s3cret', PASSWORD_BCRYPT, ['cost' => 4]);"
        users = "anna:" + subprocess.run([support.php(), "-n", "-r", code], capture_output=True, check=True, text=True).stdout
        root = self.directory({"index.php": TOLD, "admin/index.php": TOLD, "open.php": TOLD})
        of_host = f"basic_auth = {{ \"/admin/index.php\" = {json.dumps(users)} }}"
        server = self.hosts((root, of_host))
        right = {"Authorization": "Basic YW5uYTpzM2NyZXQ="}
        for path in ("/admin/index.php", "/admin/index.php/x", "/admin/", "//admin/", "/x/../admin/", "/%61dmin/index.php", "/admin/./index.php"):
            with self.subTest(path):
                self.assertEqual(self.ask(server, "a.test", path).status, 401)
                told = self.ask(server, "a.test", path, right)
                self.assertEqual((told.status, told.json()["REMOTE_USER"]), (200, "anna"))
        self.assertEqual(self.ask(server, "a.test", "/open.php").status, 200)

    def test_links_lead_where_they_are_allowed_to(self):
        outside = self.directory({"picture.png": "a picture", "run.php": TOLD, "more/index.php": TOLD})
        project = self.directory({"artisan": "", "public/index.php": TOLD, "storage/app/public/x.txt": "of the storage"})
        (project / "public/storage").symlink_to(project / "storage/app/public")
        (project / "public/outside").symlink_to(outside)
        plain = self.directory({"index.php": TOLD})
        (plain / "outside").symlink_to(outside)
        server = self.hosts((project, ""), (plain, f"document_root_links = [{json.dumps(str(outside))}]"))
        self.assertEqual(self.ask(server, "a.test", "/storage/x.txt").body, b"of the storage")
        (project / "storage/app/public/evil.php").write_text(TOLD)
        self.assertEqual(self.ask(server, "a.test", "/storage/evil.php").status, 403)
        self.assertEqual(self.ask(server, "a.test", "/outside/run.php").status, 404)
        self.assertNotEqual(self.ask(server, "a.test", "/outside/picture.png").body, b"a picture")
        self.assertEqual(self.ask(server, "b.test", "/outside/picture.png").body, b"a picture")
        self.assertEqual(self.ask(server, "b.test", "/outside/run.php").json()["SCRIPT_FILENAME"], f"{plain}/outside/run.php")
        self.assertEqual(self.ask(server, "b.test", "/outside/more/").json()["SCRIPT_NAME"], "/outside/more/index.php")

    def test_tls_and_a_trusted_proxy_are_https(self):
        cert, key = servers.certificate()
        settings = {"ssl_cert_file": str(cert), "ssl_key_file": str(key), "open_http2_protocol": True}
        server = self.served(self.directory({"index.php": TOLD}), settings=settings)
        context = ssl.create_default_context(cafile=str(cert))
        with socket.create_connection(("127.0.0.1", server.port), timeout=support.PATIENCE) as plain:
            with contextlib.closing(support.Client(context.wrap_socket(plain, server_hostname="localhost")).sock) as secure:
                client = support.Client(secure)
                told = client.request("GET", "/").json()
        self.assertEqual((told["HTTPS"], told["REQUEST_SCHEME"], told["SERVER_PROTOCOL"]), ("on", "https", "HTTP/1.1"))
        line = [support.needs("curl"), "-s", "--http2", "--cacert", str(cert), f"https://localhost:{server.port}/?two"]
        told = json.loads(subprocess.run(line, capture_output=True, check=True).stdout)
        self.assertEqual((told["HTTPS"], told["SERVER_PROTOCOL"], told["QUERY_STRING"]), ("on", "HTTP/2.0", "two"))
        self.assertEqual((told["HTTP_HOST"], told["SERVER_NAME"]), (f"localhost:{server.port}", "localhost"))
        behind = self.served(self.directory({"index.php": TOLD}), settings={"trusted_proxies": ["127.0.0.1"], "trusted_proxy_fields": "x-forwarded"})
        fields = {"X-Forwarded-For": "192.0.2.9", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "shop.test"}
        told = behind.get("/", headers=fields).json()
        self.assertEqual((told["REMOTE_ADDR"], told["HTTPS"], told["SERVER_NAME"], told["SERVER_PORT"]), ("192.0.2.9", "on", "shop.test", "443"))

    def test_the_command_knows_it_by_its_directory(self):
        root = self.directory({"index.php": TOLD})
        folder = self.directory({})
        env = {**os.environ, "XDG_RUNTIME_DIR": str(folder), "XDEBUG_MODE": "off"}
        env |= {"APUS_EXTENSION": support.module(), "APUS_PHP": support.php()}
        reader, writer = os.pipe()
        line = [support.command(), "serve", str(root), "--port", "0", "--workers", "1"]
        process = subprocess.Popen(
            line,
            env={**env, "APUS_READY_FD": str(writer)},
            pass_fds=(writer,),
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(writer)
        self.addCleanup(process.wait)
        self.addCleanup(lambda: process.poll() is None and os.killpg(process.pid, signal.SIGKILL))
        with os.fdopen(reader) as ready:
            self.assertIn('"listen"', ready.readline())
        status = subprocess.run([support.command(), "status", str(root)], env=env, capture_output=True, text=True)
        self.assertIn(str(root), status.stdout, status.stderr)
        stopped = subprocess.run([support.command(), "stop", str(root)], env=env, capture_output=True, text=True)
        self.assertEqual(stopped.returncode, 0, stopped.stderr)
        self.assertEqual(process.wait(support.PATIENCE), 0)

    def test_what_is_no_directory_is_refused(self):
        env = {**os.environ, "APUS_EXTENSION": support.module(), "APUS_PHP": support.php()}
        done = subprocess.run([support.command(), "serve", "/nowhere/at/all"], env=env, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("/nowhere/at/all is not a directory", done.stderr)
