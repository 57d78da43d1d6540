"""What the tests of TLS share: certificates, servers that speak TLS, clients that verify them."""

import pathlib
import shutil
import socket
import ssl
import sys
import tempfile

from support import PATIENCE, Case, Client

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))

import servers  # noqa: E402

HANDLER = r"""
    match ($path) {
        '/big' => $response->end(str_repeat('0123456789', 300_000)),
        '/file' => $response->sendfile($folder . '/server.php'),
        '/upload' => $response->end(md5($request->rawContent())),
        '/pieces' => (function () use ($response) {
            for ($i = 0; $i < 50; $i++) { $response->write(str_repeat(chr(65 + $i % 26), 5000)); }
            $response->end();
        })(),
        default => $response->end(json_encode(['https' => $request->server['https'] ?? null, 'shown' => $request->server['ssl_client_cert'] ?? null] + $server->getClientInfo($request->fd))),
    };
"""


class TlsCase(Case):
    def setUp(self):
        self.cert, self.key = servers.certificate()

    def folder(self):
        path = pathlib.Path(tempfile.mkdtemp(prefix="apus-e2e-tls-"))
        self.addCleanup(shutil.rmtree, path, True)
        return path

    def made(self, name, *more, nodes=True):
        """A certificate for one name that signs itself; with `nodes` its key is not encrypted."""
        path = self.folder()
        names = ["-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}"]
        files = ["-keyout", path / "key.pem", "-out", path / "cert.pem", *more, *(["-nodes"] if nodes else [])]
        kind = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-days", "2"]
        servers.run([servers.program("openssl"), *kind, *names, *files], cwd=path)
        return path / "cert.pem", path / "key.pem"

    def https(self, handler=HANDLER, **options):
        settings = {"ssl_cert_file": str(self.cert), "ssl_key_file": str(self.key), **options.pop("settings", {})}
        return self.serve(handler, settings=settings, **options)

    def trusting(self, cert=None):
        context = ssl.create_default_context(cafile=str(cert or self.cert))
        context.set_alpn_protocols(["h2", "http/1.1"])
        return context

    def sealed(self, server, context=None, name="localhost", session=None):
        plain = socket.create_connection(("127.0.0.1", server.port), PATIENCE)
        sock = (context or self.trusting()).wrap_socket(plain, server_hostname=name, session=session)
        self.addCleanup(sock.close)
        return sock

    def ask(self, server, path="/", **options):
        with Client(self.sealed(server, **options)) as client:
            return client.request(path=path)
