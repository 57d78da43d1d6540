--TEST--
Request: stream_request_body, read() piece by piece, rawContent() waits, forms stay raw
--SKIPIF--
<?php require __DIR__ . '/skip.inc'; ?>
--FILE--
<?php
require __DIR__ . '/server.inc';

serving(
    function (Apus\Http\Request $request, Apus\Http\Response $response): void {
        switch ($request->server['request_uri']) {
            case '/read':
                $pieces = $bytes = $most = 0;
                $hash = hash_init('crc32b');
                while (($piece = $request->read(1000)) !== '') {
                    $pieces++;
                    $bytes += strlen($piece);
                    $most = max($most, strlen($piece));
                    hash_update($hash, $piece);
                }
                $response->end(
                    json_encode([
                        'bytes' => $bytes,
                        'most' => $most,
                        'enough' => $pieces >= $bytes / 1000,
                        'crc' => hash_final($hash),
                        'end again' => $request->read(),
                    ]),
                );
                return;
            case '/raw':
                $response->end(strlen($request->rawContent()) . ' ' . json_encode($request->post));
                return;
            case '/unread':
                $response->end('not read');
                return;
            case '/trailers':
                $before = $request->getTrailers();
                $body = $request->rawContent();
                $response->end(json_encode([$before, $body, $request->getTrailers()]));
                return;
        }
        $response->end('empty: ' . var_export($request->read(), true));
    },
    function (Client $client): void {
        $file = tempnam(sys_get_temp_dir(), 'apus');
        file_put_contents($file, $data = random_bytes(300_000));
        echo $client->curl('-T', $file, '/read') === json_encode([
            'bytes' => 300_000,
            'most' => 1000,
            'enough' => true,
            'crc' => hash('crc32b', $data),
            'end again' => '',
        ]) ? 'same' : 'differs', "\n";
        echo $client->curl('-H', 'Transfer-Encoding: chunked', '-T', $file, '/read') === json_encode([
            'bytes' => 300_000,
            'most' => 1000,
            'enough' => true,
            'crc' => hash('crc32b', $data),
            'end again' => '',
        ]) ? 'same' : 'differs', "\n";
        echo $client->curl('-T', $file, '/raw'), "\n";
        echo $client->curl('-d', 'a=1&b=2', '/raw'), "\n";
        echo $client->curl('-d', 'small', '/unread', '/unread'), "\n";
        echo $client->curl('-T', $file, '/unread'), "\n";
        echo $client->get('/'), "\n";
        unlink($file);
        $chunked = "POST /trailers HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;ext=1\r\nde\r\n0\r\nX-Sum: 5\r\nX-Other: y\r\n\r\n";
        echo explode("\r\n\r\n", $client->raw($chunked))[1], "\n";
    },
    ['stream_request_body' => true],
);
?>
--EXPECT--
same
same
300000 null
7 null
not readnot read
not read
empty: ''
[[],"abcde",{"x-sum":"5","x-other":"y"}]
