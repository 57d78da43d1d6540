--TEST--
The servers' classes under the names of Swoole: relations, parameters and properties as there
--INI--
apus.swoole_compat=1
--FILE--
<?php
foreach ([
    'Swoole\Server', 'Swoole\Http\Server', 'Swoole\WebSocket\Server', 'Swoole\Server\Port', 'Swoole\Server\Task',
    'Swoole\Http\Request', 'Swoole\Http\Response', 'Swoole\Connection\Iterator', 'Swoole\Coroutine\Http\Server',
    'Swoole\Coroutine\Server', 'Swoole\Coroutine\Server\Connection', 'Swoole\WebSocket\Frame', 'Swoole\WebSocket\CloseFrame',
] as $name) {
    $class = new ReflectionClass($name);
    echo $name, $class->getParentClass() ? " extends {$class->getParentClass()->name}" : '', $class->isFinal() ? ' (final)' : '', "\n";
}
function shown(string $class, string $method): void
{
    $method = new ReflectionMethod($class, $method);
    $of = fn (ReflectionParameter $p) => "{$p->getType()} \${$p->name}" . ($p->isOptional() ? ' = ' . var_export($p->getDefaultValue(), true) : '');
    echo $method->class, '::', $method->name, '(', implode(', ', array_map($of, $method->getParameters())), ")\n";
}
shown('Swoole\Http\Server', '__construct');
shown('Swoole\Server', 'on');
shown('Swoole\Server', 'task');
shown('Swoole\Server', 'getClientList');
shown('Swoole\Server', 'bind');
shown('Swoole\WebSocket\Server', 'push');
shown('Swoole\Http\Response', 'status');
shown('Swoole\Http\Response', 'redirect');
echo implode(
    ' ',
    array_map(fn ($p) => $p->name, (new ReflectionClass('Swoole\Server'))->getProperties(ReflectionProperty::IS_PUBLIC)),
), "\n";
class Mine extends Swoole\WebSocket\Server
{
    public array $own = [];
}
$mine = new Mine('127.0.0.1');
$mine->own[] = 1;
var_dump(
    $mine instanceof Swoole\Server,
    $mine->port > 0,
    $mine->listen('127.0.0.1', 0, SWOOLE_SOCK_TCP) instanceof Swoole\Server\Port,
    count($mine->ports),
);
$old = new swoole_http_server(host: '127.0.0.1', sock_type: SWOOLE_SOCK_TCP);
var_dump(get_class($old), $old->worker_id, $old->getMasterPid(), $old->connections[7] ?? null);
// A native server has its own classes.
var_dump(get_class((new Apus\Http\Server('127.0.0.1'))->ports[0]));
try {
    new Swoole\Server('127.0.0.1', $old->port);
} catch (Swoole\Exception $e) {
    echo get_class($e), "\n";
}
try {
    new Swoole\Coroutine\Http\Server('127.0.0.1', $old->port);
} catch (Swoole\Exception $e) {
    echo get_class($e), "\n";
}
?>
--EXPECT--
Swoole\Server
Swoole\Http\Server extends Swoole\Server
Swoole\WebSocket\Server extends Swoole\Http\Server
Swoole\Server\Port
Swoole\Server\Task
Swoole\Http\Request
Swoole\Http\Response
Swoole\Connection\Iterator
Swoole\Coroutine\Http\Server
Swoole\Coroutine\Server
Swoole\Coroutine\Server\Connection
Swoole\WebSocket\Frame
Swoole\WebSocket\CloseFrame extends Swoole\WebSocket\Frame
Swoole\Http\Server::__construct(string $host = '0.0.0.0', int $port = 0, int $mode = 1, int $sock_type = 1)
Swoole\Server::on(string $event_name, callable $callback)
Swoole\Server::task(mixed $data, int $taskWorkerIndex = -1, ?callable $finishCallback = NULL)
Swoole\Server::getClientList(int $start_fd = 0, int $find_count = 10)
Swoole\Server::bind(int $fd, int $uid)
Swoole\WebSocket\Server::push(int $fd, Swoole\WebSocket\Frame|string $data, int $opcode = 1, int $flags = 1)
Swoole\Http\Response::status(int $http_code, string $reason = '')
Swoole\Http\Response::redirect(string $location, int $http_code = 302)
setting connections host port type mode ports master_pid manager_pid worker_id taskworker worker_pid ssl stats_timer admin_server
bool(true)
bool(true)
bool(true)
int(2)
string(18) "Swoole\Http\Server"
int(-1)
int(0)
NULL
string(16) "Apus\Server\Port"
Swoole\Exception
Swoole\Exception
