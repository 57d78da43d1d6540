--TEST--
Swoole\Http\Server: own declaration, its callbacks get Swoole\Http\Request and Response, mistakes are warnings
--INI--
apus.swoole_compat=1
--FILE--
<?php
set_error_handler(function (int $number, string $text): bool {
    echo 'warning: ', preg_replace(['/^[\w\\\\:]+\(\): /', '/[;:].*/s'], '', $text), "\n";
    return true;
});
$server = new Swoole\Http\Server('127.0.0.1', 0, SWOOLE_PROCESS);
var_dump(get_parent_class($server), $server instanceof Apus\Server, $server->mode, $server->setting);
var_dump($server->on('nonsense', fn () => null));
var_dump($server->set(['worker_num' => 1, 'log_level' => SWOOLE_LOG_ERROR, 'blocked_loop_warn' => 0, 'nonsense' => 1, 'open_http2_protocol' => true, 'debug_mode' => 1]));
var_dump($server->set(['max_request' => 0]), count($server->setting), $server->setting['nonsense']);
// Callbacks may be set in any order; they stand in private properties.
$server->on('Request', function (Swoole\Http\Request $request, Swoole\Http\Response $response) use ($server) {
    $response->header('X-Fd', (string) ($response->fd === $request->fd));
    $response->cookie('a', 'b');
    var_dump($request->fd, $response->header, $response->cookie);
    var_dump($response->status(9999), $response->end(json_encode([
        $request->get, $request->server['request_uri'], $request->getMethod(), $request->post,
        count($server->connections), isset($server->connections[$request->fd]), isset($server->connections[0]),
        iterator_to_array($server->connections) === [1 => $request->fd],
        iterator_to_array($server->ports[0]->connections) === [1 => $request->fd],
        $server->exist($request->fd), $server->connection_info($request->fd)['remote_ip'],
        $server->getWorkerStatus() === SWOOLE_WORKER_BUSY, $server->connection_info($request->fd)['worker_id'],
        $server->getMasterPid() === $server->master_pid,
        isset($server->stats()['user_worker_num']),
    ])));
    var_dump($response->end('twice'), $server->taskwait('x'), $server->sendMessage('x', 99));
});
$server->on('WorkerStart', function (Swoole\Http\Server $server, int $worker) {
    go(function () use ($server) {
        echo file_get_contents("http://127.0.0.1:$server->port/path?a=b"), "\n";
        var_dump(in_array('X-Fd: 1', $http_response_header, true), in_array('Server: swoole-http-server', $http_response_header, true));
        $server->shutdown();
    });
});
// In the master, beside what the worker does.
$started = null;
$server->on('Start', function (Swoole\Server $server) use (&$started) {
    $started = $server->master_pid === getmypid();
});
$shown = fn (object $of, string $class, string $name) => (new ReflectionProperty($class, $name))->getValue($of);
var_dump($shown($server, Swoole\Server::class, 'onWorkerStart') instanceof Closure, $shown($server, Swoole\Server::class, 'onFinish'));
var_dump($shown($server->ports[0], Swoole\Server\Port::class, 'onRequest') instanceof Closure, get_class($server->ports[0]));
var_dump($server->start(), $started);
var_dump($server->start());
?>
--EXPECTF--
string(13) "Swoole\Server"
bool(false)
int(2)
NULL
warning: there is no event "nonsense"
bool(false)
warning: unsupported option [nonsense]
#0 %s
#1 %s
#2 %s
bool(true)
bool(true)
int(7)
int(1)
bool(true)
NULL
bool(true)
string(18) "Swoole\Server\Port"
int(1)
array(1) {
  ["X-Fd"]=>
  string(1) "1"
}
array(1) {
  [0]=>
  string(3) "a=b"
}
warning: the status code of an answer lies between 200 and 999 (RFC 9110 section 15), 9999 given
bool(false)
bool(true)
warning: taskwait() works in a process of a server with task workers
warning: Argument #2 ($dst_worker_id) must be the id of a worker, 0 to 0, 99 given
bool(false)
bool(false)
bool(false)
[{"a":"b"},"\/path","GET",null,1,true,false,true,true,true,"127.0.0.1",true,0,true,true]
bool(true)
bool(true)
bool(true)
bool(true)
warning: start() was called already, and this server has stopped
bool(false)
