--TEST--
Request: max_input_vars bounds query, form and cookies
--SKIPIF--
<?php require __DIR__ . '/skip.inc'; ?>
--FILE--
<?php
require __DIR__ . '/server.inc';

serving(
    function (Apus\Http\Request $request, Apus\Http\Response $response): void {
        $response->end(
            json_encode([count($request->get ?? []), count($request->post ?? []), count($request->cookie ?? [])]),
        );
    },
    function (Client $client): void {
        $many = implode('&', array_map(fn (int $i): string => "v$i=$i", range(1, 9)));
        $cookies = implode('; ', array_map(fn (int $i): string => "v$i=$i", range(1, 9)));
        echo $client->curl("/?$many", '-d', $many, '-b', $cookies), "\n";
    },
    ['max_input_vars' => 4],
);
?>
--EXPECT--
[4,4,4]
