--TEST--
Ranges of files as there: of HEAD, too, with any If-Range that says nothing; what is no range is 416; unregistered types are bytes
--INI--
apus.swoole_compat=1
--FILE--
<?php
$base = sys_get_temp_dir() . '/apus-ranges-' . getmypid();
mkdir($base);
file_put_contents("{$base}/a.xyz", '0123456789');
touch("{$base}/a.xyz", 1_700_000_000);
$pid = getmypid();
register_shutdown_function(function () use ($base, $pid) {
    if (getmypid() === $pid) {
        unlink("{$base}/a.xyz");
        rmdir($base);
    }
});

$server = new Swoole\Http\Server('127.0.0.1', 0, SWOOLE_BASE);
$server->set(['enable_static_handler' => true, 'document_root' => $base, 'log_level' => SWOOLE_LOG_ERROR]);
$server->on('request', fn ($request, $response) => $response->end());
$server->on('workerstart', function (Swoole\Server $server) {
    go(function () use ($server) {
        $date = fn (int $time) => gmdate('D, d M Y H:i:s', $time) . ' GMT';
        $requests = [
            ['GET', 'bytes=0-3'], ['HEAD', 'bytes=0-3'], ['HEAD', null], ['GET', 'bytes=0-0,-1'], ['GET', 'bytes=-99'],
            ['GET', 'abc'], ['GET', 'bytes=abc'], ['GET', 'bytes=99'], ['GET', 'bytes=0-3', 'nothing'],
            ['GET', 'bytes=0-3', $date(1_700_000_000)], ['GET', 'bytes=0-3', $date(1_700_000_001)],
        ];
        foreach ($requests as $request) {
            [$method, $range, $if] = $request + [2 => null];
            $client = new Swoole\Coroutine\Http\Client('127.0.0.1', $server->port);
            $client->setHeaders(array_filter(['Range' => $range, 'If-Range' => $if]));
            $client->setMethod($method);
            $client->execute('/a.xyz');
            $body = preg_replace('~apus-part-[^|]*?(?=\||--\|)~', 'B', str_replace("\r\n", '|', $client->body));
            echo implode(' ', $request), ': ', $client->statusCode, ' ', $client->headers['content-range'] ?? '-', ' ',
                $client->headers['accept-ranges'] ?? '-', ' ', $body, "\n";
        }
        echo $client->headers['content-type'], "\n";
        $server->shutdown();
    });
});
$server->start();
?>
--EXPECT--
GET bytes=0-3: 206 bytes 0-3/10 - 0123
HEAD bytes=0-3: 206 bytes 0-3/10 - 
HEAD : 200 - bytes 
GET bytes=0-0,-1: 206 - - --B|Content-Type: application/octet-stream|Content-Range: bytes 0-0/10||0|--B|Content-Type: application/octet-stream|Content-Range: bytes 9-9/10||9|--B--|
GET bytes=-99: 206 bytes 0-9/10 - 0123456789
GET abc: 200 - bytes 0123456789
GET bytes=abc: 416 bytes */10 - 
GET bytes=99: 416 bytes */10 - 
GET bytes=0-3 nothing: 206 bytes 0-3/10 - 0123
GET bytes=0-3 Tue, 14 Nov 2023 22:13:20 GMT: 206 bytes 0-3/10 - 0123
GET bytes=0-3 Tue, 14 Nov 2023 22:13:21 GMT: 200 - bytes 0123456789
application/octet-stream
