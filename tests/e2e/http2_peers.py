"""Clients of HTTP/2 for the tests of the server: Node, whose sessions say all that they see, and curl."""

import json
import pathlib
import subprocess
import sys

from support import PATIENCE, Case, needs

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))

import servers  # noqa: E402

# Asks all at once on one connection, and prints what became of each as JSON. A request is an object with `path`, and
# where wanted `method`, `headers`, `body` (text), `size` (bytes of a body), `pieces` (texts of a body, one after the
# other when the answer has grown), `trailers`, `abort` (after so many bytes of the answer).
NODE = """
const http2 = require('http2'), crypto = require('crypto'), fs = require('fs');
const [origin, text, ca] = process.argv.slice(2);
const told = { goaway: [], answers: [] };
const session = http2.connect(origin, { ca: ca && fs.readFileSync(ca) });
session.on('goaway', (code, last) => told.goaway.push([code, last]));
session.on('error', (error) => { told.error = error.code; });
session.on('close', () => console.log(JSON.stringify(told)));
const requests = JSON.parse(text);
let left = requests.length;
const over = () => { if (--left === 0) session.close(); };
requests.forEach(({ path, method, headers, body, size, pieces, trailers, abort, expect }, at) => {
    const sends = body !== undefined || size !== undefined || pieces !== undefined;
    const answer = told.answers[at] = { early: [], length: 0, body: '' };
    const fields = { ':path': path, ':method': method ?? (sends ? 'POST' : 'GET'), ...headers };
    const stream = session.request(fields, { endStream: !sends, waitForTrailers: trailers !== undefined });
    const hash = crypto.createHash('md5');
    stream.on('wantTrailers', () => stream.sendTrailers(trailers));
    stream.on('headers', (fields) => answer.early.push(fields));
    stream.on('response', (fields) => { answer.status = fields[':status']; answer.headers = fields; });
    stream.on('trailers', (fields) => { answer.trailers = fields; });
    stream.on('data', (data) => {
        hash.update(data);
        answer.length += data.length;
        if (answer.body.length < 4000) answer.body += data;
        if (abort !== undefined && answer.length >= abort) stream.close(http2.constants.NGHTTP2_CANCEL);
        if (pieces?.length) stream.write(pieces.shift()); else if (pieces) stream.end();
    });
    stream.on('error', (error) => { answer.error = error.message; });
    stream.on('close', () => { answer.code = stream.rstCode; answer.md5 = hash.digest('hex'); over(); });
    if (pieces) stream.write(pieces.shift());
    else if (size !== undefined) stream.end(Buffer.alloc(size, 'upload'));
    else if (sends) stream.end(body);
});
"""


class Http2Case(Case):
    def http2(self, handler, **options):
        """A server of HTTP/2; with `tls` over that."""
        settings = {"open_http2_protocol": True, **options.pop("settings", {})}
        if options.pop("tls", False):
            cert, key = servers.certificate()
            settings |= {"ssl_cert_file": str(cert), "ssl_key_file": str(key)}
        return self.serve(handler, settings=settings, **options)

    def begin(self, server, requests, tls=False, script=NODE):
        """Node's client, asking."""
        path = server.folder / "client.js"
        path.write_text(script)
        scheme, more = ("https", [str(servers.certificate()[0])]) if tls else ("http", [])
        line = [needs("node"), str(path), f"{scheme}://localhost:{server.port}", json.dumps(requests), *more]
        process = subprocess.Popen(line, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        return process

    def told(self, process):
        """What it has seen, once all its requests are over."""
        said, _ = process.communicate(timeout=PATIENCE)
        return json.loads(said)

    def ask(self, server, *requests, tls=False):
        return self.told(self.begin(server, requests, tls))["answers"]

    def curl(self, *arguments):
        line = [needs("curl"), "-s", "--max-time", str(PATIENCE), *arguments]
        return subprocess.run(line, capture_output=True, check=True, timeout=PATIENCE).stdout
