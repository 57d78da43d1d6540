--TEST--
IMAP: each of many coroutines logs in with its own user and password; what is freed while another one is at it waits
--EXTENSIONS--
imap
--FILE--
<?php
use Apus\Coroutine;
use function Apus\Coroutine\{batch, run};
use function Apus\go;

$logins = [];
/** A server of one connection. */
$serve = function ($stream) use (&$logins) {
    $say = fn (string $line) => fwrite($stream, "$line\r\n");
    Coroutine::sleep(0.01);
    $say('* OK hello');
    while (($line = fgets($stream)) !== false) {
        [$tag, $command, $rest] = explode(' ', trim($line), 3) + [2 => ''];
        Coroutine::sleep(0.005);
        switch (strtoupper($command)) {
            case 'CAPABILITY': $say('* CAPABILITY IMAP4rev1'); break;
            case 'LOGIN': $logins[] = $rest; break;
            case 'SELECT': $say('* 3 EXISTS'); break;
            case 'LOGOUT': $say('* BYE'); break;
        }
        $say("$tag OK done");
    }
};
run(function () use ($serve, &$logins) {
    $listener = stream_socket_server('tcp://127.0.0.1:0');
    $at = stream_socket_get_name($listener, false);
    go(function () use ($listener, $serve) {
        for ($i = 0; $i < 6; $i++) {
            $stream = stream_socket_accept($listener);
            go(fn () => $serve($stream));
        }
    });
    $one = fn (string $name) => function () use ($name, $at) {
        $mailbox = imap_open("{{$at}/imap/notls}INBOX", $name, "password-$name", 0, 0);
        return $name . imap_num_msg($mailbox); // freed here, while others open theirs
    };
    echo json_encode(batch(array_map($one, ['a', 'b', 'c', 'd', 'e', 'f']))), "\n";
    sort($logins);
    echo implode(', ', $logins), "\n";
});
?>
--EXPECT--
["a3","b3","c3","d3","e3","f3"]
a password-a, b password-b, c password-c, d password-d, e password-e, f password-f
