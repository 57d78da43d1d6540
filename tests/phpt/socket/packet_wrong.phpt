--TEST--
Coroutine\Socket::recvPacket(): a stream that breaks its framing is closed, a cut one is told from an end, a late one goes on
--FILE--
<?php
use function Apus\Coroutine\run;
use function Apus\go;

require __DIR__ . '/pair.inc';

function wrong(string $what, array $settings, string $bytes, bool $end = false): void
{
    [$near, $far] = pair();
    $near->setProtocol($settings + ['package_max_length' => 100]);
    $far->sendAll($bytes);
    if ($end) {
        $far->close();
    }
    show($what, $near->recvPacket(1), $near);
    var_dump($near->isClosed(), $near->fd === -1);
    if (!$end) {
        var_dump($far->recv(1));
    }
}

run(function () {
    $length = ['open_length_check' => true, 'package_length_type' => 'N', 'package_body_offset' => 4];
    wrong('too long', $length, pack('N', 97) . 'abc');
    wrong('far too long', $length, "\xff\xff\xff\xff");
    wrong('negative', ['package_length_type' => 'l'] + $length, pack('l', -5));
    wrong('less than its head', ['package_body_offset' => 0] + $length, pack('N', 3));
    wrong('no end', ['open_eof_check' => true, 'package_eof' => "\n"], str_repeat('x', 100));
    wrong('told wrong', $length + ['package_length_func' => fn() => -1], 'x');
    wrong('told too long', $length + ['package_length_func' => fn() => 101], 'x');
    wrong('never told', $length + ['package_length_func' => fn() => 0], str_repeat('x', 100));
    wrong('cut off', $length, pack('N', 50) . 'abc', true);

    [$near, $far] = pair();
    $near->setProtocol($length);
    $far->sendAll(pack('N', 4) . 'ab');
    show('late', $near->recvPacket(0.01), $near);
    $far->sendAll('cdef');
    show('there', $near->recvPacket(0.01), $near);
    show('what follows', $near->recv(), $near);
    $far->sendAll(pack('N', 2) . 'a');
    $id = go(function () use ($near) {
        show('cancelled', $near->recvPacket(), $near);
    });
    var_dump($near->cancel());
    Apus\Coroutine::join([$id]);
    $far->sendAll('b');
    show('there', $near->recvPacket(), $near);

    $near->setProtocol(['package_length_func' => fn() => 'x']);
    $far->sendAll('y');
    try {
        $near->recvPacket();
    } catch (ValueError $e) {
        echo $e->getMessage(), "\n";
    }
    $near->setProtocol(['package_length_func' => fn() => throw new DomainException('mine')]);
    try {
        $near->recvPacket();
    } catch (DomainException $e) {
        echo $e->getMessage(), "\n";
    }
    show('still there', $near->recv(), $near);
});
?>
--EXPECT--
too long: false [1201 the peer sends a message of 101 bytes, package_max_length allows 100; the connection was closed]
bool(true)
bool(true)
string(0) ""
far too long: false [1201 the peer sends a message of 4294967299 bytes, package_max_length allows 100; the connection was closed]
bool(true)
bool(true)
string(0) ""
negative: false [1202 the peer sends a message whose length would be -1 bytes, but it has 4 at least (see package_length_offset, package_body_offset); the connection was closed]
bool(true)
bool(true)
string(0) ""
less than its head: false [1202 the peer sends a message whose length would be 3 bytes, but it has 4 at least (see package_length_offset, package_body_offset); the connection was closed]
bool(true)
bool(true)
string(0) ""
no end: false [1204 the peer sends 100 bytes (package_max_length) in which no message ends; the connection was closed]
bool(true)
bool(true)
string(0) ""
told wrong: false [1202 the peer sends a message whose length would be -1 bytes, but it has 1 at least (see package_length_offset, package_body_offset); the connection was closed]
bool(true)
bool(true)
string(0) ""
told too long: false [1201 the peer sends a message of 101 bytes, package_max_length allows 100; the connection was closed]
bool(true)
bool(true)
string(0) ""
never told: false [1204 the peer sends 100 bytes (package_max_length) in which no message ends; the connection was closed]
bool(true)
bool(true)
string(0) ""
cut off: false [104 the peer ended the connection inside a message, 7 bytes into it]
bool(false)
bool(false)
late: false [110 Connection timed out]
there: "\u0000\u0000\u0000\u0004abcd"
what follows: "ef"
bool(true)
cancelled: false [125 Operation canceled]
there: "\u0000\u0000\u0000\u0002ab"
package_length_func must return an int: the length of the whole message, 0 to be asked again with more bytes, -1 for wrong bytes
mine
still there: "y"
