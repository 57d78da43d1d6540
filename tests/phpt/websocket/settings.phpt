--TEST--
WebSocket\Server: its settings, and what is said of wrong ones
--FILE--
<?php
require __DIR__ . '/../http/server.inc';

use Apus\WebSocket\Server;

$server = new Server('127.0.0.1', 0);
$good = ['open_websocket_close_frame' => true, 'open_websocket_ping_frame' => true, 'open_websocket_pong_frame' => true, 'websocket_subprotocol' => 'a, b', 'websocket_origins' => 'https://example.org',
    'websocket_compression' => true, 'websocket_compression_level' => 9, 'websocket_compression_threshold' => 0, 'websocket_context_takeover' => true, 'websocket_ping_interval' => 0, 'websocket_ping_timeout' => 0.5,
    'websocket_close_timeout' => 1, 'connection_concurrency' => 1, 'buffer_high_watermark' => '1M', 'buffer_low_watermark' => '100K', 'max_buffered_bytes' => '64M'];
foreach (['wait', 'drop', 'close'] as $policy) {
    var_dump($server->set($good + ['send_policy' => $policy]));
}
foreach (['websocket_compression_level' => [0, 10, 'x'], 'connection_concurrency' => [0], 'websocket_ping_interval' => [-1], 'send_policy' => ['lose'], 'websocket_compresion' => [true]] as $name => $values) {
    foreach ($values as $value) {
        try {
            $server->set([$name => $value]);
            echo "accepted: $name ", json_encode($value), "\n";
        } catch (Throwable $error) {
            // It names the setting, and what is allowed.
            var_dump(str_contains($error->getMessage(), $name));
        }
    }
}
?>
--EXPECT--
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
