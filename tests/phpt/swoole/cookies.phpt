--TEST--
Swoole\Http\Cookie and Response::cookie(): encoded as forms, no path of its own, dates with dashes; fields of one name are an array
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Http\Cookie;

$server = new Swoole\Http\Server('127.0.0.1', 0);
$server->set(['worker_num' => 1, 'log_level' => SWOOLE_LOG_NONE]);
$server->on('request', function (Swoole\Http\Request $request, Swoole\Http\Response $response) {
    echo json_encode([$request->header['x-one'], $request->header['x-two'], $request->header['cookie']]), "\n";
    $response->cookie('a', "1 2~3,\u{e9}");
    $response->cookie('gone', '');
    $response->cookie('session', 'x', -1);
    $response->cookie('full', 'y', 4102444800, '/p', 'example.org', true, true, 'Lax', 'High', true);
    $response->rawcookie('raw', 'a%20b');
    $cookie = (new Cookie())->withName('object')->withValue('o o')->withPath('/')->withHttpOnly(true)->withPartitioned(true);
    var_dump($response->cookie($cookie));
    var_dump($cookie->toString());
    var_dump(@$response->setCookie(new Cookie()));
    $cookie->reset();
    var_dump($cookie->toArray()['name'], @(new Cookie(false))->withName('n')->withValue('a b')->toString());
    var_dump((new Cookie())->withName('gone')->toString());
    $response->end();
});
$server->on('workerstart', function ($server) {
    go(function () use ($server) {
        $socket = stream_socket_client("tcp://127.0.0.1:$server->port");
        fwrite($socket, "GET / HTTP/1.1\r\nHost: h\r\nX-One: 1\r\nX-Two: 1\r\nx-two: 2\r\nX-TWO: 3\r\nCookie: a=1\r\n"
            . "Cookie: b=2\r\nConnection: close\r\n\r\n");
        preg_match_all('/^Set-Cookie: (.*)\r$/m', stream_get_contents($socket), $found);
        echo preg_replace('/Max-Age=[1-9]\d+/', 'Max-Age=N', implode("\n", $found[1])), "\n";
        $server->shutdown();
    });
});
$server->start();
try {
    clone new Cookie();
} catch (Error $error) {
    echo $error->getMessage(), "\n";
}
$unmade = new class extends Cookie {
    public function __construct()
    {
    }
};
var_dump($unmade->toString(), swoole_last_error() === SWOOLE_ERROR_HTTP_COOKIE_UNAVAILABLE);
try {
    $unmade->withName('name');
} catch (Error $error) {
    echo $error->getMessage(), "\n";
}
?>
--EXPECT--
["1",["1","2","3"],"a=1; b=2"]
bool(true)
string(41) "object=o+o; path=/; HttpOnly; Partitioned"
bool(false)
string(0) ""
bool(false)
string(62) "gone=deleted; expires=Thu, 01-Jan-1970 00:00:01 GMT; Max-Age=0"
a=1+2%7E3%2C%C3%A9
gone=deleted; expires=Thu, 01-Jan-1970 00:00:01 GMT; Max-Age=0
session=x
full=y; expires=Fri, 01-Jan-2100 00:00:00 GMT; Max-Age=N; path=/p; domain=example.org; secure; HttpOnly; SameSite=Lax; Priority=High; Partitioned
raw=a%20b
object=o+o; path=/; HttpOnly; Partitioned
Trying to clone an uncloneable object of class Swoole\Http\Cookie
bool(false)
bool(true)
Swoole\Http\Cookie is not initialized
