--TEST--
Header fields and cookies of clients are bounded as there, with an exception; max_retries tries again; a negative one is refused
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Coroutine\Http\Client;

Co\run(function () {
    $server = new Swoole\Coroutine\Http\Server('127.0.0.1', 0);
    $asked = 0;
    $server->handle('/', function ($request, $response) use (&$asked) {
        $response->status(++$asked < 3 ? 503 : 200);
        $response->end("answer $asked");
    });
    go(fn () => $server->start());
    $client = new Client('127.0.0.1', $server->port);
    foreach ([['x' => str_repeat('a', 65536)], ['cookie' => 'a=' . str_repeat('b', 4096)]] as $fields) {
        $client->setHeaders($fields);
        try {
            $client->get('/');
        } catch (Client\Exception $refused) {
            echo get_class($refused), ': ', $refused->getMessage(), "\n";
        }
    }
    $client->setHeaders([]);
    $client->setCookies(['a' => str_repeat('b', 4095)]);
    try {
        $client->get('/');
    } catch (Client\Exception $refused) {
        echo $refused->getMessage(), "\n";
    }
    $client->setCookies([]);
    var_dump($asked, $client->get('/'), $client->statusCode);
    var_dump($client->set(['max_retries' => -1]), $client->set(['max_retries' => 2]));
    var_dump($client->get('/'), $client->statusCode, $client->body);
    $client->close();
    $server->shutdown();
});
?>
--EXPECTF--
Swoole\Coroutine\Http\Client\Exception: HTTP header block is too large
Swoole\Coroutine\Http\Client\Exception: HTTP cookie header is too large
HTTP cookie header is too large
int(0)
bool(true)
int(503)

Warning: Swoole\Coroutine\Http\Client::set(): %Smax_retries%S in %s on line %d
bool(false)
bool(true)
bool(true)
int(200)
string(8) "answer 3"
