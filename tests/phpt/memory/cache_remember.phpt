--TEST--
Cache::remember(): made once, handed over after a throw, limits of waiting, nesting, cancellation
--FILE--
<?php
use Apus\{Cache, Coroutine};
use Apus\Coroutine\Channel;
use function Apus\{go, Coroutine\run};

function attempt(callable $do): void
{
    try {
        var_dump($do());
    } catch (Throwable $e) {
        echo $e::class, $e instanceof Apus\CacheException ? " {$e->getCode()}" : '', ": {$e->getMessage()}\n";
    }
}
$cache = new Cache(1 << 20);
echo "-- without coroutines\n";
attempt(fn () => $cache->remember('k', 0, fn () => ['made']));
attempt(fn () => $cache->remember('k', 0, fn () => 'again'));
attempt(fn () => $cache->remember('null', 0, fn () => null));
attempt(fn () => $cache->remember('null', 0, fn () => 'again'));
attempt(fn () => $cache->remember('t', 0, fn () => throw new LogicException('not made')));
attempt(fn () => $cache->remember('t', 0, fn () => 'then made'));
attempt(fn () => $cache->remember('n', 0, fn () => $cache->remember('n', 0, fn () => 1)));
attempt(fn () => $cache->remember('n', 0, fn () => $cache->remember('inner', 0, fn () => 'inner') . ' and outer'));
attempt(fn () => $cache->remember('', 0, fn () => 1));
attempt(fn () => $cache->remember('k', -1, fn () => 1));
attempt(fn () => $cache->remember('r', 0, fn () => STDIN));
attempt(fn () => $cache->remember('r', 0, 'no such function'));
attempt(fn () => strlen(@$cache->remember('large', 0, fn () => str_repeat('x', 1 << 20))));
var_dump(error_get_last()['message'] ?? null, $cache->has('large'));

run(function () use ($cache) {
    echo "-- once\n";
    $calls = 0;
    $gate = new Channel(1);
    $results = new Channel(100);
    for ($i = 0; $i < 50; $i++) {
        go(function () use ($cache, $results, $gate, &$calls) {
            $results->push(
                $cache->remember('once', 0, function () use (&$calls, $gate) { $calls++; return $gate->pop(); }),
            );
        });
    }
    $gate->push('made');
    $all = [];
    for ($i = 0; $i < 50; $i++) {
        $all[] = $results->pop();
    }
    var_dump($calls, array_unique($all));

    echo "-- who makes it throws: the next one makes it\n";
    $log = [];
    for ($i = 0; $i < 3; $i++) {
        go(function () use ($i, $cache, $gate, &$log, $results) {
            try {
                $value = $cache->remember(
                    'handed',
                    0,
                    function () use ($i, $gate, &$log) {
                        $log[] = "producer $i";
                        if ($i === 0) { $gate->pop(); throw new Exception('gave up'); }
                        return "by $i";
                    },
                );
            } catch (Exception $e) {
                $value = $e->getMessage();
            }
            $results->push($value);
        });
    }
    $gate->push(1);
    $all = [$results->pop(), $results->pop(), $results->pop()];
    var_dump(count($log), $all[0], $all[1] === $all[2], str_starts_with($all[1], 'by'));

    echo "-- too long\n";
    $producer = go(fn () => $results->push($cache->remember('slow', 0, fn () => $gate->pop())));
    attempt(fn () => $cache->remember('slow', 0, fn () => 'own', 0.01, true));
    attempt(fn () => $cache->remember('slow', 0, fn () => 'own', 0));
    attempt(fn () => $cache->get('slow'));
    $gate->push('late');
    attempt(fn () => $results->pop());
    attempt(fn () => $cache->get('slow'));

    echo "-- cancelled\n";
    go(fn () => $results->push($cache->remember('gone', 0, fn () => $gate->pop())));
    $waiting = go(fn () => $results->push([$cache->remember('gone', 0, fn () => 'not called')]));
    Coroutine::cancel($waiting);
    attempt(fn () => $results->pop());
    $gate->push('made nevertheless');
    attempt(fn () => $results->pop());
    $killed = go(fn () => $cache->remember('killed', 0, fn () => Coroutine::sleep(3600)));
    Coroutine::cancel($killed, true);
    attempt(fn () => $cache->remember('killed', 0, fn () => 'by another'));
});
?>
--EXPECT--
-- without coroutines
array(1) {
  [0]=>
  string(4) "made"
}
array(1) {
  [0]=>
  string(4) "made"
}
NULL
NULL
LogicException: not made
string(9) "then made"
Apus\CacheException 563: remember() was called for "n" by the very function that makes its value
string(15) "inner and outer"
ValueError: Apus\Cache::remember(): Argument #1 ($key) must be a key of 1 to 1024 bytes, 0 given
ValueError: Apus\Cache::remember(): Argument #2 ($ttl) must be 0 or more seconds, -1.0 given
Apus\PackException: a resource cannot be packed: it means something in its own process alone
TypeError: Apus\Cache::remember(): Argument #3 ($fn) must be a valid callback, function "no such function" not found or invalid function name
int(1048576)
string(142) "Apus\Cache::remember(): "large" was not stored: the entry has 1048632 bytes with the key, and this cache takes entries of at most 524288 bytes"
bool(false)
-- once
int(1)
array(1) {
  [0]=>
  string(4) "made"
}
-- who makes it throws: the next one makes it
int(2)
string(7) "gave up"
bool(true)
bool(true)
-- too long
Apus\CacheException 564: another one has been making "slow" for too long
string(3) "own"
string(3) "own"
string(4) "late"
string(4) "late"
-- cancelled
array(1) {
  [0]=>
  NULL
}
string(17) "made nevertheless"
string(10) "by another"
