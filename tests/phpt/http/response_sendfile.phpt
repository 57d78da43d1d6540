--TEST--
Response: sendfile whole, from an offset, a part, empty, to HEAD, with a type of one's own
--SKIPIF--
<?php require __DIR__ . '/skip.inc'; ?>
--FILE--
<?php
require __DIR__ . '/server.inc';

$folder = sys_get_temp_dir() . '/apus-sendfile-' . getmypid();
mkdir($folder);
file_put_contents("$folder/text.txt", '0123456789');
file_put_contents("$folder/page.html", '<p>');
file_put_contents("$folder/empty.json", '');
foreach (['text.txt', 'page.html', 'empty.json'] as $name) {
    touch("$folder/$name", 1_000_000_000);
}
file_put_contents("$folder/big.bin", random_bytes(5_000_000));
serving(
    function (Apus\Http\Request $request, Apus\Http\Response $response) use ($folder): void {
        $get = $request->get ?? [];
        if (isset($get['type'])) {
            $response->header('Content-Type', $get['type']);
        }
        if (isset($get['status'])) {
            $response->status((int) $get['status']);
        }
        $response->sendfile($folder . $request->server['path_info'], (int) ($get['offset'] ?? 0), (int) ($get['length'] ?? 0));
    },
    function (Client $client) use ($folder): void {
        foreach (['/text.txt', '/text.txt?offset=4', '/text.txt?offset=4&length=3', '/text.txt?offset=10', '/page.html?status=404', '/empty.json', '/text.txt?type=x/y'] as $path) {
            echo "== $path\n";
            $client->show($path);
        }
        echo "== HEAD\n";
        $client->show('-I', '/text.txt');
        $big = $client->get('/big.bin');
        echo 'big: ', $big === file_get_contents("$folder/big.bin") ? 'same' : 'differs, ' . strlen($big), "\n";
        $part = $client->get('/big.bin?offset=1234567&length=2345678');
        echo 'part: ', $part === substr(file_get_contents("$folder/big.bin"), 1234567, 2345678) ? 'same' : 'differs, ' . strlen($part), "\n";
        echo 'two on one connection: ', strlen($client->curl('/big.bin', '/text.txt')), "\n";
    },
);
exec('rm -r ' . escapeshellarg($folder));
?>
--EXPECT--
== /text.txt
HTTP/1.1 200 OK
Server: apus
Last-Modified: Sun, 09 Sep 2001 01:46:40 GMT
ETag: "de0b6b3a7640000-a"
Accept-Ranges: bytes
Content-Type: text/plain; charset=UTF-8
Content-Length: 10

0123456789
== /text.txt?offset=4
HTTP/1.1 200 OK
Server: apus
Content-Type: text/plain; charset=UTF-8
Content-Length: 6

456789
== /text.txt?offset=4&length=3
HTTP/1.1 200 OK
Server: apus
Content-Type: text/plain; charset=UTF-8
Content-Length: 3

456
== /text.txt?offset=10
HTTP/1.1 200 OK
Server: apus
Content-Type: text/plain; charset=UTF-8
Content-Length: 0
== /page.html?status=404
HTTP/1.1 404 Not Found
Server: apus
Content-Type: text/html; charset=UTF-8
Content-Length: 3

<p>
== /empty.json
HTTP/1.1 200 OK
Server: apus
Last-Modified: Sun, 09 Sep 2001 01:46:40 GMT
ETag: "de0b6b3a7640000-0"
Accept-Ranges: bytes
Content-Type: application/json
Content-Length: 0
== /text.txt?type=x/y
HTTP/1.1 200 OK
Server: apus
Last-Modified: Sun, 09 Sep 2001 01:46:40 GMT
ETag: "de0b6b3a7640000-a"
Accept-Ranges: bytes
Content-Type: x/y
Content-Length: 10

0123456789
== HEAD
HTTP/1.1 200 OK
Server: apus
Last-Modified: Sun, 09 Sep 2001 01:46:40 GMT
ETag: "de0b6b3a7640000-a"
Accept-Ranges: bytes
Content-Type: text/plain; charset=UTF-8
Content-Length: 10
big: same
part: same
two on one connection: 5000010
