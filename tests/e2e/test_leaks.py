"""Nothing is left behind by requests that end in unusual ways: memory of PHP, resident memory, descriptors, files."""

import os
import socket
import struct

from support import Case, rss, until

HANDLER = """
switch ($path) {
    case '/memory': gc_collect_cycles(); $response->end(json_encode([memory_get_usage(), Coroutine::stats()['coroutine_num']])); return;
    case '/throw': throw new RuntimeException('x');
    case '/silent': return;
    case '/exit': exit;
    case '/files': $response->end((string) count($request->files)); return;
    case '/abort': Coroutine::sleep(0.001); $response->write('x'); Coroutine::sleep(0.001); $response->end('y'); return;
    case '/later': Apus\\Timer::after(1, fn () => $response->end('later')); return;
    case '/file': $response->sendfile(__FILE__); return;
    case '/detach': $response->detach(); Response::create($server, $request->fd)->end('detached'); return;
    case '/cycle': $request->self = $response; $response->self = $request; $response->end('cycle'); return;
}
$response->end('ok');
"""


class Leaks(Case):
    alone = True
    BODY = b'--B\r\nContent-Disposition: form-data; name="f"; filename="a"\r\n\r\nfile\r\n--B\r\nContent-Disposition: form-data; name="g[]"; filename="b"\r\n\r\n\r\n--B--\r\n'

    def once(self, server, kind):
        if kind == "/abort":
            client = server.connect()
            client.send(b"GET /abort HTTP/1.1\r\nHost: a\r\n\r\n")
            client.more()
            client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            client.sock.close()
        elif kind == "/partial":
            client = server.connect()
            client.send(b"POST /files HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=B\r\nContent-Length: 9999\r\n\r\n" + self.BODY[:-12])
            client.sock.close()
        elif kind == "/files":
            with server.connect() as client:
                client.request("POST", "/files", body=self.BODY, headers={"Content-Type": "multipart/form-data; boundary=B"}, close=True)
        elif kind == "/bad":
            server.raw(b"GET / HTTP/9.9\r\n\r\n")
        else:
            server.get(kind)

    def test_unusual_ends(self):
        server = self.serve(HANDLER, settings={"log_level": "none"}, before="mkdir(\"$folder/tmp\"); $server->set(['upload_tmp_dir' => \"$folder/tmp\"]);")
        worker = server.workers()[0]
        descriptors = lambda: len(os.listdir(f"/proc/{worker}/fd"))
        kinds = ["/throw", "/silent", "/exit", "/files", "/partial", "/abort", "/later", "/file", "/detach", "/cycle", "/bad", "/"]

        def look():
            until("all connections are closed", lambda: server.status()["totals"]["connections"] == 0)
            # Handlers of clients that left still sleep for a moment.
            until("only the asking handler runs", lambda: server.get("/memory").json()[1] == 1)
            return server.get("/memory").json()[0], rss(worker), descriptors()
        # Coroutines' stacks are kept for the next ones: have as many as will ever run at once.
        burst = [server.connect() for _ in range(100)]
        for client in burst:
            client.send(b"GET /abort HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        for client in burst:
            self.assertEqual(client.answer().body, b"xy")
            client.sock.close()
        grown = {}
        for kind in kinds:
            for _ in range(400):
                self.once(server, kind)
            before = look()
            for _ in range(400):
                self.once(server, kind)
            after = look()
            grown[kind] = [b - a for a, b in zip(before, after)]
        # 400 requests: 8 bytes each would show.
        self.assertEqual(
            {kind: g for kind, g in grown.items() if g[0] > 3200 or g[1] > (1 << 20) or g[2] > 1}, {}, grown
        )
        self.assertEqual(os.listdir(server.folder / "tmp"), [])
        self.assertEqual(server.workers(), [worker])
