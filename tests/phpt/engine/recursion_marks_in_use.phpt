--TEST--
Marks against recursion of who waits in what ConnectionPool::use() has called: set outside of it, and inside
--FILE--
<?php
use Apus\ConnectionPool;
use Apus\Coroutine;
use function Apus\go;
use function Apus\Coroutine\run;

$pool = new ConnectionPool(fn () => new stdClass, 3);

class Waits implements JsonSerializable
{
    public ?Waits $inner = null;
    function __construct(private Closure $wait) {}
    function jsonSerialize(): mixed { ($this->wait)(); return ['waited', $this->inner]; }
    function __get($name) { ($this->wait)(); return "made $name"; }
}

/** What three coroutines say that are in `$do` at once. */
function three(Closure $do): string
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
    return implode(' | ', array_unique($said)) . ' ' . count($said);
}

$outside = new Waits(fn () => $pool->use(fn () => usleep(1000)));
$outside->inner = new Waits(fn () => $pool->use(fn () => usleep(1000)));
echo three(fn () => json_encode($outside, JSON_THROW_ON_ERROR)), "\n";
echo three(fn () => $outside->there), "\n";

$inside = new Waits(fn () => usleep(1000));
$inside->inner = new Waits(fn () => usleep(1000));
echo three(fn () => $pool->use(fn () => json_encode($inside, JSON_THROW_ON_ERROR))), "\n";
echo three(fn () => $pool->use(fn () => $inside->there)), "\n";

// A recursion is still one, on either side of use(), and none is seen afterwards.
$own = new Waits(fn () => null);
$own->inner = $own;
$once = new Waits(function () use ($pool, &$once) {
    $pool->use(fn () => json_encode($once, JSON_THROW_ON_ERROR));
});
echo three(fn () => json_encode($once, JSON_THROW_ON_ERROR)), "\n";
echo three(fn () => $pool->use(fn () => json_encode($own, JSON_THROW_ON_ERROR))), "\n";
echo three(fn () => json_encode($outside, JSON_THROW_ON_ERROR)), "\n";

// Who is cancelled there leaves nothing behind.
run(function () use ($pool, $outside) {
    $id = go(fn () => json_encode($outside));
    Coroutine::cancel($id);
    Coroutine::sleep(0.01);
    echo json_encode($outside), "\n";
});
?>
--EXPECT--
["waited",["waited",null]] 3
made there 3
["waited",["waited",null]] 3
made there 3
JsonException: Recursion detected 3
JsonException: Recursion detected 3
["waited",["waited",null]] 3
["waited",["waited",null]]
