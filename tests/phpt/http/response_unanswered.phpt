--TEST--
Response: a handler that throws, or never answers, sends a 500; the worker goes on
--SKIPIF--
<?php require __DIR__ . '/skip.inc'; ?>
--FILE--
<?php
require __DIR__ . '/server.inc';

function deep(string $what): never
{
    throw new DomainException($what);
}

$log = serving(
    function (Apus\Http\Request $request, Apus\Http\Response $response): void {
        switch ($request->server['request_uri']) {
            case '/throw':
                deep('thrown at once');
            case '/throw-later':
                Apus\Coroutine::sleep(0.001);
                deep('thrown later');
            case '/throw-begun':
                $response->write('some');
                deep('thrown after write');
            case '/throw-ended':
                $response->end('answered');
                deep('thrown after end');
            case '/throw-child':
                Apus\go(fn () => deep('thrown in a child'));
                break;
            case '/error':
                undefined_function();
            case '/exit':
                $response->end('before exit');
                exit(3);
            case '/exit-unanswered':
                exit;
            case '/silent':
                return;
            case '/silent-later':
                Apus\Coroutine::sleep(0.001);
                return;
            case '/begun':
                $response->write('some');
                return;
        }
        $response->end('pid same: ' . var_export($request->server['request_uri'] === '/pid', true));
    },
    function (Client $client): void {
        foreach (['/throw', '/throw-later', '/throw-ended', '/throw-child', '/error', '/exit', '/exit-unanswered', '/silent', '/silent-later', '/pid'] as $path) {
            echo "== $path\n";
            $client->show($path);
        }
        foreach (['/throw-begun', '/begun'] as $path) {
            // The last chunk is missing, so a client knows that the answer is not whole.
            $answer = $client->raw("GET $path HTTP/1.1\r\nHost: a\r\n\r\n");
            echo "== $path: ", str_contains($answer, "some\r\n") ? 'begun' : 'not begun', ', ', str_ends_with($answer, "0\r\n\r\n") ? 'whole' : 'cut', "\n";
        }
    },
);
echo "== log\n";
foreach (explode("\n", $log) as $line) {
    if (preg_match('/uncaught|deep|fatal|exit/i', $line)) {
        echo preg_replace(['/^\S+ \[\d+\] /', '~/\S*/~'], ['', ''], $line), "\n";
    }
}
?>
--EXPECT--
== /throw
HTTP/1.1 500 Internal Server Error
Server: apus
Content-Type: text/plain; charset=UTF-8
Content-Length: 26

500 Internal Server Error
== /throw-later
HTTP/1.1 500 Internal Server Error
Server: apus
Content-Type: text/plain; charset=UTF-8
Content-Length: 26

500 Internal Server Error
== /throw-ended
HTTP/1.1 200 OK
Server: apus
Content-Type: text/html; charset=UTF-8
Content-Length: 8

answered
== /throw-child
HTTP/1.1 200 OK
Server: apus
Content-Type: text/html; charset=UTF-8
Content-Length: 15

pid same: false
== /error
HTTP/1.1 500 Internal Server Error
Server: apus
Content-Type: text/plain; charset=UTF-8
Content-Length: 26

500 Internal Server Error
== /exit
HTTP/1.1 200 OK
Server: apus
Content-Type: text/html; charset=UTF-8
Content-Length: 11

before exit
== /exit-unanswered
HTTP/1.1 500 Internal Server Error
Server: apus
Content-Type: text/plain; charset=UTF-8
Content-Length: 26

500 Internal Server Error
== /silent
HTTP/1.1 500 Internal Server Error
Server: apus
Content-Type: text/plain; charset=UTF-8
Content-Length: 26

500 Internal Server Error
== /silent-later
HTTP/1.1 500 Internal Server Error
Server: apus
Content-Type: text/plain; charset=UTF-8
Content-Length: 26

500 Internal Server Error
== /pid
HTTP/1.1 200 OK
Server: apus
Content-Type: text/html; charset=UTF-8
Content-Length: 14

pid same: true
== /throw-begun: begun, cut
== /begun: begun, cut
== log
error: uncaught DomainException: thrown at once in response_unanswered.php:6
#0 response_unanswered.php(13): deep('thrown at once')
error: uncaught DomainException: thrown later in response_unanswered.php:6
#0 response_unanswered.php(16): deep('thrown later')
error: uncaught DomainException: thrown after end in response_unanswered.php:6
#0 response_unanswered.php(22): deep('thrown after en...')
error: uncaught DomainException: thrown in a child in response_unanswered.php:6
#0 response_unanswered.php(24): deep('thrown in a chi...')
error: uncaught Error: Call to undefined function undefined_function() in response_unanswered.php:27
error: uncaught DomainException: thrown after write in response_unanswered.php:6
#0 response_unanswered.php(19): deep('thrown after wr...')
