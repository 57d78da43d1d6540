--TEST--
Request: a cycle that holds one is collected without harm to what its properties held, whether all of them were read or one
--SKIPIF--
<?php require __DIR__ . '/skip.inc'; ?>
--FILE--
<?php
require __DIR__ . '/server.inc';

final class Kept
{
    public static array $all = [];
}

$log = serving(
    function (Apus\Http\Request $request, Apus\Http\Response $response): void {
        if ($request->server['request_uri'] === '/collect') {
            $collected = gc_collect_cycles();
            $others = array_map(fn(int $n): array => ["x$n" => str_repeat('z', $n % 50), 'n' => $n], range(1, 200));
            $same = array_map(fn(array $kept): bool => json_encode($kept[0]) === $kept[1], Kept::$all);
            $response->end(json_encode([$collected > 0, $same]));
            return;
        }
        $header = $request->header;
        Kept::$all[] = [$header, json_encode($header)];
        if ($request->server['request_uri'] === '/table') {
            get_object_vars($request);
        }
        $cycle = new stdClass;
        $cycle->self = $cycle;
        $cycle->request = $request;
        $response->end('ok');
    },
    function (Client $client): void {
        foreach (['/table', '/collect', '/one', '/collect', '/table', '/one', '/collect'] as $path) {
            echo $client->get($path), "\n";
        }
    },
);
echo $log;
?>
--EXPECT--
ok
[true,[true]]
ok
[true,[true,true]]
ok
ok
[true,[true,true,true,true]]
