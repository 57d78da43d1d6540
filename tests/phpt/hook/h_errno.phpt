--TEST--
Why a name was not found is told in a coroutine as outside
--EXTENSIONS--
sockets
--FILE--
<?php
use function Apus\Coroutine\run;

$ask = function () {
    $socket = socket_create(AF_INET, SOCK_STREAM, 0);
    @socket_connect($socket, 'no-such-host.invalid', 80);
    return socket_last_error($socket);
};
run(function () use ($ask, &$inside) { $inside = $ask(); });
$outside = $ask();
echo $inside === $outside ? 'the same' : "$inside inside, $outside outside", $outside < -10000 ? '' : ' nothing', "\n";
?>
--EXPECT--
the same
