"""Apus\\Coroutine\\Http2\\Client against Node's HTTP/2 server."""

import unittest

from http_client_peers import ClientCase

SERVER = """
const http2 = require('http2'), fs = require('fs'), zlib = require('zlib');
const [key, cert] = process.argv.slice(2);
const server = key ? http2.createSecureServer({ key: fs.readFileSync(key), cert: fs.readFileSync(cert) })
                   : http2.createServer({ settings: { maxConcurrentStreams: 50 } });
const sessions = new Set();
server.on('session', (session) => { sessions.add(session); session.on('close', () => sessions.delete(session)); session.on('error', () => {}); });
server.on('stream', (stream, headers) => {
    stream.on('error', () => {});
    const path = headers[':path'], parts = [];
    const wait = path.match(/^\\/wait\\/(\\d+)/);
    if (wait) return setTimeout(() => { stream.respond({ ':status': 200 }); stream.end(path); }, Number(wait[1]));
    if (path === '/reset') return stream.close(http2.constants.NGHTTP2_ENHANCE_YOUR_CALM);
    if (path === '/goaway') { stream.respond({ ':status': 200 }); stream.end('last'); return stream.session.close(); }
    if (path === '/destroy') return stream.session.destroy();
    if (path === '/never') return;
    if (path === '/early') { stream.respond({ ':status': 413 }); return stream.end('too large'); }
    if (path === '/big') { stream.respond({ ':status': 200 }); return stream.end(Buffer.alloc(5_000_000, 'big ')); }
    if (path === '/gzip') { stream.respond({ ':status': 200, 'content-encoding': 'gzip' }); return stream.end(zlib.gzipSync('words '.repeat(1000))); }
    if (path === '/pieces') {
        stream.respond({ ':status': 200, 'set-cookie': ['a=b%20c; Path=/', 'd=e'] });
        let left = 3;
        const next = () => { stream.write(`piece ${left}`); if (--left) setTimeout(next, 30); else setTimeout(() => stream.end(), 30); };
        return next();
    }
    stream.on('data', (data) => parts.push(data)).on('end', () => {
        const body = Buffer.concat(parts);
        const shown = body.length > 100 ? body.length : body.toString();
        stream.respond({ ':status': 200, 'x-double': ['1', '2'] }, { waitForTrailers: true });
        stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
        stream.end(JSON.stringify([headers[':method'], path, headers[':authority'], headers[':scheme'], headers['x-a'] ?? null, headers['cookie'] ?? null, headers['content-type'] ?? null, shown]));
    });
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
"""

PHP = """
    $h2 = function (array $settings = [], ?int $port = null, bool $tls = false, string $host = '127.0.0.1'): Apus\\Coroutine\\Http2\\Client {
        $c = new Apus\\Coroutine\\Http2\\Client($host, $port ?? PORT, $tls);
        $c->set(['timeout' => 20, ...$settings]);
        return $c;
    };
    $request = function (string $path, array $set = []): Apus\\Http2\\Request {
        $r = new Apus\\Http2\\Request;
        $r->path = $path;
        foreach ($set as $name => $value) {
            $r->$name = $value;
        }
        return $r;
    };
"""


class Http2(ClientCase):
    def h2(self, code, *args, **values):
        return self.run_php(PHP + code, self.node(SERVER, *args), **values)

    def test_requests_and_answers(self):
        out = self.h2(
            """
            $c = $h2();
            $out[] = [$c->connected, $c->connect(), $c->connected, $c->connect(), $c->errCode];
            $id = $c->send($request('/a b', ['method' => 'POST', 'headers' => ['X-A' => '1', 'Host' => 'other.test', 'Connection' => 'close'], 'cookies' => ['k' => 'v w'], 'data' => ['f' => '1']]));
            $out[] = [$id, $c->isStreamExist($id), $c->isStreamExist(0), $c->isStreamExist(99), $c->stats('active_stream_num')];
            $r = $c->recv();
            $out[] = [$r->streamId, $r->statusCode, $r->errCode, $r->pipeline, $r->headers['x-double'], $r->headers['grpc-status'], json_decode($r->data)];
            $out[] = [$c->isStreamExist($id), $c->serverLastStreamId, $c->stats()];
            $c->send($request('/', ['data' => str_repeat('x', 3_000_000), 'method' => 'PUT']));
            $out[] = json_decode($c->recv()->data)[7];
            $c->send($request('/big'));
            $out[] = [strlen($data = $c->recv()->data), substr($data, -4)];
            $c->send($request('/gzip'));
            $out[] = strlen($c->recv()->data);
            $out[] = [$c->ping(), $c->recv(0.05), $c->errCode, $c->connected];
            $out[] = [thrown(fn() => $c->send($request('/', ['method' => 'B AD']))), thrown(fn() => $c->stats('x')), thrown(fn() => $c->goaway(2))];
            $out[] = [$c->close(), $c->connected, $c->close(), $c->send($request('/')), $c->errCode, $c->recv(), $c->ping(), $c->write(1, '')];
            """
        )
        self.assertEqual(out[:2], [[False, True, True, False, 106], [1, True, True, False, 1]])
        self.assertEqual(out[2][:6], [1, 200, 0, False, ["1", "2"], "0"])
        self.assertEqual(out[2][6], ["POST", "/a%20b", "other.test", "http", "1", "k=v%20w", "application/x-www-form-urlencoded", "f=1"])
        self.assertEqual(out[3], [False, 1, {"current_stream_id": 1, "last_stream_id": 1, "active_stream_num": 0, "max_stream_num": 50}])
        self.assertEqual(out[4:8], [3000000, [5000000, "big "], 6000, [True, False, 110, True]])
        self.assertTrue("no token" in out[8][0] and "ValueError" in out[8][1] and "ValueError" in out[8][2])
        self.assertEqual(out[9], [True, False, False, False, 5001, False, False, False])

    def test_many_streams_at_once_out_of_order(self):
        out = self.h2(
            """
            $c = $h2();
            $c->connect();
            $paths = [];
            // More than the server allows at once: senders wait for their turn.
            $begin = microtime(true);
            for ($i = 0; $i < 150; $i++) {
                go(function () use ($c, $request, $i, &$paths) {
                    $path = '/wait/' . (100 - $i % 50);
                    $paths[$c->send($request($path))] = $path;
                });
            }
            $order = [];
            for ($i = 0; $i < 150; $i++) {
                $r = $c->recv();
                $out[] = $r->data === ($paths[$r->streamId] ?? null);
                $order[] = $r->streamId;
            }
            $sorted = $order;
            sort($sorted);
            $out[] = [count(array_unique($order)), $order !== $sorted, microtime(true) - $begin < 5];
            """
        )
        self.assertEqual(out, [True] * 150 + [[150, True, True]])

    def test_bodies_by_piece(self):
        out = self.h2(
            """
            $c = $h2();
            $c->connect();
            $id = $c->send($request('/', ['method' => 'POST', 'pipeline' => true, 'data' => 'one ']));
            $out[] = [$c->write($id, 'two '), $c->write($id, str_repeat('x', 300_000)), $c->write($id, 'three', true), $c->write($id, 'more'), $c->errCode];
            $out[] = json_decode($c->recv()->data)[7];
            $c->send($request('/pieces', ['usePipelineRead' => true]));
            do {
                $r = $c->read();
                $out[] = [$r->statusCode, $r->data, $r->pipeline, $r->cookies];
            } while ($r->pipeline);
            $c->send($request('/early', ['method' => 'POST', 'data' => str_repeat('x', 10_000_000)]));
            $r = $c->recv();
            $out[] = [$r->statusCode, $r->data, $c->ping()];
            """
        )
        self.assertEqual(out[:2], [[True, True, True, False, 22], 300013])
        pieces = out[2:-1]
        self.assertEqual(pieces[0], [200, "", True, {"a": "b c", "d": "e"}])
        self.assertEqual("".join(piece[1] for piece in pieces), "piece 3piece 2piece 1")
        self.assertGreater(len(pieces), 3)
        self.assertFalse(pieces[-1][2])
        self.assertEqual(out[-1], [413, "too large", True])

    def test_streams_and_connections_that_break(self):
        out = self.h2(
            """
            $c = $h2(['package_max_length' => 100_000]);
            $c->connect();
            $c->send($request('/reset'));
            $r = $c->recv();
            $out[] = [$r->statusCode, $r->errCode, $c->connected];
            $c->send($request('/big'));
            $r = $c->recv();
            $out[] = [$r->statusCode, $r->errCode, $c->ping()];
            $c->send($request('/goaway'));
            $out[] = $c->recv()->data;
            $out[] = [$c->recv(), $c->connected, $c->send($request('/')), $c->connected];
            $out[] = [$c->connect(), $c->connected];
            $c->send($request('/destroy'));
            $first = $c->recv();
            $out[] = [$first === false || $first->statusCode === -3, $c->recv(), $c->connected];
            $out[] = $c->connect();
            $c->send($request('/wait/30'));
            $out[] = [$c->goaway(), $c->send($request('/')), $c->recv()->data, $c->recv(), $c->connected];
            $c = $h2([], 1);
            $out[] = [$c->connect(), $c->errCode, $c->connected];
            """
        )
        self.assertEqual(out[0], [-3, 11, True])
        self.assertEqual(out[1], [-3, 90, True])
        self.assertEqual(out[2], "last")
        self.assertEqual(out[3], [False, False, False, False])
        self.assertEqual(out[4:7], [[True, True], [True, False, False], True])
        self.assertEqual(out[7], [True, False, "/wait/30", False, False])
        self.assertEqual(out[8], [False, 111, False])

    def test_cancel_close_and_two_receivers(self):
        out = self.h2(
            """
            $c = $h2();
            $c->connect();
            $c->send($request('/never'));
            $cid = go(function () use ($c, &$out) { $out['cancelled'] = [$c->recv(), $c->errCode, $c->connected]; });
            $out['second'] = thrown(fn() => $c->recv());
            Coroutine::cancel($cid);
            Coroutine::join([$cid]);
            $c->send($request('/wait/1'));
            $out['goes on'] = $c->recv()->data;
            $cid = go(function () use ($c, &$out) { $out['closed'] = [$c->recv(), $c->errCode, $c->connected]; });
            $c->close();
            Coroutine::join([$cid]);
            """
        )
        self.assertEqual(out["cancelled"], [False, 125, True])
        self.assertIn("ConflictException: coroutine 1 calls Apus\\Coroutine\\Http2\\Client::recv() on a client that coroutine 2 uses in", out["second"])
        self.assertEqual((out["goes on"], out["closed"]), ("/wait/1", [False, 104, False]))

    def test_tls(self):
        key, cert = self.certificate()
        http1 = self.node(
            "const https = require('https'), fs = require('fs'); const s = https.createServer({ key: fs.readFileSync(process.argv[2]), cert: fs.readFileSync(process.argv[3]) });"
            "s.listen(0, '127.0.0.1', () => console.log(s.address().port));",
            key,
            cert,
        )
        out = self.h2(
            """
            $c = $h2(['ssl_cafile' => CERT], null, true, 'localhost');
            $out[] = $c->connect();
            $c->send($request('/'));
            $out[] = array_slice(json_decode($c->recv()->data), 0, 4);
            $c = $h2([], null, true);
            $out[] = [$c->connect(), $c->errCode];
            $c = $h2(['ssl_cafile' => CERT], HTTP1, true);
            $out[] = [$c->connect(), $c->errCode];
            """,
            key,
            cert,
            cert=str(cert),
            http1=http1,
        )
        self.assertEqual(out[0], True)
        self.assertEqual((out[1][:2], out[1][3]), (["GET", "/"], "https"))
        self.assertEqual(out[2:], [[False, 1014], [False, 1018]])


if __name__ == "__main__":
    unittest.main()
