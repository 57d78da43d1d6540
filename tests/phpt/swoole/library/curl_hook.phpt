--TEST--
SWOOLE_HOOK_CURL: curl_init() makes handles of the library, which PHP's functions of curl take; SWOOLE_HOOK_NATIVE_CURL does not
--EXTENSIONS--
curl
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Curl\Handler;
use Swoole\Runtime;

Runtime::setHookFlags(SWOOLE_HOOK_NATIVE_CURL);
echo get_class(curl_init()), "\n";
Runtime::setHookFlags(SWOOLE_HOOK_CURL);

Swoole\Coroutine\run(function (): void {
    $server = stream_socket_server('tcp://127.0.0.1:0');
    $url = 'http://' . stream_socket_get_name($server, false) . '/';
    $requests = 0;
    go(function () use ($server, &$requests): void {
        while ($client = @stream_socket_accept($server, 30)) {
            while (!str_contains($head ??= '', "\r\n\r\n") && ($more = fread($client, 8192)) != '') {
                $head .= $more;
            }
            $requests += $head === '' ? 0 : 1;
            @fwrite($client, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello");
            fclose($client);
            $head = null;
        }
    });

    $handle = curl_init($url);
    echo get_class($handle), "\n";
    var_dump(curl_setopt_array($handle, [CURLOPT_RETURNTRANSFER => true, CURLOPT_HTTPHEADER => ['X-A: b']]));
    var_dump(curl_exec($handle), curl_getinfo($handle, CURLINFO_HTTP_CODE), curl_errno($handle), curl_error($handle));

    // What is asked for in vain is told of.
    var_dump(curl_setopt($handle, CURLOPT_HTTPHEADER, 1));
    var_dump(curl_setopt($handle, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_0));

    // Before the request is sent the program is asked, when the peer is known.
    $option = defined('CURLOPT_PREREQFUNCTION') ? CURLOPT_PREREQFUNCTION : constant('Swoole\Curl\CURLOPT_PREREQFUNCTION');
    $said = 0;
    $asks = function (Handler $same, string $peer, string $local, int $port) use (&$said, $handle, $url): int {
        echo $same === $handle ? 'same' : 'other', " {$peer} {$local} ";
        echo parse_url($url, PHP_URL_PORT) === $port ? 'asked' : $port, "\n";
        return $said;
    };
    curl_setopt($handle, $option, $asks);
    var_dump(curl_exec($handle));
    [$said, $before] = [1, $requests];
    var_dump(curl_exec($handle), curl_errno($handle), $requests - $before);
    curl_close($handle);

    $handle = curl_init('1scheme://host');
    var_dump(curl_exec($handle), curl_errno($handle), curl_error($handle));
    fclose($server);
});

Runtime::setHookFlags(SWOOLE_HOOK_ALL);
echo get_class(curl_init()), "\n";
?>
--EXPECTF--
CurlHandle
Swoole\Curl\Handler
bool(true)
string(5) "hello"
int(200)
int(0)
string(0) ""

Warning: swoole_curl_setopt(): You must pass either an object or an array with the CURLOPT_HTTPHEADER argument in %s on line %d
bool(false)

Warning: swoole_curl_setopt(): CURLOPT_HTTP_VERSION[1] is not supported in %s on line %d
bool(false)
same 127.0.0.1 127.0.0.1 asked
string(5) "hello"
same 127.0.0.1 127.0.0.1 asked
bool(false)
int(42)
int(0)
bool(false)
int(3)
string(42) "No URL set or URL using bad/illegal format"
CurlHandle
