--TEST--
Coroutine\Socket::shutdown(): one side ends, the other goes on
--FILE--
<?php
use function Apus\Coroutine\run;
use function Apus\go;

require __DIR__ . '/pair.inc';
run(function () {
    [$near, $far] = pair();
    $id = go(function () use ($far) {
        $question = $far->recvAll(1 << 20);
        show('question', $question, $far);
        show('answer', $far->sendAll(strrev($question)), $far);
        $far->close();
    });
    $near->sendAll('olleh');
    show('end writing', $near->shutdown(1), $near);
    show('write', $near->send('x'), $near);
    show('answer', $near->recvAll(1 << 20), $near);
    show('end reading', $near->shutdown(0), $near);
    [$near, $far] = pair();
    show('both', $near->shutdown(), $near);
    show('recv', $near->recv(), $near);
    show('peer', $far->recv(), $far);
    show('again', (new Apus\Coroutine\Socket(Apus\AF_INET, Apus\SOCK_STREAM))->shutdown(), $near);
    try {
        $near->shutdown(7);
    } catch (ValueError $e) {
        echo $e->getMessage(), "\n";
    }
});
?>
--EXPECT--
end writing: true
write: false [32 Broken pipe]
question: "olleh"
answer: 5
answer: "hello"
end reading: false [107 Transport endpoint is not connected]
both: true
recv: ""
peer: ""
again: false
Apus\Coroutine\Socket::shutdown(): Argument #1 ($how) must be 0 (reading), 1 (writing) or 2 (both), 7 given
