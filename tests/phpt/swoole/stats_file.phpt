--TEST--
Swoole\Server: stats_file has what stats() gives, as lines, JSON or PHP
--INI--
apus.swoole_compat=1
--FILE--
<?php
foreach (['log', 'json', 'php'] as $kind) {
    $file = sys_get_temp_dir() . '/apus-stats-' . getmypid() . ".$kind";
    $server = new Swoole\Http\Server('127.0.0.1', 0);
    $server->set(['worker_num' => 1, 'stats_file' => $file, 'stats_timer_interval' => 20]);
    $server->on('request', fn ($request, $response) => $response->end());
    $server->on('workerstart', fn () => go(function () use ($server, $file, $kind) {
        $client = new Swoole\Coroutine\Http\Client('127.0.0.1', $server->port);
        $client->get('/');
        for ($left = 2000; $left > 0; $left--) {
            $stats = match (true) {
                !is_file($file) => [],
                $kind === 'json' => json_decode(file_get_contents($file), true),
                $kind === 'php' => eval(substr(file_get_contents($file), 5)),
                default => array_column(array_map(fn ($line) => explode(': ', trim($line)), file($file)), 1, 0),
            };
            if ((int) ($stats['request_count'] ?? 0) === 1) {
                break;
            }
            Swoole\Coroutine::sleep(0.01);
        }
        $has = (int) isset($stats['connection_num']);
        echo "$kind {$stats['request_count']} {$stats['worker_num']} $has\n";
        $server->shutdown();
    }));
    $server->start();
    unlink($file);
}
?>
--EXPECT--
log 1 1 1
json 1 1 1
php 1 1 1
