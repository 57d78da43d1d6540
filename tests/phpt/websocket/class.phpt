--TEST--
WebSocket\Server: what it is, its methods and constants
--FILE--
<?php
use Apus\WebSocket\Server;

$class = new ReflectionClass(Server::class);
var_dump($class->getParentClass()->name, $class->isFinal());
foreach (['push', 'tryPush', 'disconnect', 'isEstablished', 'ping', 'pack', 'unpack'] as $name) {
    $method = new ReflectionMethod(Server::class, $name);
    $parameters = array_map(
        fn (ReflectionParameter $p) => $p->getType() . " \$$p->name"
            . ($p->isOptional() ? ' = ' . json_encode($p->getDefaultValue()) : ''),
        $method->getParameters(),
    );
    echo $method->isStatic() ? 'static ' : '', "$name(", implode(', ', $parameters), '): ', $method->getReturnType(), "\n";
}
var_dump(Apus\PUSH_SENT, Apus\PUSH_BUFFERED, Apus\PUSH_DROPPED, Apus\PUSH_GONE);
$server = new class('127.0.0.1', 0) extends Server {};
var_dump($server instanceof Apus\Http\Server, $server->port > 0);
echo bin2hex(Server::pack('Hello')), ' ', Server::unpack(Server::pack('Hello'))->data, "\n";
?>
--EXPECT--
string(16) "Apus\Http\Server"
bool(false)
push(int $fd, Apus\WebSocket\Frame|string $data, int $opcode = 1, int $flags = 1): bool
tryPush(int $fd, Apus\WebSocket\Frame|string $data, int $opcode = 1, int $flags = 1): int
disconnect(int $fd, int $code = 1000, string $reason = ""): bool
isEstablished(int $fd): bool
ping(int $fd, string $data = ""): bool
static pack(Apus\WebSocket\Frame|string $data, int $opcode = 1, int $flags = 1): string
static unpack(string $data): Apus\WebSocket\Frame|false
int(1)
int(2)
int(0)
int(-1)
bool(true)
bool(true)
810548656c6c6f Hello
