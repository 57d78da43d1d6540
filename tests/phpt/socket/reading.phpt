--TEST--
Coroutine\Socket: recv, recvAll, recvLine, recvWithBuffer, peek and vectors share one stream, and nothing is lost between them
--FILE--
<?php
use function Apus\Coroutine\run;

require __DIR__ . '/pair.inc';
run(function () {
    [$near, $far] = pair();
    $far->sendAll("one\ntwo\r\nthree");
    show('line', $near->recvLine(), $near);
    show('peek', $near->peek(3), $near);
    show('line', $near->recvLine(), $near);
    show('line', $near->recvLine(), $near);
    show('line that has no end yet', $near->recvLine(100, 0.01), $near);
    show('two of it', $near->recvLine(2), $near);
    show('the rest', $near->recv(), $near);
    $far->sendAll('abcdefgh');
    show('buffered', $near->recvWithBuffer(3), $near);
    show('buffered', $near->recvWithBuffer(3), $near);
    show('the rest', $near->recv(), $near);
    show('all, cut off', (fn() => $far->sendAll('1234') && 0)() ?: $near->recvAll(6, 0.01), $near);
    $far->sendAll('123456789');
    show('all', $near->recvAll(6), $near);
    show('vector', $near->readVector([1, 1, 5]), $near);
    $far->sendAll('abcdef');
    show('vector', $near->readVectorAll([2, 3, 1]), $near);
    show('write', $far->writeVectorAll(['x', '', 'yz']), $far);
    show('write', $far->writeVector(['!']), $far);
    show('all', $near->recvAll(4), $near);
    show('peek', $near->peek(), $near);
    $far->close();
    $far->close();
    show('end', $near->recv(), $near);
    show('end', $near->recvAll(), $near);
    show('end', $near->recvLine(), $near);
    show('end', $near->recvWithBuffer(), $near);
    show('end', $near->recvPacket(), $near);
    show('end', $near->peek(), $near);
    show('alive', $near->checkLiveness(), $near);
    $near->close();
    show('closed', $near->recv(), $near);
    show('closed', $near->send('x'), $near);
    show('closed', $near->getpeername(), $near);
});
?>
--EXPECT--
line: "one\n"
peek: "two"
line: "two\r"
line: "\n"
line that has no end yet: false [110 Connection timed out]
two of it: "th"
the rest: "ree"
buffered: "abc"
buffered: "def"
the rest: "gh"
all, cut off: "1234" [110 Connection timed out]
all: "123456"
vector: ["7","8","9"]
vector: ["ab","cde","f"]
write: 3
write: 1
all: "xyz!"
peek: false [11 Resource temporarily unavailable]
end: ""
end: ""
end: ""
end: ""
end: ""
end: ""
alive: false [104 Connection reset by peer]
closed: false [9 Bad file descriptor]
closed: false [9 Bad file descriptor]
closed: false [9 Bad file descriptor]
