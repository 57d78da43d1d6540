"""Certificates that change while a server serves: by a command, by themselves, at a reload; broken ones are refused."""

import os
import shutil
import ssl
import subprocess

from support import PATIENCE, Client, command, until
from tls_cases import TlsCase


class Changing(TlsCase):
    def setUp(self):
        super().setUp()
        self.place = self.folder()
        self.put(self.cert, self.key)

    def put(self, cert, key):
        # In one step: a watcher would see a file that is being written as another broken one.
        for source, name in ((cert, "cert.pem"), (key, "key.pem")):
            os.replace(shutil.copy(source, self.place / "new"), self.place / name)

    def changing(self, **settings):
        files = {"ssl_cert_file": str(self.place / "cert.pem"), "ssl_key_file": str(self.place / "key.pem")}
        return self.https(settings={"worker_num": 2, "ssl_watch_interval": 0, **files, **settings})

    def shown(self, server):
        """The certificate that a client is shown now, PEM."""
        return ssl.get_server_certificate(("127.0.0.1", server.port), timeout=PATIENCE)

    def shows(self, server, cert):
        """All workers show this certificate: connections go to either."""
        want = ssl.PEM_cert_to_DER_cert(cert.read_text())
        until("the certificate is shown", lambda: all(ssl.PEM_cert_to_DER_cert(self.shown(server)) == want for _ in range(12)))

    def reload_certificates(self, server):
        line = [command(), "reload", "--certificates", "--pid", str(server.pid)]
        return subprocess.run(line, capture_output=True, text=True, timeout=PATIENCE)


class ByCommand(Changing):
    def test_workers_go_on_with_new_certificates(self):
        server = self.changing()
        workers = sorted(server.workers())
        context = self.trusting()
        kept = Client(self.sealed(server, context=context))
        self.assertEqual(kept.request().status, 200)
        session = kept.sock.session
        self.assertIn("has these certificates already", self.reload_certificates(server).stdout)

        other, other_key = self.made("other.test")
        self.put(other, other_key)
        self.assertIn("new certificates", self.reload_certificates(server).stdout)
        self.shows(server, other)
        self.assertEqual(sorted(server.workers()), workers)
        self.assertEqual(kept.request().status, 200)
        # What a session needs was agreed upon before: it is resumed, whatever certificate is shown to others now.
        self.assertTrue(self.ask(server, context=context, session=session).json()["ssl_resumed"])

        # A worker that comes later has them, too.
        server.control("reload wait")
        self.shows(server, other)

    def test_broken_files_are_refused_with_their_reason(self):
        server = self.changing()
        for name, text, why in [
            ("cert.pem", "nothing", "there is no certificate in it"),
            ("key.pem", "nothing", "cannot be used|no usable private key"),
            ("key.pem", self.made("x")[1].read_text(), "cannot be used with the key of"),
        ]:
            with self.subTest(why=why):
                self.put(self.cert, self.key)
                (self.place / name).write_text(text)
                refused = self.reload_certificates(server)
                self.assertEqual(refused.returncode, 1)
                self.assertRegex(refused.stderr, why)
                self.assertRegex(server.log(), f"certificates are not replaced, .*({why})")
                self.shows(server, self.cert)
        (self.place / "cert.pem").unlink()
        self.assertRegex(self.reload_certificates(server).stderr, "cert.pem: No such file")
        self.shows(server, self.cert)

    def test_a_server_without_certificates_says_so(self):
        refused = self.reload_certificates(self.serve())
        self.assertEqual(refused.returncode, 1)
        self.assertIn("no port of the server has a certificate", refused.stderr)

    def test_a_worker_that_is_busy_gets_them_when_it_listens(self):
        server = self.https(
            "if ($path === '/busy') { touch($folder . '/busy'); while (!file_exists($folder . '/go')) { clearstatcache(); } } $response->end('x');",
            settings={"ssl_cert_file": str(self.place / "cert.pem"), "ssl_key_file": str(self.place / "key.pem")},
        )
        with Client(self.sealed(server)) as client:
            client.send(b"GET /busy HTTP/1.1\r\nHost: a\r\n\r\n")
            until("the handler is busy", (server.folder / "busy").exists)
            other, other_key = self.made("other.test")
            self.put(other, other_key)
            self.assertEqual(self.reload_certificates(server).returncode, 0)
            (server.folder / "go").touch()
            self.assertEqual(client.answer().status, 200)
        self.shows(server, other)


class ByThemselves(Changing):
    def test_a_link_that_leads_elsewhere(self):
        # As certbot's live/ and Kubernetes' ..data do it.
        old, new = self.place / "old", self.place / "new"
        for folder, pair in ((old, (self.cert, self.key)), (new, self.made("other.test"))):
            folder.mkdir()
            shutil.copy(pair[0], folder / "cert.pem")
            shutil.copy(pair[1], folder / "key.pem")
        data = self.place / "data"
        data.symlink_to(old)
        server = self.changing(ssl_cert_file=str(data / "cert.pem"), ssl_key_file=str(data / "key.pem"), ssl_watch_interval=0.05)
        self.shows(server, self.cert)
        workers = sorted(server.workers())
        (self.place / "next").symlink_to(new)
        os.replace(self.place / "next", data)
        self.shows(server, new / "cert.pem")
        self.assertEqual(sorted(server.workers()), workers)
        self.assertNotIn("not replaced", server.log())

    def test_what_is_broken_is_told_once_and_what_is_mended_is_used(self):
        server = self.changing(ssl_watch_interval=0.05)
        (self.place / "nothing").write_text("nothing")
        os.replace(self.place / "nothing", self.place / "cert.pem")
        until("it is refused", lambda: "certificates are not replaced" in server.log())
        other, other_key = self.made("other.test")
        self.put(other, other_key)
        self.shows(server, other)
        self.assertEqual(server.log().count("there is no certificate in it"), 1)


class AtAReload(Changing):
    def test_a_reload_reads_them_too(self):
        server = self.changing()
        (self.place / "cert.pem").write_text("nothing")
        self.assertTrue(server.control("reload wait")["ok"])
        self.assertEqual(self.ask(server).status, 200)
        self.assertIn("certificates are not replaced", server.log())

        other, other_key = self.made("other.test")
        self.put(other, other_key)
        server.control("reload wait")
        self.assertEqual(self.ask(server, context=self.trusting(other), name="other.test").status, 200)
        self.assertIn("certificates were read anew", server.log())

    def test_keys_that_only_root_may_read(self):
        if os.geteuid() != 0:
            self.skipTest("needs root")
        (self.place / "key.pem").chmod(0o600)
        server = self.changing(user="nobody")
        self.assertEqual(self.ask(server).status, 200)
        other, other_key = self.made("other.test")
        self.put(other, other_key)
        (self.place / "key.pem").chmod(0o600)
        self.assertEqual(self.reload_certificates(server).returncode, 0)
        self.shows(server, other)


if __name__ == "__main__":
    import unittest
    unittest.main()
