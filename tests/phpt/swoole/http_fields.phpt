--TEST--
Swoole\Http\Server: the fields of an answer, forms that are larger than messages, refusals without a text
--INI--
apus.swoole_compat=1
--FILE--
<?php
$server = new Swoole\Http\Server('127.0.0.1', 0);
// A level that no coder has is the nearest one; a root that is not there is refused with the whole array.
var_dump($server->set(['compression_level' => 20]), $server->set(['http_compression_level' => 0]));
var_dump(@$server->set(['enable_static_handler' => true, 'document_root' => __DIR__ . '/nothing here']));
$server->set([
    'worker_num' => 1, 'log_level' => SWOOLE_LOG_ERROR, 'package_max_length' => 16384, 'upload_max_filesize' => 65536,
    'http_parse_files' => true, 'enable_static_handler' => true, 'document_root' => __DIR__,
    'static_handler_locations' => ['/http_fields.txt'],
]);
file_put_contents(__DIR__ . '/http_fields.txt', 'a file');
$server->on('request', function (Swoole\Http\Request $request, Swoole\Http\Response $response) {
    if ($request->files) {
        $file = $request->files['f'];
        $named = str_starts_with(basename($file['tmp_name']['a'] ?: 'swoole.upfile.'), 'swoole.upfile.');
        $response->end(json_encode([$file['name'], $file['size'], $named]));
        return;
    }
    if ($request->server['request_uri'] === '/plain') {
        $response->header('Content-Encoding', '');
        $response->header('X-List', ['a', null, 2]);
    }
    $response->end(str_repeat('some text ', 100));
});
function ask(int $port, string $request): array
{
    $client = stream_socket_client("tcp://127.0.0.1:$port");
    fwrite($client, "$request");
    $answer = stream_get_contents($client);
    [$head, $body] = explode("\r\n\r\n", $answer, 2);
    return [preg_replace('/^(Date|Last-Modified|ETag): .*/m', '$1: …', str_replace("\r", '', $head)), $body];
}
function form(int $port, int $bytes): array
{
    $body = "--x\r\nContent-Disposition: form-data; name=\"f[a]\"; filename=\"n\"\r\n\r\n" . str_repeat('y', $bytes)
        . "\r\n--x--\r\n";
    return ask($port, "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: multipart/form-data; boundary=x\r\n"
        . 'Content-Length: ' . strlen($body) . "\r\n\r\n$body");
}
$server->on('workerstart', function (Swoole\Http\Server $server) {
    go(function () use ($server) {
        $port = $server->port;
        $get = fn (string $path) => ask($port, "GET $path HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n");
        echo $get('/plain')[0], "\n\n", $get('/http_fields.txt')[0], "\n\n";
        $client = stream_socket_client("tcp://127.0.0.1:$port");
        fwrite($client, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        for ($head = []; ($line = trim(fgets($client))) !== '';) {
            $head[] = $line;
        }
        echo implode("\n", preg_replace('/^Date: .*/', 'Date: …', $head)), "\n\n";
        echo form($port, 60000)[1], "\n";
        foreach ([form($port, 70000), ask($port, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 20000\r\n\r\n")] as [$head, $body]) {
            echo strtok($head, "\n"), ' ', strlen($body), "\n";
        }
        $server->shutdown();
    });
});
var_dump($server->start());
?>
--CLEAN--
<?php unlink(__DIR__ . '/http_fields.txt'); ?>
--EXPECTF--
bool(true)
bool(true)
[%s]	WARNING	Server::set_document_root() (ERRNO 516): document_root[%s/nothing here] does not exist
bool(false)
HTTP/1.1 200 OK
X-List: a
X-List: 2
Server: swoole-http-server
Date: …
Connection: close
Content-Type: text/html
Content-Length: 1000

HTTP/1.1 200 OK
Last-Modified: …
ETag: …
Vary: Accept-Encoding
Accept-Ranges: bytes
Content-Type: text/plain
Server: swoole-http-server
Date: …
Connection: close
Content-Length: 6

HTTP/1.1 200 OK
Server: swoole-http-server
Date: …
Connection: keep-alive
Content-Type: text/html
Content-Length: 1000

[{"a":"n"},{"a":60000},true]
HTTP/1.1 413 Content Too Large 0
HTTP/1.1 413 Content Too Large 0
bool(true)
