--TEST--
Coroutine\Socket::recvPacket(): a message is put together however the stream is cut, by length, by marker and by function
--FILE--
<?php
use Apus\Coroutine;
use function Apus\Coroutine\run;
use function Apus\go;

require __DIR__ . '/pair.inc';

function cut(array $settings, array $messages): void
{
    $stream = implode('', $messages);
    // At every byte, in two pieces; and once byte by byte.
    for ($at = 0; $at <= strlen($stream); $at++) {
        $pieces = $at ? [substr($stream, 0, $at), substr($stream, $at)] : str_split($stream);
        [$near, $far] = pair();
        $near->setProtocol($settings);
        go(function () use ($far, $pieces) {
            foreach ($pieces as $piece) {
                if ($piece !== '') {
                    $far->sendAll($piece);
                    Coroutine::sleep(0);
                }
            }
            $far->close();
        });
        $got = [];
        while (($message = $near->recvPacket(5)) !== '' && $message !== false) {
            $got[] = $message;
        }
        if ($got !== $messages || $near->errCode) {
            echo "cut at $at: ", json_encode($got), " $near->errMsg\n";
        }
        $near->close();
    }
    echo count($messages), " messages, cut $at ways\n";
}

run(function () {
    cut(
        ['open_length_check' => true, 'package_length_type' => 'N', 'package_length_offset' => 2, 'package_body_offset' => 6],
        ["hd\0\0\0\5hello", "HD\0\0\0\0", "hd\0\0\0\1!"],
    );
    cut(['open_length_check' => 1, 'package_length_type' => 'v', 'package_body_offset' => 0], ["\5\0abc", "\2\0", "\3\0z"]);
    cut(['open_eof_check' => true, 'package_eof' => "\xff\r\n"], ["one\xff\r\n", "\xff\r\n", "\xff\r two \xff\xff\r\n"]);
    cut(
        ['open_length_check' => true, 'package_length_func' => fn(string $data) => strlen($data) < 2 ? 0 : 2 + (int) $data[1]],
        ["a3xyz", "b0", "c1."],
    );
});
?>
--EXPECT--
3 messages, cut 25 ways
3 messages, cut 11 ways
3 messages, cut 21 ways
3 messages, cut 11 ways
