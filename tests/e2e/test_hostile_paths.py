"""Ten thousand targets such as scanners and attackers send: nothing outside of the root is sent, and nothing hidden in it."""

import os
import re
import subprocess

import hostile_paths
from support import PATIENCE, needs
from test_hosts import HostCase

CANARY = "canary-4c1d7be2"
# What the server gives away, and no other file.
PUBLIC = (b"page of www", b"inside")


class Hostile(HostCase):
    def setUp(self):
        super().setUp()
        root = self.place / "www"
        (root / "in").mkdir()
        (root / "in" / "a").write_text("inside")
        for name in ("secret", "secret.txt"):
            (self.place / name).write_text(CANARY)
        for name in hostile_paths.HIDDEN:
            if name.startswith((".", "in/.")) and "/../" not in name:
                (root / name).parent.mkdir(exist_ok=True)
                (root / name).write_text(CANARY)
        (root / "out").symlink_to("../secret")
        (root / "up").symlink_to("..")
        os.mkfifo(root / "pipe")
        settings = {"document_root": str(root), "static_handler_locations": ["/"], "http_autoindex": True}
        self.server = self.hosts([("www.test", settings, None)], settings={"worker_num": 2})
        self.targets = hostile_paths.targets(str(self.place), 15, 6_000)

    def test_none_of_them_reaches_anything(self):
        self.assertGreater(len(self.targets), 10_000)
        client, found = None, set()
        for target in self.targets:
            client = client or self.server.connect()
            client.send(f"GET {target} HTTP/1.1\r\nHost: www.test\r\n\r\n".encode())
            answer = client.answer()
            self.look(target, answer.status, answer.headers.get("location", ""), answer.body)
            found.add((answer.status, answer.body if answer.status == 200 else b""))
            if "close" in answer.headers.get("connection", ""):
                client.__exit__()
                client = None
        client and client.__exit__()
        # The ones that are right are answered: the others are not refused for another reason.
        self.assertLessEqual({(200, body) for body in PUBLIC}, found)
        self.assertLessEqual({400, 404}, {status for status, _ in found})

    def look(self, target, status, location, body):
        self.assertNotIn(CANARY.encode(), body, target)
        self.assertNotIn(b"root:", body, target)
        self.assertIn(status, (200, 301, 308, 400, 403, 404, 405, 414, 421, 431), target)
        if status == 200:
            # A list of a folder names nothing that is hidden or leads out.
            listed = b"<a href" in body and not re.search(rb'href="(\.[^."/]|out|up|pipe)', body)
            # Another host has no files: its handler says the path.
            self.assertTrue(body in PUBLIC or listed or body.startswith(b"default /"), (target, body))
        if status in (301, 308):
            self.assertRegex(location, r"^(http://(www|other)\.test(:80)?)?/([^/\\]|$)", target)

    def test_nor_over_tls_and_http2(self):
        """As curl can say them: what it would change is left out."""
        plain = [target for target in self.targets if re.fullmatch(r"/[!-~]+", target) and not set(target) & set('"\\#{}[]')]
        for how, version, part in (("--http2", b"2", plain[::2]), ("--http1.1", b"1.1", plain[1::2])):
            number = self.server.ready["listen"][1].rsplit(":", 1)[1]
            config = self.place / f"config{how}"
            config.write_text("".join(f'url = "https://www.test{target}"\n' for target in part))
            line = [needs("curl"), "-sSk", how, "--globoff", "--path-as-is", "--max-time", str(PATIENCE * 4), "--connect-to", f"::127.0.0.1:{number}"]
            line += ["-w", "\\n%{http_version} %{http_code} %{redirect_url}\\n", "-K", str(config)]
            done = subprocess.run(line, capture_output=True, timeout=PATIENCE * 5)
            self.assertEqual(done.returncode, 0, done.stderr[-1000:] + done.stdout[-1000:])
            self.assertNotIn(CANARY.encode(), done.stdout)
            self.assertNotIn(b"root:", done.stdout)
            codes = re.findall(rb"^" + re.escape(version) + rb" (\d{3}) ", done.stdout, re.MULTILINE)
            self.assertEqual(len(codes), len(part))
            self.assertLessEqual(set(codes), {b"200", b"301", b"308", b"400", b"403", b"404", b"414", b"431"})
            self.assertTrue(any(body in done.stdout for body in PUBLIC))
