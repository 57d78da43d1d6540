--TEST--
The PHP library: handles of curl as swoole_curl_* have them, and requests by each of the three means
--EXTENSIONS--
curl
--INI--
apus.swoole_compat=1
--FILE--
<?php
$served = function (): array {
    $server = stream_socket_server('tcp://127.0.0.1:0');
    Apus\go(function () use ($server): void {
        while ($client = @stream_socket_accept($server, 30)) {
            $head = '';
            while (!str_contains($head, "\r\n\r\n")) {
                $head .= fread($client, 8192);
            }
            $path = explode(' ', $head)[1];
            $cookie = preg_match('~^Cookie: (.*)\r~mi', $head, $found) ? $found[1] : '-';
            $body = explode(' ', $head)[0] . " {$path} {$cookie}";
            fwrite($client, "HTTP/1.1 200 OK\r\nConnection: close\r\nX-A: b\r\nSet-Cookie: c=d; path=/\r\nContent-Length: " . strlen($body) . "\r\n\r\n{$body}");
            fclose($client);
            if ($path === '/stop') {
                fclose($server);
                break;
            }
        }
    });
    return [$server, 'http://' . stream_socket_get_name($server, false)];
};
Co\run(function () use ($served): void {
    [, $url] = $served();
    $handle = swoole_curl_init("{$url}/one");
    var_dump($handle instanceof Swoole\Curl\Handler);
    $lines = 0;
    swoole_curl_setopt_array($handle, [
        CURLOPT_RETURNTRANSFER => true,
        CURLOPT_HEADERFUNCTION => function (Swoole\Curl\Handler $same, string $line) use ($handle, &$lines): int {
            $lines += $same === $handle ? 1 : 0;
            return strlen($line);
        },
    ]);
    var_dump(swoole_curl_exec($handle), swoole_curl_getinfo($handle, CURLINFO_HTTP_CODE), $lines > 3);
    var_dump(swoole_curl_multi_getcontent($handle), swoole_curl_errno($handle), swoole_curl_getinfo($handle)['http_code']);
    swoole_curl_reset($handle);
    swoole_curl_setopt($handle, CURLOPT_URL, 'nonsense://x');
    var_dump(swoole_curl_exec($handle), swoole_curl_errno($handle));
    swoole_curl_close($handle);
    var_dump(@swoole_curl_exec($handle));

    foreach (['curl', 'stream'] as $driver) {
        swoole_library_set_option('http_client_driver', $driver);
        $answer = Swoole\Coroutine\Http\post("{$url}/two", ['a' => 1], ['timeout' => 30], ['X-B' => 'c'], ['k' => 'v']);
        var_dump($answer->getBody(), $answer->getStatusCode());
        var_dump($answer->getHeaders()['x-a'][0] ?? null, $answer->getCookies()['c'] ?? null);
    }
    Swoole\Coroutine\Http\get("{$url}/stop");
    try {
        Swoole\Coroutine\Http\get('http://127.0.0.1:1/');
    } catch (Swoole\Coroutine\Http\Client\Exception $e) {
        echo "refused\n";
    }
});
?>
--EXPECT--
bool(true)
string(10) "GET /one -"
int(200)
bool(true)
string(10) "GET /one -"
int(0)
int(200)
bool(false)
int(1)
bool(false)
string(13) "POST /two k=v"
int(200)
string(1) "b"
string(1) "d"
string(13) "POST /two k=v"
int(200)
NULL
NULL
refused
