--TEST--
Swoole\Redis\Server: handlers by command, what they return and send, the forms of answers
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Redis\Server;

$server = new Server('127.0.0.1', 0, SWOOLE_BASE);
$server->set(['worker_num' => 1, 'log_level' => SWOOLE_LOG_ERROR, 'package_max_length' => 1 << 20]);
var_dump($server->setHandler('GET', fn (int $fd, array $data) => Server::format(Server::MAP, [
    'asked' => $data, 'nothing' => null, 'yes' => true, 7 => ['a' => 1.5],
])));
$server->setHandler('len', function (int $fd, array $data) use ($server) {
    $server->send($fd, Server::format(Server::INT, strlen($data[0])));
});
var_dump(is_callable($server->getHandler('get')), $server->getHandler('none'), @$server->setHandler('', fn () => null));
foreach ([Server::ERROR, Server::STATUS, Server::NIL] as $type) {
    echo json_encode(Server::format($type)), json_encode(Server::format($type, "two\r\nlines")), "\n";
}
foreach ([[Server::STRING], [99], [Server::SET, 1]] as $given) {
    try {
        Server::format(...$given);
    } catch (Swoole\Exception $e) {
        echo $e->getCode() === SWOOLE_ERROR_INVALID_PARAMS ? 'refused' : 'other', "\n";
    }
}
$server->on('workerstart', function (Server $server) {
    go(function () use ($server) {
        $client = stream_socket_client("tcp://127.0.0.1:$server->port");
        $request = fn (string ...$parts) => '*' . count($parts) . "\r\n"
            . implode('', array_map(fn (string $part) => '$' . strlen($part) . "\r\n$part\r\n", $parts));
        $big = str_repeat('x', 300000);
        // Several at once, one of them a line, one with bytes that look like the end of a part.
        fwrite($client, $request('GET', "a\r\n\$1\r\nb", '') . "LEN 12345\r\n" . $request('Len', $big) . $request('nope'));
        for ($lines = 0; ($line = fgets($client)) !== false;) {
            echo json_encode($line), "\n";
            if (str_starts_with($line, '-')) {
                break;
            }
        }
        fwrite($client, $request(str_repeat('C', 64)));
        var_dump(stream_get_contents($client));
        $server->shutdown();
    });
});
var_dump($server->start());
?>
--EXPECT--
bool(true)
bool(true)
NULL
bool(false)
"-ERR\r\n""-two  lines\r\n"
"+OK\r\n""+two  lines\r\n"
"$-1\r\n""$-1\r\n"
refused
refused
refused
"*8\r\n"
"$5\r\n"
"asked\r\n"
"*2\r\n"
"$8\r\n"
"a\r\n"
"$1\r\n"
"b\r\n"
"$0\r\n"
"\r\n"
"$7\r\n"
"nothing\r\n"
"$-1\r\n"
"$3\r\n"
"yes\r\n"
":1\r\n"
"$1\r\n"
"7\r\n"
"*2\r\n"
"$1\r\n"
"a\r\n"
"$3\r\n"
"1.5\r\n"
":5\r\n"
":300000\r\n"
"-ERR unknown command 'nope'\r\n"
string(0) ""
bool(true)
