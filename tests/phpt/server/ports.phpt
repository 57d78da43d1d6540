--TEST--
Port: settings and callbacks of its own, the server's for the rest
--SKIPIF--
<?php require __DIR__ . '/../http/skip.inc'; ?>
--FILE--
<?php
require __DIR__ . '/../http/server.inc';

use Apus\Http\{Request, Response};

$second = $third = null;
$path = sys_get_temp_dir() . '/apus-ports-' . getmypid() . '.sock';
serving(
    fn (Request $request, Response $response) => $response->end("server's callback, " . strlen($request->rawContent())),
    function (Client $client) use (&$second, &$third, $path): void {
        $body = str_repeat('x', 3000);
        $other = new Client($second->port);
        echo $client->curl('-d', $body, '/'), "\n";
        echo $other->curl('-d', $body, '-w', ' %{http_code}', '/'), "\n";
        echo $other->get('/'), "\n";
        echo $client->curl('--unix-socket', $path, 'http://any/'), "\n";
    },
    prepare: function (Apus\Http\Server $server) use (&$second, &$third, $path): void {
        $second = $server->listen('127.0.0.1', 0, Apus\SOCK_TCP);
        $third = $server->addlistener($path, 0, Apus\SOCK_UNIX_STREAM);
        var_dump(
            $second instanceof Apus\Server\Port,
            $second === $server->ports[1],
            count($server->ports),
            $second->host,
            $second->port !== $server->port,
        );
        var_dump($third->host === $path, $third->port, $third->type, $third->setting);
        $second->set(['package_max_length' => '1K']);
        var_dump($second->setting);
        $second->on('request', fn (Request $request, Response $response) => $response->end("the port's own"));
        var_dump($second->getCallback('request') instanceof Closure, $second->getCallback('close'));
        attempt(fn () => $second->on('workerstart', 'strlen'));
        attempt(fn () => $second->on('task', 'strlen'));
        attempt(fn () => $second->set(['worker_num' => 1]));
        attempt(fn () => $second->set(['max_header_size' => 1]));
        attempt(fn () => $server->listen('127.0.0.1', 0));
    },
);
?>
--EXPECT--
bool(true)
bool(true)
int(3)
string(9) "127.0.0.1"
bool(true)
bool(true)
int(0)
int(5)
NULL
array(1) {
  ["package_max_length"]=>
  string(2) "1K"
}
bool(true)
NULL
Apus\Server\Exception 103: the event "workerstart" belongs to the server, not to one port
Apus\Server\Exception 103: the event "task" belongs to the server, not to one port
Apus\Server\Exception 102: setting "worker_num" belongs to the whole server, not to one port: use Server::set()
Apus\Server\Exception 102: setting "max_header_size" must be a number of bytes from 256 to 1M ("512K", "8M" and "2G" work too), 1 given
ArgumentCountError: Apus\Server::listen() expects exactly 3 arguments, 2 given
server's callback, 3000
413 Content Too Large: the body is larger than this server allows
 413
the port's own
server's callback, 0
