--TEST--
Users, topics and messages between workers: only inside workers; arguments are looked at first
--FILE--
<?php
$server = new Apus\WebSocket\Server('127.0.0.1', 0);
$calls = [
    fn () => $server->bind(1, 'user'),
    fn () => $server->bind(1, 17),
    fn () => $server->unbind(1),
    fn () => $server->subscribe(1, 'topic'),
    fn () => $server->unsubscribe(1),
    fn () => $server->sendToUser('user', 'data'),
    fn () => $server->publish('topic', 'data'),
    fn () => $server->isOnline('user'),
    fn () => $server->userConnections('user'),
    fn () => $server->subscribers('topic'),
    fn () => $server->presence('topic'),
    fn () => $server->sendMessage('data', 0),
    fn () => $server->bind(1, ''),
    fn () => $server->subscribe(1, str_repeat('x', 257)),
    fn () => $server->bind(1, 1.5),
    fn () => $server->bind(1),
    fn () => $server->publish('topic', 'data', Apus\WEBSOCKET_OPCODE_CLOSE),
    fn () => $server->publish('topic', 'data', 1, 0),
    fn () => $server->sendToUser('user', "\xff", Apus\WEBSOCKET_OPCODE_TEXT),
];
foreach ($calls as $call) {
    try {
        var_dump($call());
    } catch (Throwable $e) {
        echo get_class($e), ': ', $e->getMessage(), "\n";
    }
}
?>
--EXPECT--
Apus\Server\Exception: Server::bind() works inside a worker, after start()
Apus\Server\Exception: Server::bind() works inside a worker, after start()
Apus\Server\Exception: Server::unbind() works inside a worker, after start()
Apus\Server\Exception: Server::subscribe() works inside a worker, after start()
Apus\Server\Exception: Server::unsubscribe() works inside a worker, after start()
Apus\Server\Exception: Server::sendToUser() works inside a worker, after start()
Apus\Server\Exception: Server::publish() works inside a worker, after start()
Apus\Server\Exception: Server::isOnline() works inside a worker, after start()
Apus\Server\Exception: Server::userConnections() works inside a worker, after start()
Apus\Server\Exception: Server::subscribers() works inside a worker, after start()
Apus\Server\Exception: Server::presence() works inside a worker, after start()
Apus\Server\Exception: Server::sendMessage() works inside a worker, after start()
ValueError: Apus\Server::bind(): Argument #2 ($user) must have 1 to 256 bytes, 0 given
ValueError: Apus\Server::subscribe(): Argument #2 ($topic) must have 1 to 256 bytes, 257 given
TypeError: Apus\Server::bind(): Argument #2 ($user) must be of type string|int, float given
ArgumentCountError: Apus\Server::bind() expects exactly 2 arguments, 1 given
ValueError: Apus\Server::publish(): Argument #2 ($data) must be a whole message: text, binary, or a ping
ValueError: Apus\Server::publish(): Argument #2 ($data) must be a whole message: text, binary, or a ping
Apus\Client\Exception: a text message must be UTF-8: send other bytes with WEBSOCKET_OPCODE_BINARY
