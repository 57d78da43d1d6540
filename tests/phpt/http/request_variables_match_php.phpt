--TEST--
Request: $get, $post and $cookie are what parse_str() makes of the same text
--SKIPIF--
<?php require __DIR__ . '/skip.inc'; ?>
--FILE--
<?php
require __DIR__ . '/server.inc';

$texts = [
    'a=1&a=2', 'a[]=1&a[]=2', 'a[b][c]=1&a[b][d]=2', 'a[b]=1&a=2', 'a=2&a[b]=1', 'a[=1', 'a]=1', 'a[b=1', 'a[b]c=1', 'a[b][=1', '[a]=1', ' a=1', 'a b=1', 'a.b=1',
    'a.b[c.d]=1', '=1', '&&', 'a', 'a&b', 'a=b=c', 'a[5]=x&a[]=y', 'a[-5]=x&a[]=y', 'a[05]=x', 'a[9223372036854775808]=x', 'a%5Bb%5D=1', 'a=%', 'a=%4', 'a=%zz', 'a=%00b',
    'a%00b=1', 'a=+%2B', 'GLOBALS[a]=1', 'this=1', 'a[ b]=1', 'a[b ]=1', "a[\x80]=1", str_repeat('a[x]', 1) . str_repeat('[x]', 70) . '=deep', 'a[][b]=1&a[][b]=2', '0=a&1=b', 'a[0][1]=z&a[0]=y',
];
$handler = function (Apus\Http\Request $request, Apus\Http\Response $response): void {
    $response->end(serialize($request->getMethod() === 'POST' ? $request->post : $request->get));
};
serving($handler, function (Client $client) use ($texts): void {
    $bad = 0;
    foreach ($texts as $text) {
        parse_str($text, $want);
        $length = strlen($text);
        $post = $client->raw("POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: $length\r\n\r\n$text");
        $target = str_replace([' ', "\x80"], ['%20', '%80'], $text);
        $get = $client->raw("GET /?$target HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        foreach (['post' => $post, 'get' => $get] as $kind => $answer) {
            $have = @unserialize(explode("\r\n\r\n", $answer, 2)[1]);
            if (($have ?? []) !== $want) {
                $bad++;
                echo "$kind ", json_encode($text, JSON_PARTIAL_OUTPUT_ON_ERROR), "\nwant ", var_export($want, true), "\nhave ",
                    var_export($have, true), "\n$answer\n";
            }
        }
    }
    echo "$bad differ\n";
}, ['max_header_size' => '32K']);
?>
--EXPECT--
0 differ
