--TEST--
Under the names of Swoole links out of document_root are followed, unless directories are named; SWOOLE_BASE has one worker
--INI--
apus.swoole_compat=1
--FILE--
<?php
$base = sys_get_temp_dir() . '/apus-links-' . getmypid();
mkdir("$base/public", 0700, true);
mkdir("$base/storage");
file_put_contents("$base/storage/a.txt", 'stored');
symlink("$base/storage", "$base/public/storage");
symlink('../storage/a.txt', "$base/public/a.txt");
$pid = getmypid();
register_shutdown_function(function () use ($base, $pid) {
    if (getmypid() === $pid) {
        array_map('unlink', ["$base/public/storage", "$base/public/a.txt", "$base/storage/a.txt"]);
        array_map('rmdir', ["$base/public", "$base/storage", $base]);
    }
});

$server = new Swoole\Http\Server('127.0.0.1', 0, SWOOLE_BASE);
$strict = $server->listen('127.0.0.1', 0, SWOOLE_SOCK_TCP);
$files = ['enable_static_handler' => true, 'document_root' => "$base/public"];
$server->set($files + ['log_level' => SWOOLE_LOG_ERROR]);
$strict->set($files + ['open_http_protocol' => true, 'document_root_links' => [$base . '/public']]);
$server->on('request', fn ($request, $response) => $response->end('by the handler'));
$server->on('workerstart', function (Swoole\Server $server, int $id) use ($strict) {
    echo "worker $id\n";
    go(function () use ($server, $strict) {
        foreach ([$server, $strict] as $at) {
            foreach (['/storage/a.txt', '/a.txt', '/storage//a.txt'] as $path) {
                echo Swoole\Coroutine\Http\get("http://127.0.0.1:$at->port$path")->getBody(), "\n";
            }
        }
        $server->shutdown();
    });
});
$server->start();
?>
--EXPECT--
worker 0
stored
stored
stored
by the handler
by the handler
by the handler
