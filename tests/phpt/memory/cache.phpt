--TEST--
Cache: values, ends by time, counting, eviction, refusals, stats()
--FILE--
<?php
use Apus\Cache;

function refused(string $what, callable $do): void
{
    try {
        $do();
        echo "$what: taken\n";
    } catch (Throwable $e) {
        echo "$what: ", $e::class, $e instanceof Apus\CacheException ? " {$e->getCode()}" : '', ": {$e->getMessage()}\n";
    }
}

$cache = new Cache(1 << 20);
class Point { public function __construct(public int $x = 0, private ?Point $next = null) {} }
$values = ['null' => null, 'false' => false, 'int' => -5, 'float' => 0.1, 'text' => 'some text', 'empty' => '', 'array' => ['a' => [1, 2]],
    'object' => new Point(1, new Point(2)), 'long' => str_repeat('x', 100_000)];
foreach ($values as $key => $value) {
    $cache->set($key, $value);
}
foreach ($values as $key => $value) {
    if ($cache->get($key, 'none') != $value || !$cache->has($key)) {
        echo "lost $key\n";
    }
}
var_dump($cache->get('not there'), $cache->get('not there', 'default'), $cache->has('not there'));
var_dump($cache->add('int', 7), $cache->get('int'), $cache->add('new', 7), $cache->get('new'));
var_dump($cache->delete('new'), $cache->delete('new'), $cache->get('new'));
var_dump($cache->set("binary\0key", 1) && $cache->get("binary\0key") === 1 && $cache->get('binary') === null);

echo "-- counting\n";
var_dump(
    $cache->increment('n'),
    $cache->increment('n', 10),
    $cache->decrement('n', 4),
    $cache->decrement('m'),
    $cache->get('n'),
);
$cache->set('most', PHP_INT_MAX);
refused('overflow', fn () => $cache->increment('most'));
refused('no integer', fn () => $cache->increment('text'));
refused('decrement', fn () => $cache->decrement('n', PHP_INT_MIN));
var_dump($cache->get('most') === PHP_INT_MAX, $cache->get('text'));

echo "-- time\n";
$cache->set('short', 'lived', 0.02);
$cache->set('touched', 'lives', 0.3);
$cache->set('ended', 'by touch');
$cache->increment('counted', 1, 0.02);
var_dump($cache->touch('touched', 3600), $cache->touch('ended', 0.000001), $cache->touch('none', 1));
$end = hrtime(true) + 310_000_000;
while (hrtime(true) < $end) {
    usleep(1000);
}
var_dump(
    $cache->get('short'),
    $cache->get('touched'),
    $cache->get('ended'),
    $cache->increment('counted'),
    $cache->add('short', 'anew'),
    $cache->touch('ended', 5),
);

echo "-- refused\n";
refused('no key', fn () => $cache->set('', 1));
refused('long key', fn () => $cache->add(str_repeat('k', 1025), 1));
refused('negative', fn () => $cache->set('k', 1, -1));
refused('no number', fn () => $cache->set('k', 1, NAN));
refused('too large', fn () => $cache->set('long', str_repeat('x', 1 << 19)));
refused('closure', fn () => $cache->set('k', fn () => 1));
refused('small', fn () => new Cache(1000));
refused('huge', fn () => new Cache(1 << 50));
refused('twice', fn () => $cache->__construct(1 << 20));
refused('clone', fn () => clone $cache);
refused('packed', fn () => Apus\pack($cache));
var_dump(strlen($cache->get('long')), $cache->get('k'));

echo "-- room\n";
$small = new Cache(1 << 16);
$small->set('hot', 'stays');
for ($i = 0; $i < 5000; $i++) {
    $small->set("cold$i", str_repeat('c', 50));
    $i % 50 || $small->get('hot') === 'stays' || print("hot was forgotten\n");
}
$stats = $small->stats();
echo implode(' ', array_keys($stats)), "\n";
var_dump($stats['used'] <= 1 << 16, $stats['entries'] + $stats['evictions'] === 5001, $stats['hits'], $stats['misses'], $stats['longest'], $stats['emptied']);
$small->clear();
var_dump($small->get('hot'), $small->stats()['entries'], $small->stats()['used']);
?>
--EXPECT--
NULL
string(7) "default"
bool(false)
bool(false)
int(-5)
bool(true)
int(7)
bool(true)
bool(false)
NULL
bool(true)
-- counting
int(1)
int(11)
int(7)
int(-1)
int(7)
overflow: Apus\CacheException 562: "most" was not changed: the sum leaves the range of integers
no integer: Apus\CacheException 562: "text" was not changed: what is stored there is no integer
decrement: Apus\CacheException 562: "n" was not changed: the sum leaves the range of integers
bool(true)
string(9) "some text"
-- time
bool(true)
bool(true)
bool(false)
NULL
string(5) "lives"
NULL
int(1)
bool(true)
bool(false)
-- refused
no key: ValueError: Apus\Cache::set(): Argument #1 ($key) must be a key of 1 to 1024 bytes, 0 given
long key: ValueError: Apus\Cache::add(): Argument #1 ($key) must be a key of 1 to 1024 bytes, 1025 given
negative: ValueError: Apus\Cache::set(): Argument #3 ($ttl) must be 0 or more seconds, -1.0 given
no number: ValueError: Apus\Cache::set(): Argument #3 ($ttl) must be 0 or more seconds, NaN given
too large: Apus\CacheException 561: the entry has 524344 bytes with the key, and this cache takes entries of at most 524288 bytes: make the cache larger, or store less under one key
closure: Exception: Serialization of 'Closure' is not allowed
small: ValueError: Apus\Cache::__construct(): Argument #1 ($bytes) must be from 65536 (64 KiB) to 1099511627776 (1 TiB) bytes, 1000 given
huge: ValueError: Apus\Cache::__construct(): Argument #1 ($bytes) must be from 65536 (64 KiB) to 1099511627776 (1 TiB) bytes, 1125899906842624 given
twice: Error: Apus\Cache is already constructed
clone: Error: Trying to clone an uncloneable object of class Apus\Cache
packed: Exception: Serialization of 'Apus\Cache' is not allowed
int(100000)
NULL
-- room
entries used bytes longest hits misses evictions expired emptied
bool(true)
bool(true)
int(100)
int(0)
int(32768)
int(0)
NULL
int(0)
int(0)
