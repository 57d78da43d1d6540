--TEST--
Marks against recursion belong to the coroutine that waits: __get() and its kin, json_encode(), var_dump(), serialize(), comparisons
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\Channel;
use function Apus\go;
use function Apus\Coroutine\run;

/** Runs `$do` in three coroutines that are inside at once, and prints what they say when they agree. */
function three(string $what, Closure $do): void
{
    $said = [];
    run(function () use ($do, &$said) {
        for ($i = 0; $i < 3; $i++) {
            go(function () use ($do, &$said) {
                try {
                    $said[] = $do();
                } catch (Throwable $e) {
                    $said[] = get_class($e) . ': ' . $e->getMessage();
                }
            });
        }
    });
    echo $what, ': ', count(array_unique($said)) === 1 && count($said) === 3 ? $said[0] : implode(' | ', $said), "\n";
}

class Lazy
{
    private array $made = [];
    function __get(string $name) {
        $key = strtolower($name);
        $name = 'changed';
        usleep(1000);
        return $this->made[$key] ??= "made $key";
    }
    function __isset($name) { usleep(1000); return true; }
    function __set($name, $value) { usleep(1000); $this->made[$name] = $value; }
    function __unset($name) { usleep(1000); unset($this->made[$name]); }
}
$lazy = new Lazy;
three('get', fn () => $lazy->Foo);
three('isset', fn () => var_export(isset($lazy->foo), true));
three('set', function () use ($lazy) { $lazy->set = 1; return 'done'; });
three('unset', function () use ($lazy) { unset($lazy->set); return 'done'; });
echo count(get_object_vars($lazy)), " properties, no dynamic ones\n";

// Two names of one object, each waiting while the other begins and ends: no guard stays behind, none is lost.
class Two
{
    public array $log = [];
    function __get($name)
    {
        if ($name === 'again') {
            usleep(500);
            return $this->again ?? 'inner';
        }
        usleep($name === 'long' ? 3000 : 500);
        return $this->short2 ?? $name;
    }
    function __isset($name) { return false; }
}
$two = new Two;
three('names', function () use ($two) {
    $got = [];
    $ids[] = go(function () use ($two, &$got) { $got[] = $two->long; });
    $ids[] = go(function () use ($two, &$got) { $got[] = $two->short; $got[] = $two->short; });
    $got[] = @$two->again;
    Coroutine::join($ids);
    sort($got);
    return implode(' ', $got);
});
// A true recursion is still one.
class Own { function __get($name) { usleep(100); return @$this->$name ?? 'the property itself'; } }
$own = new Own;
three('recursion', fn () => $own->x);

class Shared implements JsonSerializable
{
    public $a = 1;
    function __construct(public ?array $items = null, public mixed $own = null) {}
    function jsonSerialize(): mixed { usleep(1000); return ['a' => $this->a, 'items' => $this->items]; }
    function __debugInfo() { usleep(1000); return ['debug' => $this->items]; }
    function __serialize(): array { usleep(1000); return ['a' => $this->a, 'items' => $this->items]; }
    function __toString(): string { usleep(1000); return 'text'; }
    static function __set_state($state) { return new self; }
}
$object = new Shared([new Shared([1, [new Shared]]), 2]);
$array = ['k' => $object, 'l' => [$object, new Shared]];
$plain = (object) ['deep' => (object) ['list' => [$object]]];
foreach (['json_encode', 'serialize', fn ($v) => print_r($v, true), 'var_dump'] as $function) {
    foreach ([$object, $array, $plain] as $value) {
        $dump = function () use ($function, $value) {
            if ($function === 'var_dump') {
                ob_start();
                var_dump($value);
                return md5(ob_get_clean());
            }
            $text = $function($value);
            return $text === false ? json_last_error_msg() : md5($text);
        };
        $outside = $dump();
        three(is_string($function) ? $function : 'print_r', fn () => $dump() === $outside ? 'as ever' : 'differs');
    }
}
$circle = new Shared;
$circle->items = [$circle];
three('circle', fn () => var_export(json_encode($circle), true) . ' ' . json_last_error_msg());

class Left {
    public $text;
    public $more;
    function __construct() { $this->text = new Shared; $this->more = new Shared; }
}
class Right { }
$left = new Left;
$right = new Left;
$right->text = $right->more = 'text';
three('equal', fn () => var_export($left == $right, true));
three('in_array', fn () => var_export(in_array($left, [new Right, $right]), true));

$tree = ['a' => [1, 2], 'b' => [3, [4]]];
three('walk', function () use ($tree) {
    $sum = 0;
    array_walk_recursive($tree, function ($value) use (&$sum) { usleep(500); $sum += $value; });
    return (string) $sum;
});
// What was marked while coroutines waited is marked no more.
echo json_encode($lazy->x), json_encode($object) === json_encode($object) ? ' encoded'
    : '', ' ', count($tree, COUNT_RECURSIVE), "\n";
?>
--EXPECT--
get: made foo
isset: true
set: done
unset: done
0 properties, no dynamic ones
names: inner long short short
recursion: the property itself
json_encode: as ever
json_encode: as ever
json_encode: as ever
serialize: as ever
serialize: as ever
serialize: as ever
print_r: as ever
print_r: as ever
print_r: as ever
var_dump: as ever
var_dump: as ever
var_dump: as ever
circle: false Recursion detected
equal: true
in_array: true
walk: 10
"made x" encoded 7
