--TEST--
Dot segments that lead out of document_root and back into it by its name; no file is a folder's page unless it is named
--INI--
apus.swoole_compat=1
--FILE--
<?php
$base = sys_get_temp_dir() . '/apus-dots-' . getmypid();
mkdir("$base/public", 0700, true);
mkdir("$base/public2");
file_put_contents("$base/public/index.html", 'the page');
file_put_contents("$base/public2/a.txt", 'not to be had');
$pid = getmypid();
register_shutdown_function(function () use ($base, $pid) {
    if (getmypid() === $pid) {
        array_map('unlink', ["$base/public/index.html", "$base/public2/a.txt"]);
        array_map('rmdir', ["$base/public", "$base/public2", $base]);
    }
});

$server = new Swoole\Http\Server('127.0.0.1', 0, SWOOLE_BASE);
$listed = $server->listen('127.0.0.1', 0, SWOOLE_SOCK_TCP);
$files = ['enable_static_handler' => true, 'document_root' => "$base/public"];
$server->set($files + ['log_level' => SWOOLE_LOG_ERROR]);
$listed->set($files + ['open_http_protocol' => true, 'http_autoindex' => true, 'http_index_files' => ['index.html']]);
$server->on('request', fn ($request, $response) => $response->end('by the handler'));
$server->on('workerstart', function (Swoole\Server $server) use ($listed) {
    go(function () use ($server, $listed) {
        $paths = ['/index.html', '/../public/index.html', '/../public2/a.txt', '/x/../index.html', '/..', '/'];
        foreach ($paths as $path) {
            $client = stream_socket_client("tcp://127.0.0.1:$server->port");
            fwrite($client, "GET $path HTTP/1.0\r\n\r\n");
            echo $path, ' ', substr(strrchr(stream_get_contents($client), "\n"), 1), "\n";
        }
        echo Swoole\Coroutine\Http\get("http://127.0.0.1:$listed->port/")->getBody(), "\n";
        $server->shutdown();
    });
});
$server->start();
?>
--EXPECT--
/index.html the page
/../public/index.html the page
/../public2/a.txt by the handler
/x/../index.html the page
/.. by the handler
/ by the handler
the page
