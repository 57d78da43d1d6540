--TEST--
Request: cookies and files whose names PHP makes equal or nests; rawContent() of a form says why not
--SKIPIF--
<?php require __DIR__ . '/skip.inc'; ?>
--FILE--
<?php
require __DIR__ . '/server.inc';

/** A multipart request; each part is a name and a file's name, or null for a field. */
function form(array $parts): string
{
    $body = '';
    foreach ($parts as [$name, $file]) {
        $file = $file === null ? '' : "; filename=\"$file\"";
        $body .= "--B\r\nContent-Disposition: form-data; name=\"$name\"$file\r\n\r\ncontent\r\n";
    }
    $body .= "--B--\r\n";
    return "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: multipart/form-data; boundary=B\r\nContent-Length: " . strlen($body) . "\r\n\r\n$body";
}

serving(
    function (Apus\Http\Request $request, Apus\Http\Response $response): void {
        if ($request->getMethod() === 'POST') {
            // Of each file only its name, where an entry is; anything else is shown as it is.
            $names = function (mixed $entry) use (&$names): mixed {
                return !is_array($entry) ? gettype($entry)
                    : (array_keys($entry) === ['name', 'full_path', 'type', 'tmp_name', 'error', 'size'] && is_string($entry['tmp_name']) ? $entry['name']
                        : array_map($names, $entry));
            };
            set_error_handler(function (int $level, string $text) use (&$warning): bool {
                $warning = $text;
                return true;
            });
            $raw = $request->rawContent();
            restore_error_handler();
            $response->end(
                json_encode([
                    'files' => $names($request->files),
                    'post' => $request->post,
                    'tmp' => count($request->tmpfiles ?? []),
                    'raw' => $raw,
                    'why' => $warning ?? null,
                ]),
            );
            return;
        }
        $response->end(json_encode($request->cookie));
    },
    function (Client $client): void {
        foreach (['sid_a=good; sid.a=evil', 'sid.a=good; sid a=evil; sid[a=evil', 'a=1; a=2', 'a[x]=1; a[x]=2; a=3', 'a=1; a[x]=2', ' b=1; b=2', '__Secure-a=x; _.Secure-a=y'] as $cookies) {
            echo "$cookies: ", explode("\r\n\r\n", $client->raw("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nCookie: $cookies\r\n\r\n"))[1], "\n";
        }
        $many = implode('; ', array_map(fn(int $n): string => "a_$n=1; a.$n=2", range(1, 5000)));
        $cookies = json_decode(explode("\r\n\r\n", $client->raw("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nCookie: $many\r\n\r\n"))[1], true);
        var_dump(count($cookies), array_unique(array_values($cookies)));
        foreach ([
            [['f', 'one'], ['f[tmp_name]', 'two'], ['f[error]', 'three']],
            [['f[name]', 'one'], ['f', 'two']],
            [['f[a][b]', 'one'], ['f[a]', 'two'], ['f[]', 'three'], ['f[]', 'four']],
            [['f', 'one'], ['f', 'two'], ['g.h', 'three']],
            [['f[', 'one'], ['f]', 'two'], ['f[a]b', 'three'], ['g[', null], ['h', 'four']],
        ] as $parts) {
            $answer = json_decode(explode("\r\n\r\n", $client->raw(form($parts)))[1], true);
            echo json_encode(array_column($parts, 0)), ': ', json_encode($answer['files']), ' ', json_encode($answer['post']), ' ',
                $answer['tmp'], "\n";
        }
        var_dump($answer['raw'], $answer['why']);
    },
    ['max_header_size' => '256K', 'max_input_vars' => 100_000],
);
?>
--EXPECT--
sid_a=good; sid.a=evil: {"sid_a":"good"}
sid.a=good; sid a=evil; sid[a=evil: {"sid_a":"good"}
a=1; a=2: {"a":"1"}
a[x]=1; a[x]=2; a=3: {"a":{"x":"2"}}
a=1; a[x]=2: {"a":{"x":"2"}}
 b=1; b=2: {"b":"1"}
__Secure-a=x; _.Secure-a=y: {"__Secure-a":"x"}
int(5000)
array(1) {
  [0]=>
  string(1) "1"
}
["f","f[tmp_name]","f[error]"]: {"f":{"tmp_name":"two","error":"three"}} null 3
["f[name]","f"]: {"f":"two"} null 2
["f[a][b]","f[a]","f[]","f[]"]: {"f":{"a":"two","0":"three","1":"four"}} null 4
["f","f","g.h"]: {"f":"two","g_h":"three"} null 3
["f[","f]","f[a]b","g[","h"]: {"h":"four"} {"g_":"content"} 1
bool(false)
string(172) "Request::rawContent(): the body was a multipart form, which is taken apart as it comes and is not kept: see $post and $files, or switch http_parse_post off to have it whole"
