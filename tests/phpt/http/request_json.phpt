--TEST--
Request::json(): what json_decode() gives; what is none says why, with the code JSON; streamed bodies are waited for
--SKIPIF--
<?php require __DIR__ . '/skip.inc'; ?>
--FILE--
<?php
require __DIR__ . '/server.inc';

$handler = function (Apus\Http\Request $request, Apus\Http\Response $response): void {
    $args = match ($request->get['as'] ?? '') {
        'object' => [false],
        'flat' => [true, 1],
        'wrong' => [true, 0],
        default => [],
    };
    try {
        $value = $request->json(...$args);
        $response->end(get_debug_type($value) . ' ' . var_export(
            $value === $request->json(...$args) || is_object($value),
            true,
        )
            . ' ' . json_encode($value));
    } catch (Throwable $error) {
        $response->end($error::class . " {$error->getCode()} {$error->getMessage()}");
    }
};
$client = function (Client $client): void {
    foreach (['{"a":[1,2.5,"x"],"b":null}', '[]', 'null', '7', ' "text" ', '', '{"a":', '"\ud800"', str_repeat('[', 600) . str_repeat(']', 600)] as $body) {
        echo $client->get('/', '-H', 'Content-Type: application/json', '--data-binary', $body), "\n";
    }
    echo $client->get('/?as=object', '-d', '{"a":1}'), "\n";
    echo $client->get('/?as=flat', '-d', '{"a":1}'), "\n";
    echo $client->get('/?as=wrong', '-d', '1'), "\n";
    echo $client->get('/', '-F', 'a=b'), "\n";
    echo $client->get('/', '-H', 'Transfer-Encoding: chunked', '-d', '[1]'), "\n";
};
echo serving($handler, $client);
echo "-- as a stream\n";
$streamed = function (Apus\Http\Request $request, Apus\Http\Response $response): void {
    $response->end(json_encode($request->json()));
};
echo serving($streamed, function (Client $client): void {
    $socket = stream_socket_client("tcp://127.0.0.1:$client->port");
    fwrite($socket, "POST / HTTP/1.0\r\nContent-Length: 8\r\n\r\n[1,");
    fwrite($socket, '"a",');
    fwrite($socket, ']');
    fclose($socket);
    $socket = stream_socket_client("tcp://127.0.0.1:$client->port");
    fwrite($socket, "POST / HTTP/1.0\r\nContent-Length: 7\r\n\r\n[1,");
    fwrite($socket, '"a"]');
    echo substr(stream_get_contents($socket), -7), "\n";
}, ['stream_request_body' => true]) === '' ? '' : "the first one was logged\n";
?>
--EXPECT--
array true {"a":[1,2.5,"x"],"b":null}
array true []
null true null
int true 7
string true "text"
Apus\Http\Exception 210 the request's body is not JSON: it is empty
Apus\Http\Exception 210 the request's body is not JSON: Syntax error
Apus\Http\Exception 210 the request's body is not JSON: Single unpaired UTF-16 surrogate in unicode escape
Apus\Http\Exception 210 the request's body is not JSON: Maximum stack depth exceeded
stdClass true {"a":1}
Apus\Http\Exception 210 the request's body is not JSON: Maximum stack depth exceeded
ValueError 0 Apus\Http\Request::json(): Argument #2 ($depth) must be between 1 and 2147483647, 0 given
Apus\Http\Exception 210 the request's body is not JSON: it is a multipart form
array true [1]
-- as a stream
[1,"a"]
the first one was logged
