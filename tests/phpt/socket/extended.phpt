--TEST--
Coroutine\Socket can be extended and imported; sendFile() sends regular files
--FILE--
<?php
use Apus\Coroutine\Socket;
use function Apus\Coroutine\run;

require __DIR__ . '/pair.inc';
class Lines extends Socket
{
    public int $read = 0;

    public function line(): string|false
    {
        $line = $this->recvLine();
        $this->read += (int) ($line !== false);
        return $line;
    }
}
class Forgetful extends Socket
{
    public function __construct()
    {
    }
}
run(function () {
    $server = new Socket(Apus\AF_INET, Apus\SOCK_STREAM);
    $server->bind('127.0.0.1');
    $server->listen();
    $lines = new Lines(Apus\AF_INET, Apus\SOCK_STREAM);
    $lines->connect('127.0.0.1', $server->getsockname()['port']);
    $peer = $server->accept();
    var_dump(get_class($peer));
    $path = tempnam(sys_get_temp_dir(), 'apus');
    $text = "first\n" . str_repeat('x', 700_000) . "\nlast\n";
    file_put_contents($path, $text);
    $sent = new Apus\Coroutine\Channel(1);
    Apus\go(fn() => $sent->push($peer->sendFile($path)));
    show('line', $lines->line(), $lines);
    var_dump(strlen($lines->recvAll(strlen($text) - 6)), $lines->read);
    // How much of it the kernel takes at once is its own affair.
    show('sendFile', $sent->pop(), $peer);
    show('part', $peer->sendFile($path, 2, 3), $peer);
    show('part', $lines->recv(), $lines);
    show('beyond', $peer->sendFile($path, 0, strlen($text) + 1), $peer);
    show('no file', $peer->sendFile("$path.none"), $peer);
    show('a folder', $peer->sendFile(sys_get_temp_dir()), $peer);
    unlink($path);

    [$left, $right] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    $socket = Socket::import($left);
    var_dump(get_class($socket), $socket->domain, $socket->type);
    fwrite($right, 'through a stream');
    show('imported', $socket->recv(), $socket);
    fclose($left);
    show('its own', $socket->send('x'), $socket);
    var_dump(fread($right, 1));
    foreach ([fopen("php://memory", "r"), new stdClass] as $other) {
        try {
            var_dump(Socket::import($other));
        } catch (TypeError $e) {
            echo $e->getMessage(), "\n";
        }
    }
    var_dump(Socket::import(fopen(__FILE__, "r")));
    try {
        (new Forgetful)->recv();
    } catch (Error $e) {
        echo $e->getMessage(), "\n";
    }
});
?>
--EXPECTF--
string(21) "Apus\Coroutine\Socket"
line: "first\n"
int(700006)
int(1)
sendFile: true
part: true
part: "rst"
beyond: false [22 the file has %d bytes: offset and length reach beyond it]
no file: false [2 No such file or directory]
a folder: false [22 not a regular file]
string(21) "Apus\Coroutine\Socket"
int(1)
int(1)
imported: "through a stream"
its own: 1
string(1) "x"
Apus\Coroutine\Socket::import(): Argument #1 ($stream) must be of type resource (an open stream) or Socket, resource given
Apus\Coroutine\Socket::import(): Argument #1 ($stream) must be of type resource (an open stream) or Socket, stdClass given
bool(false)
Apus\Coroutine\Socket was not constructed: call parent::__construct() first
