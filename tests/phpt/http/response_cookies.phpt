--TEST--
Response: cookies, every attribute, and their deletion
--SKIPIF--
<?php require __DIR__ . '/skip.inc'; ?>
--FILE--
<?php
require __DIR__ . '/server.inc';

serving(
    function (Apus\Http\Request $request, Apus\Http\Response $response): void {
        $response->cookie('plain', 'a b;c,d%');
        $response->rawcookie('raw', 'a%20b');
        $response->cookie('at', 'x', 1893456000, '/p', 'example.com', true, true, 'Strict', 'High', true);
        $response->cookie('named', 'x', secure: true, samesite: 'None');
        $response->cookie('lax', 'x', samesite: 'lax');
        $response->cookie('deleted');
        $response->cookie('past', 'x', 1);
        $response->cookie('nopath', 'x', 0, '');
        $response->end(json_encode(count($response->getHeaders()['set-cookie'])));
    },
    function (Client $client): void {
        echo preg_replace('/Max-Age=[1-9]\d*/', 'Max-Age=N', plain($client->curl('-i', '/'))), "\n";
    },
);
?>
--EXPECT--
HTTP/1.1 200 OK
Server: apus
Set-Cookie: plain=a%20b%3Bc%2Cd%25; path=/
Set-Cookie: raw=a%20b; path=/
Set-Cookie: at=x; expires=Tue, 01 Jan 2030 00:00:00 GMT; Max-Age=N; path=/p; domain=example.com; secure; HttpOnly; SameSite=Strict; Priority=High; Partitioned
Set-Cookie: named=x; path=/; secure; SameSite=None
Set-Cookie: lax=x; path=/; SameSite=Lax
Set-Cookie: deleted=deleted; expires=Thu, 01 Jan 1970 00:00:01 GMT; Max-Age=0; path=/
Set-Cookie: past=x; expires=Thu, 01 Jan 1970 00:00:01 GMT; Max-Age=0; path=/
Set-Cookie: nopath=x
Content-Type: text/html; charset=UTF-8
Content-Length: 1

8
