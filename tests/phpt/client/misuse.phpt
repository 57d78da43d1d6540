--TEST--
The HTTP clients: misuse is told in words, nothing needs a connection
--FILE--
<?php
declare(strict_types=1);
use Apus\Coroutine;
use Apus\Coroutine\Http\Client;
use Apus\Coroutine\Http2\Client as Http2;

class Child extends Client
{
    public function __construct()
    {
    }
}

$calls = [
    fn() => new Client(''),
    fn() => new Client('http://example.test/'),
    fn() => new Client("a\nb"),
    fn() => new Client('a.test', 65536),
    fn() => new Client('a.test', -1),
    fn() => new Http2('a test'),
    fn() => (new Child)->get('/'),
    fn() => (new Client('a.test'))->__construct('b.test'),
    fn() => (new Client('a.test'))->get('/'),
    fn() => (new Http2('a.test'))->connect(),
    fn() => Apus\Coroutine\Http\get('http://a.test/'),
    fn() => (new Client('a.test'))->set(['timeuot' => 1]),
    fn() => (new Client('a.test'))->set(['timeout' => 'soon']),
    fn() => (new Client('a.test'))->set(['write_func' => 'no_such_function']),
    fn() => (new Client('a.test'))->set(['bind_address' => 'localhost']),
    fn() => (new Client('a.test'))->set(['max_retries' => -1]),
    fn() => (new Http2('a.test'))->set(['http2_window_size' => 1]),
    fn() => (new Client('a.test'))->set(['ssl_protocols' => 4]),
    fn() => (new Client('a.test'))->setMethod('GET /'),
    fn() => (new Client('a.test'))->setHeaders(["X\n" => '1']),
    fn() => (new Client('a.test'))->setHeaders(['X' => "1\r\nY: 2"]),
    fn() => (new Client('a.test'))->setHeaders(['X' => [[]]]),
    fn() => (new Client('a.test'))->setBasicAuth('a:b', 'c'),
    fn() => (new Client('a.test'))->addFile(__DIR__, 'x'),
    fn() => (new Client('a.test'))->get(),
    fn() => (new Client('a.test'))->setData(1),
];
foreach ($calls as $call) {
    try {
        $call();
        echo "accepted\n";
    } catch (Throwable $e) {
        echo get_class($e), ' ', $e->getCode(), ': ', str_replace(__DIR__, 'DIR', $e->getMessage()), "\n";
    }
}
echo "in a coroutine:\n";
Coroutine\run(function () {
    $client = new Client('127.0.0.1', 1);
    foreach ([
        fn() => $client->get("/a\r\nb"),
        fn() => $client->push('x'),
        fn() => $client->recv(),
        fn() => $client->recv(NAN),
    ] as $call) {
        try {
            var_dump($call());
        } catch (Throwable $e) {
            echo get_class($e), ' ', $e->getCode(), ': ', $e->getMessage(), "\n";
        }
    }
    $client->requestBody = new stdClass;
    try {
        $client->execute('/');
    } catch (Throwable $e) {
        echo get_class($e), ': ', $e->getMessage(), "\n";
    }
    foreach (['no url', 'ftp://a.test/', 'http://'] as $url) {
        try {
            Coroutine\Http\get($url);
        } catch (Throwable $e) {
            echo get_class($e), ': ', $e->getMessage(), "\n";
        }
    }
    try {
        Coroutine\Http\post('http://127.0.0.1:1/', 'data');
    } catch (Throwable $e) {
        echo get_class($e), ' ', $e->getCode(), ': ', $e->getMessage(), "\n";
    }
});
?>
--EXPECT--
Apus\Client\Exception 302: the host must be a name, an IP address or unix:/path, without scheme, port or path
Apus\Client\Exception 302: the host must be a name, an IP address or unix:/path, without scheme, port or path
Apus\Client\Exception 302: the host must be a name, an IP address or unix:/path, without scheme, port or path
Apus\Client\Exception 302: the port must be between 0 and 65535, 65536 given
Apus\Client\Exception 302: the port must be between 0 and 65535, -1 given
Apus\Client\Exception 302: the host must be a name, an IP address or unix:/path, without scheme, port or path
Error 0: Apus\Coroutine\Http\Client was not constructed: call parent::__construct() first
Error 0: Apus\Coroutine\Http\Client is already constructed
Apus\Coroutine\Exception 1: Coroutine\Http\Client::get() waits and needs a coroutine: call it inside Apus\Coroutine\run() or Apus\go()
Apus\Coroutine\Exception 1: Coroutine\Http2\Client::connect() waits and needs a coroutine: call it inside Apus\Coroutine\run() or Apus\go()
Apus\Coroutine\Exception 1: Coroutine\Http\get() waits and needs a coroutine: call it inside Apus\Coroutine\run() or Apus\go()
Apus\Client\Exception 301: unknown setting "timeuot": did you mean "timeout"?
Apus\Client\Exception 301: setting "timeout" must be a number of seconds from -1 to 86400 ("250ms", "10s", "5m" and "2h" work too), "soon" given
Apus\Client\Exception 301: write_func must be callable: function "no_such_function" not found or invalid function name
Apus\Client\Exception 301: bind_address "localhost" is not an IP address
Apus\Client\Exception 301: setting "max_retries" must be a whole number of attempts from 0 to 255, -1 given
Apus\Client\Exception 301: setting "http2_window_size" must be a number of bytes from 65535 to 2147483647 ("512K", "8M" and "2G" work too), 1 given
Apus\Client\Exception 301: setting "ssl_protocols" leaves no version that is spoken: add Apus\SSL_TLSv1_2 or Apus\SSL_TLSv1_3
Apus\Client\Exception 302: method "GET /" is no token (RFC 9110 section 9.1)
Apus\Client\Exception 302: header "X\n": a name is a token, a value is text without control characters, line breaks above all (RFC 9110 section 5)
Apus\Client\Exception 302: header "X": a name is a token, a value is text without control characters, line breaks above all (RFC 9110 section 5)
Apus\Client\Exception 302: header "X": a name is a token, a value is text without control characters, line breaks above all (RFC 9110 section 5)
Apus\Client\Exception 302: a user name of Basic authentication holds no colon (RFC 7617 section 2)
Apus\Client\Exception 302: DIR cannot be uploaded: it is not a regular file
ArgumentCountError 0: Apus\Coroutine\Http\Client::get() expects exactly 1 argument, 0 given
TypeError 0: Apus\Coroutine\Http\Client::setData(): Argument #1 ($data) must be of type string, int given
in a coroutine:
Apus\Client\Exception 302: the path holds control characters: encode it with rawurlencode()
Apus\Client\Exception 303: this client speaks no WebSocket: call upgrade() first, and look at its result
Apus\Client\Exception 303: this client speaks no WebSocket: call upgrade() first, and look at its result
ValueError 0: Apus\Coroutine\Http\Client::recv(): Argument #1 ($timeout) must be a number of seconds (negative for no limit), NAN given
Apus\Client\Exception: $requestBody must be a string or an array of form fields
Apus\Client\Exception: "no url" is no URL of http or https
Apus\Client\Exception: "ftp://a.test/" is no URL of http or https
Apus\Client\Exception: "http://" is no URL of http or https
Apus\Client\Exception 304: POST http://127.0.0.1:1/: no connection to 127.0.0.1:1: Connection refused (os error 111)
