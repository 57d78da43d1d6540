--TEST--
curl_multi_add_handle() while another coroutine selects on the same handle: both transfers come, the select is woken
--EXTENSIONS--
curl
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\Channel;
use function Apus\Coroutine\run;
use function Apus\go;

run(function () {
    $server = stream_socket_server('tcp://127.0.0.1:0');
    $url = 'http://' . stream_socket_get_name($server, false);
    // Answers the slow one when it has answered the quick one.
    $quick = new Channel(1);
    go(function () use ($server, $quick) {
        for ($i = 0; $i < 2; $i++) {
            $connection = stream_socket_accept($server, 20);
            go(function () use ($connection, $quick) {
                $path = explode(' ', fgets($connection))[1];
                while (trim(fgets($connection)) !== '') {
                }
                $path === '/slow' && $quick->pop();
                fwrite($connection, "HTTP/1.1 200 OK\r\nContent-Length: " . strlen($path) . "\r\nConnection: close\r\n\r\n$path");
                fclose($connection);
                $path === '/quick' && $quick->push(true);
            });
        }
    });
    $multi = curl_multi_init();
    $add = function (string $path) use ($multi, $url) {
        curl_multi_add_handle($multi, $handle = curl_init("$url$path"));
        curl_setopt($handle, CURLOPT_RETURNTRANSFER, true);
        return $handle;
    };
    $selecting = new Channel(1);
    $slow = $add('/slow');
    $first = go(function () use ($multi, $selecting) {
        for ($active = 1, $selects = 0; $active > 0; $selects++) {
            curl_multi_exec($multi, $active);
            if ($active > 0 && curl_multi_select($multi, 20) === 0) {
                $selecting->push('woken', 0);
            }
        }
    });
    usleep(20_000);
    $quicker = $add('/quick');
    echo $selecting->pop(), "\n";
    for ($active = 2; $active > 1;) {
        curl_multi_exec($multi, $active);
        $active > 1 && curl_multi_select($multi, 20);
    }
    Coroutine::join([$first]);
    echo curl_multi_getcontent($quicker), "\n", curl_multi_getcontent($slow), "\n";
});
--EXPECT--
woken
/quick
/slow
