--TEST--
Under the names of Swoole close() lets those go on who waited, two users of a socket are an error, locks pass the time
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Coroutine;
use Swoole\Coroutine\Socket;

echo "-- outside\n";
var_dump(Swoole\Runtime::getHookFlags() === SWOOLE_HOOK_ALL);
$scheduler = new Coroutine\Scheduler();
var_dump($scheduler->start());
$lock = new Swoole\Lock();
var_dump($lock->lock(), $lock->lock(LOCK_EX, 0.01), $lock->errCode === SOCKET_ETIMEDOUT, $lock->lock(LOCK_NB));
$own = new Apus\Lock();
var_dump($own->lock(), $own->lock(LOCK_EX, 60), $own->errCode);

$listener = stream_socket_server('tcp://127.0.0.1:0');
$port = (int) substr(strrchr(stream_socket_get_name($listener, false), ':'), 1);
$client = new Swoole\Client(SWOOLE_SOCK_TCP);
var_dump($client->connect('127.0.0.1', $port, 0.01), $client->recv(), $client->errCode === SOCKET_EAGAIN);

Coroutine\run(function () use ($port) {
    $waits = [
        'Socket' => [$socket = new Socket(AF_INET, SOCK_STREAM), fn () => $socket->recv()],
        'Client' => [$client = new Coroutine\Client(SWOOLE_SOCK_TCP), fn () => $client->recv(-1)],
        'Http\Client' => [$http = new Coroutine\Http\Client('127.0.0.1', $port), fn () => $http->get('/')],
    ];
    $socket->connect('127.0.0.1', $port);
    $client->connect('127.0.0.1', $port);
    foreach ($waits as $name => [$object, $wait]) {
        echo "-- $name\n";
        go(function () use ($object, $wait) {
            var_dump($wait(), $object->errCode === SOCKET_ECANCELED);
        });
        $object->close();
        echo "closed\n";
    }

    echo "-- two readers\n";
    $pair = new Socket(AF_INET, SOCK_STREAM);
    $pair->connect('127.0.0.1', $port);
    $reader = go(fn () => $pair->recv());
    try {
        $pair->recv();
    } catch (Swoole\Error $error) {
        echo $error->getMessage(), "\n";
    }
    var_dump(Coroutine::join([$reader, $reader], 0.01), swoole_last_error() === SWOOLE_ERROR_WRONG_OPERATION);
    $pair->close();

    echo "-- lock\n";
    $lock = new Coroutine\Lock();
    var_dump($lock->lock(LOCK_NB), $lock->unlock());
});
?>
--EXPECTF--
-- outside
bool(true)

Warning: Swoole\Coroutine\Scheduler::start(): no coroutine task in %s on line %d
bool(false)
bool(true)
bool(false)
bool(true)
bool(false)
bool(true)
bool(false)
int(35)
bool(true)
bool(false)
bool(true)
-- Socket
bool(false)
bool(true)
closed
-- Client
bool(false)
bool(true)
closed
-- Http\Client
bool(false)
bool(true)
closed
-- two readers
Socket#%d has already been bound to another coroutine#%d, reading of the same socket in coroutine#%d at the same time is not allowed
bool(false)
bool(true)
-- lock
bool(true)
bool(true)
