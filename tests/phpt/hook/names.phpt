--TEST--
Names are looked up on threads, with the same results
--EXTENSIONS--
sockets
--FILE--
<?php
use Apus\Coroutine;
use function Apus\Coroutine\run;
use function Apus\go;

function look(): array
{
    return [
        gethostbyname('localhost'), gethostbynamel('localhost'), gethostbyname('127.0.0.1'),
        gethostbyaddr('127.0.0.1'), count(socket_addrinfo_lookup('localhost', '80')) > 0,
        @fsockopen('no such host', 80, $code, $text), $text,
    ];
}
$outside = look();
run(function () use ($outside) {
    for ($i = 0; $i < 50; $i++) {
        go(function () use ($outside) {
            if (($inside = look()) !== $outside) {
                echo json_encode($outside), "\n", json_encode($inside), "\n";
            }
        });
    }
});
echo "done\n";
--EXPECT--
done
