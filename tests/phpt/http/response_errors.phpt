--TEST--
Response: what it refuses, and how
--SKIPIF--
<?php require __DIR__ . '/skip.inc'; ?>
--FILE--
<?php
require __DIR__ . '/server.inc';

serving(
    function (Apus\Http\Request $request, Apus\Http\Response $response): void {
        ob_start();
        attempt(fn () => $response->status(99));
        attempt(fn () => $response->status(1000));
        attempt(fn () => $response->status(103));
        attempt(fn () => $response->status(200, "a\r\nb"));
        attempt(fn () => $response->header("a\r\nb", 'x'));
        attempt(fn () => $response->header('a b', 'x'));
        attempt(fn () => $response->header('', 'x'));
        attempt(fn () => $response->header('a', "x\r\nSet-Cookie: evil=1"));
        attempt(fn () => $response->header('a', "x\0"));
        attempt(fn () => $response->header('a', ['x', "y\nz"]));
        attempt(fn () => $response->header('a', [[]]));
        attempt(fn () => $response->header('a'));
        attempt(fn () => $response->header('Content-Length', 'many'));
        attempt(fn () => $response->cookie('a=b', 'x'));
        attempt(fn () => $response->cookie("a\nb", 'x'));
        attempt(fn () => $response->rawcookie('a', "x;\r\ny"));
        attempt(fn () => $response->cookie('a', 'x', 0, "/\r\n"));
        attempt(fn () => $response->cookie('a', 'x', samesite: 'Sometimes'));
        attempt(fn () => $response->cookie('a', 'x', partitioned: true));
        attempt(fn () => $response->trailer("a\n", 'x'));
        attempt(fn () => $response->redirect('/', 200));
        attempt(fn () => $response->redirect("/\r\nX: 1"));
        attempt(fn () => $response->sendfile('/no/such/file'));
        attempt(fn () => $response->sendfile('/tmp'));
        attempt(fn () => $response->sendfile(__DIR__ . '/skip.inc', 100_000));
        attempt(fn () => $response->sendfile(__DIR__ . '/skip.inc', 0, 100_000));
        attempt(fn () => $response->sendfile(__DIR__ . '/skip.inc', -1));
        attempt(fn () => $request->read(0));
        attempt(fn () => $request->read(PHP_INT_MAX));
        attempt(fn () => (new Apus\Http\Response())->end());
        attempt(fn () => clone $response);
        attempt(fn () => serialize($request));
        $response->end(str_replace(__DIR__, 'DIR', ob_get_clean()));
    },
    function (Client $client): void {
        $client->show('/');
    },
);
?>
--EXPECT--
HTTP/1.1 200 OK
Server: apus
Content-Type: text/html; charset=UTF-8
Content-Length: 3389

Apus\Http\Exception 205: the status code of an answer lies between 200 and 999 (RFC 9110 section 15), 99 given
Apus\Http\Exception 205: the status code of an answer lies between 200 and 999 (RFC 9110 section 15), 1000 given
Apus\Http\Exception 205: the status code of an answer lies between 200 and 999 (RFC 9110 section 15), 103 given
Apus\Http\Exception 205: the reason phrase holds control characters
Apus\Http\Exception 203: header "a\r\nb": a name is a token, a value must hold no control characters, line breaks above all (RFC 9110 section 5)
Apus\Http\Exception 203: header "a b": a name is a token, a value must hold no control characters, line breaks above all (RFC 9110 section 5)
Apus\Http\Exception 203: header "": a name is a token, a value must hold no control characters, line breaks above all (RFC 9110 section 5)
Apus\Http\Exception 203: header "a": a name is a token, a value must hold no control characters, line breaks above all (RFC 9110 section 5)
Apus\Http\Exception 203: header "a": a name is a token, a value must hold no control characters, line breaks above all (RFC 9110 section 5)
Apus\Http\Exception 203: header "a": a name is a token, a value must hold no control characters, line breaks above all (RFC 9110 section 5)
TypeError: Apus\Http\Response::header(): Argument #2 ($value) must be of type array of strings, array given
ArgumentCountError: Apus\Http\Response::header() expects at least 2 arguments, 1 given
Apus\Http\Exception 203: header "Content-Length": a name is a token, a value must hold no control characters, line breaks above all (RFC 9110 section 5)
Apus\Http\Exception 204: the cookie name must not contain control characters, white space, '=', ',' or ';'
Apus\Http\Exception 204: the cookie name must not contain control characters, white space, '=', ',' or ';'
Apus\Http\Exception 204: the raw cookie value must not contain control characters, white space, ',' or ';'
Apus\Http\Exception 204: the cookie path must not contain control characters, white space, ',' or ';'
Apus\Http\Exception 204: the cookie's SameSite must be Lax, Strict or None
Apus\Http\Exception 204: a partitioned cookie must be secure, too
Apus\Http\Exception 203: header "a\n": a name is a token, a value must hold no control characters, line breaks above all (RFC 9110 section 5)
Apus\Http\Exception 205: a redirection has a status code between 300 and 399, 200 given
Apus\Http\Exception 203: header "Location": a name is a token, a value must hold no control characters, line breaks above all (RFC 9110 section 5)
Apus\Http\Exception 206: /no/such/file cannot be sent: No such file or directory (os error 2)
Apus\Http\Exception 206: /tmp cannot be sent: it is not a regular file
Apus\Http\Exception 206: DIR/skip.inc cannot be sent: offset 100000 lies outside its 140 bytes
Apus\Http\Exception 206: DIR/skip.inc cannot be sent: it has 140 bytes from offset 0 on, 100000 were asked for
Apus\Http\Exception 206: DIR/skip.inc cannot be sent: offset -1 lies outside its 140 bytes
ValueError: Argument #1 ($max) must be between 1 and 16777216 bytes, 0 given
ValueError: Argument #1 ($max) must be between 1 and 16777216 bytes, 9223372036854775807 given
Error: Apus\Http\Response was not constructed: call parent::__construct() first
Error: Trying to clone an uncloneable object of class Apus\Http\Response
Exception: Serialization of 'Apus\Http\Request' is not allowed
