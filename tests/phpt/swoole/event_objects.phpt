--TEST--
Swoole\Server: with event_object callbacks get objects of Swoole\Server\Event, Packet, PipeMessage and TaskResult
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Server;

$server = new Server('127.0.0.1', 0);
$udp = $server->listen('127.0.0.1', 0, SWOOLE_SOCK_UDP);
$server->set(['worker_num' => 1, 'task_worker_num' => 1, 'event_object' => true, 'blocked_loop_warn' => 0]);
$server->on('connect', fn (Server $server, Server\Event $event) => print("connect $event->fd " . json_encode($event->data) . "\n"));
$server->on('receive', function (Server $server, Server\Event $event) {
    echo "receive $event->fd $event->reactor_id $event->data ", json_encode($event->dispatch_time > 1e9), "\n";
    $server->sendMessage('mail', $server->worker_id);
});
$server->on('pipemessage', function (Server $server, Server\PipeMessage $message) {
    echo "pipemessage $message->source_worker_id $message->worker_id $message->data\n";
    $server->task('work');
});
$server->on('task', function (Server $server, Server\Task $task) {
    $task->finish("$task->data done");
});
$server->on('finish', function (Server $server, Server\TaskResult $result) use ($udp) {
    echo "finish $result->task_id $result->data\n";
    $client = stream_socket_client("udp://127.0.0.1:$udp->port");
    fwrite($client, 'datagram');
});
$server->on('packet', function (Server $server, Server\Packet $packet) use ($udp) {
    echo "packet $packet->address $packet->data ", json_encode([$packet->port > 0, $packet->server_port === $udp->port]), "\n";
    fclose($GLOBALS['client']);
});
$server->on('close', function (Server $server, Server\Event $event) {
    echo "close $event->fd\n";
    $server->shutdown();
});
$server->on('workerstart', function (Server $server) {
    $server->taskworker || go(function () use ($server) {
        $GLOBALS['client'] = stream_socket_client("tcp://127.0.0.1:$server->port");
        fwrite($GLOBALS['client'], 'hello');
    });
});
$server->start();
$status = new ReflectionClass(Server\StatusInfo::class);
echo implode(' ', array_column($status->getProperties(), 'name')), "\n";
?>
--EXPECT--
connect 1 null
receive 1 0 hello true
pipemessage 0 0 mail
finish 0 work done
packet 127.0.0.1 datagram [true,true]
close 1
worker_id worker_pid status exit_code signal
