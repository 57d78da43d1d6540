--TEST--
Request and response: nothing of one request is found in a later one, whatever a handler did with its objects
--SKIPIF--
<?php require __DIR__ . '/skip.inc'; ?>
--FILE--
<?php
require __DIR__ . '/server.inc';

class Note
{
    public static int $ended = 0;
    public function __destruct() { self::$ended++; }
}

function shown(Apus\Http\Request $request, Apus\Http\Response $response): string
{
    $keys = array_keys(get_object_vars($request));
    return $request->getMethod() . ' get=' . json_encode($request->get) . ' post=' . json_encode($request->post)
        . ' cookie=' . json_encode($request->cookie) . ' x=' . ($request->header['x-a'] ?? '-') . ' fd=' . json_encode(
            $request->fd === $response->fd && $request->fd > 0,
        )
        . ' properties=' . count($keys) . ' fields=' . json_encode($response->getHeaders()) . ' notes=' . Note::$ended;
}

serving(
    function (Apus\Http\Request $request, Apus\Http\Response $response): void {
        static $kept = [], $weak = [];
        switch ($request->server['path_info']) {
            case '/write':
                $request->get = ['mine' => new Note()];
                $request->cookie['added'] = 'yes';
                $request->fd = -1;
                $response->header('X-Left', '1');
                $response->status(201);
                break;
            case '/unset':
                unset($request->get, $request->header, $request->fd);
                break;
            case '/dynamic':
                @($request->more = 1);
                @($response->more = new Note());
                break;
            case '/reference':
                $post = &$request->post;
                $post = ['written' => 'later'];
                $kept['reference'] = &$post;
                break;
            case '/table':
                $seen = 0;
                foreach ($request as $value) {
                    $seen++;
                }
                $response->header('X-Seen', (string) ($seen + count((array) $request)));
                break;
            case '/keep':
                $kept['request'] = $request;
                $kept['response'] = $response;
                break;
            case '/kept':
                $same = $kept['request'] === $request || $kept['response'] === $response;
                $response->end(
                    'kept: ' . $kept['request']->get['q'] . ' same=' . json_encode($same) . ' again=' . json_encode(@$kept['response']->end('twice')),
                );
                $kept = [];
                return;
            case '/weak':
                $weak = [WeakReference::create($request), WeakReference::create($response)];
                break;
            case '/gone':
                $response->end('weak: ' . json_encode(array_map(fn ($of) => $of->get() === null, $weak)));
                return;
            case '/collect':
                $request->tmpfiles = [$request, $response];
                break;
        }
        if ($request->server['path_info'] !== '/') {
            gc_collect_cycles();
            $response->end('done');
            return;
        }
        $response->end(shown($request, $response));
    },
    function (Client $client): void {
        foreach (['/write?q=1', '/unset?q=2', '/dynamic', '/reference', '/table', '/keep?q=3', '/kept', '/weak', '/gone', '/collect', '/collect'] as $path) {
            echo $path, ': ', $client->curl('-H', 'X-A: first', '-b', 'c=1', $path), "\n";
            echo '    ', $client->get('/?n=1'), "\n";
        }
    },
);
?>
--EXPECT--
/write?q=1: done
    GET get={"n":"1"} post=null cookie=null x=- fd=true properties=9 fields=[] notes=1
/unset?q=2: done
    GET get={"n":"1"} post=null cookie=null x=- fd=true properties=9 fields=[] notes=1
/dynamic: done
    GET get={"n":"1"} post=null cookie=null x=- fd=true properties=9 fields=[] notes=2
/reference: done
    GET get={"n":"1"} post=null cookie=null x=- fd=true properties=9 fields=[] notes=2
/table: done
    GET get={"n":"1"} post=null cookie=null x=- fd=true properties=9 fields=[] notes=2
/keep?q=3: done
    GET get={"n":"1"} post=null cookie=null x=- fd=true properties=9 fields=[] notes=2
/kept: kept: 3 same=false again=false
    GET get={"n":"1"} post=null cookie=null x=- fd=true properties=9 fields=[] notes=2
/weak: done
    GET get={"n":"1"} post=null cookie=null x=- fd=true properties=9 fields=[] notes=2
/gone: weak: [true,true]
    GET get={"n":"1"} post=null cookie=null x=- fd=true properties=9 fields=[] notes=2
/collect: done
    GET get={"n":"1"} post=null cookie=null x=- fd=true properties=9 fields=[] notes=2
/collect: done
    GET get={"n":"1"} post=null cookie=null x=- fd=true properties=9 fields=[] notes=2
