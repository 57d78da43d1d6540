--TEST--
Swoole\Http\Request: create(), parse() and isCompleted() read bytes in any pieces; Response::create() answers over a socket or a stream
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Http\{Request, Response};

$head = "POST /form/a%20b?x=1&y[]=2 HTTP/1.1\r\nHost: example.org\r\nCookie: c=d%21; e=f\r\n"
    . "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 7\r\n\r\n";
$all = $head . 'u=v&w=z';

$request = Request::create();
echo json_encode([$request->header, $request->server, $request->get]), "\n";
echo json_encode([$request->isCompleted(), $request->getMethod(), $request->getData()]), "\n";
foreach (str_split($all, 10) as $piece) {
    $taken = $request->parse($piece);
    if ($taken !== strlen($piece)) {
        var_dump($taken);
    }
}
echo json_encode([$request->isCompleted(), $request->getMethod(), $request->get, $request->post]), "\n";
echo json_encode([$request->cookie, $request->files]), "\n";
echo $request->server['request_method'], ' ', $request->server['request_uri'], ' ', $request->server['path_info'], ' ',
    $request->server['query_string'], ' ', $request->header['host'], ' ', $request->rawContent(), "\n";
var_dump($request->getData() === $all, $request->parse('GET'));

// What follows belongs to another request.
$two = Request::create();
var_dump($two->parse($all . 'GET / HTTP/1.1') === strlen($all), $two->isCompleted());

// No form, no cookies; without a Host; the method is known before the head is.
$plain = Request::create(['parse_cookie' => false, 'parse_body' => false]);
$plain->parse($all);
echo json_encode([$plain->cookie, $plain->post, $plain->rawContent()]), "\n";
$early = Request::create();
$early->parse("PUT / HTTP/1.1\r\n");
echo json_encode([$early->getMethod(), $early->isCompleted(), $early->parse("\r\n"), $early->isCompleted()]), "\n";

// What is no request, and what has no bounds.
var_dump(Request::create()->parse("\0\1\r\n\r\n"), Request::create()->parse('GET /' . str_repeat('a', 1 << 20)));
$big = Request::create();
var_dump($big->parse("POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n"), $big->parse('a'), $big->isCompleted());

// A file.
$body = "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"n.txt\"\r\n"
    . "Content-Type: text/plain\r\n\r\ncontent\r\n--b--\r\n";
$upload = Request::create();
$length = strlen($body);
$upload->parse("POST / HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: $length\r\n\r\n");
$upload->parse($body);
$path = $upload->files['f']['tmp_name'];
var_dump($upload->files['f']['name'], file_get_contents($path), is_uploaded_file($path));
unset($upload);
var_dump(file_exists($path));

Swoole\Coroutine\run(function () {
    foreach ([false, true] as $paired) {
        $server = new Swoole\Coroutine\Server('127.0.0.1', 0);
        $server->handle(function (Swoole\Coroutine\Server\Connection $conn) use ($paired) {
            $request = Request::create();
            while (!$request->isCompleted()) {
                $request->parse($conn->recv());
            }
            $socket = $conn->exportSocket();
            $response = Response::create($paired ? [$socket, $request] : $socket);
            var_dump($response->fd === $socket->fd, $request->fd === ($paired ? $socket->fd : 0));
            $response->header('X-Own', 'yes');
            if ($request->server['request_uri'] === '/file') {
                $response->sendfile(__FILE__, 0, 5);
            } elseif ($request->server['request_uri'] === '/pieces') {
                $response->write('one ');
                $response->write('two');
                $response->end(' three');
            } else {
                $response->status(404);
                $response->end('none');
            }
            $conn->close();
        });
        go(fn () => $server->start());
        foreach (['/pieces', '/file', '/other'] as $path) {
            $client = new Swoole\Coroutine\Http\Client('127.0.0.1', $server->port);
            $client->post($path, ['a' => 1]);
            echo $client->statusCode, ' ', $client->headers['x-own'], ' ', $client->body, "\n";
        }
        $server->shutdown();
    }
});

$server = new Swoole\Server('127.0.0.1', 0);
$server->set(['worker_num' => 1, 'blocked_loop_warn' => 0]);
$server->on('receive', function (Swoole\Server $server, int $fd, int $reactor, string $data) {
    $request = Request::create();
    var_dump($request->parse($data) === strlen($data));
    $response = Response::create([$server, $request], $fd);
    var_dump($response->fd === $fd, $request->fd === $fd, $response->end('over a stream'));
});
$server->on('workerstart', fn () => go(function () use ($server) {
    $client = new Swoole\Coroutine\Http\Client('127.0.0.1', $server->port);
    $client->get('/');
    echo $client->statusCode, ' ', $client->body, "\n";
    $server->shutdown();
}));
$server->start();
?>
--EXPECT--
[[],[],null]
[false,false,""]
[true,"POST",{"x":"1","y":["2"]},{"u":"v","w":"z"}]
[{"c":"d!","e":"f"},null]
POST /form/a%20b /form/a b x=1&y[]=2 example.org u=v&w=z
bool(true)
bool(false)
bool(true)
bool(true)
[null,null,"u=v&w=z"]
["PUT",false,2,true]
bool(false)
bool(false)
bool(false)
int(0)
bool(false)
string(5) "n.txt"
string(7) "content"
bool(true)
bool(false)
bool(true)
bool(true)
200 yes one two three
bool(true)
bool(true)
200 yes <?php
bool(true)
bool(true)
404 yes none
bool(true)
bool(true)
200 yes one two three
bool(true)
bool(true)
200 yes <?php
bool(true)
bool(true)
404 yes none
bool(true)
bool(true)
bool(true)
bool(true)
200 over a stream
