--TEST--
A client that two coroutines share by mistake is noticed before the second one has sent anything; a reader beside a writer is not
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\Channel;
use Apus\Coroutine\ConflictException;
use function Apus\Coroutine\run;
use function Apus\go;

function pair(): array
{
    return stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
}
/** What a client in PHP does: a question, an answer of a line and of as many bytes as that says. */
function ask($stream, string $question, ?Channel $begun = null): string
{
    fwrite($stream, "$question\n");
    $length = fgets($stream);
    if ($length === false) {
        return 'no answer';
    }
    $begun?->push(true);
    for ($answer = ''; strlen($answer) < (int) $length;) {
        $part = fread($stream, (int) $length - strlen($answer));
        if ($part === '' || $part === false) {
            return 'half an answer';
        }
        $answer .= $part;
    }
    return $answer;
}
function attempt(string $what, callable $do): void
{
    try {
        $result = $do();
        echo "$what: ", json_encode($result), "\n";
    } catch (ConflictException) {
        echo "$what: refused\n";
    }
}
run(function () {
    [$client, $server] = pair();
    $alice = go(fn () => attempt('alice', fn () => ask($client, 'alice')));
    attempt('bob', fn () => ask($client, 'bob'));
    echo 'the server has got: ', json_encode(fread($server, 1000)), "\n";
    fwrite($server, "5\nhello");
    Coroutine::join([$alice]);
    // In turn it may be shared.
    $bob = go(fn () => attempt('bob again', fn () => ask($client, 'bob')));
    echo fgets($server);
    fwrite($server, "2\nok");
    Coroutine::join([$bob]);

    // The answer comes in two halves: the question goes out, but nobody gets another's answer.
    [$client, $server] = pair();
    $begun = new Channel(1);
    $alice = go(fn () => attempt('alice', fn () => ask($client, 'alice', $begun)));
    fgets($server);
    fwrite($server, "9\nhalf");
    $begun->pop();
    // The one who said so goes on before this ends, and waits for the rest.
    usleep(1_000);
    attempt('bob', fn () => ask($client, 'bob'));
    Coroutine::join([$alice]);
    @fwrite($server, "9\nfor bob..");
    attempt('alice', fn () => fgets($client));
});
// One reads, another one writes: whoever has greeted, and though the reader answers now and then.
run(function () {
    [$line, $peer] = pair();
    fwrite($line, "greeting\n");
    fwrite($peer, "welcome\n");
    echo fgets($line);
    $reader = go(function () use ($line) {
        while (($got = fgets($line)) !== false) {
            echo "got $got";
            if ($got === "ping\n") {
                fwrite($line, "pong\n");
            }
        }
    });
    $writer = function (string $text) use ($line) { attempt("write $text", fn () => fwrite($line, "$text\n")); };
    $say = new Channel(1);
    go(function () use ($writer, $say) { while (is_string($text = $say->pop())) { $writer($text); } });
    $arrives = function (string ...$lines) use ($peer) {
        foreach ($lines as $line) { if (($got = fgets($peer)) !== "$line\n") { echo "not $line: $got"; } }
    };
    $say->push('one');
    $arrives('greeting', 'one');
    fwrite($peer, "ping\n");
    $arrives('pong');
    $say->push('two');
    $arrives('two');
    fwrite($peer, "ping\n");
    $say->push('three');
    $arrives('three', 'pong');
    $say->push(false);
    fclose($peer);
    Coroutine::join([$reader]);
});
--EXPECT--
bob: refused
the server has got: "alice\n"
alice: "hello"
bob
bob again: "ok"
bob: refused
alice: "half an answer"
alice: false
welcome
write one: 4
got ping
write two: 4
write three: 6
got ping
