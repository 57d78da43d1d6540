--TEST--
The PHP library: what coroutines coordinate with, and pools, under the names of Swoole
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\ConnectionPool;
use Swoole\Coroutine\Barrier;
use Swoole\Coroutine\WaitGroup;

use function Co\go;
use function Swoole\Coroutine\{batch, map, parallel};

var_dump(Co\run(function (): void {
    $group = new WaitGroup(1);
    $group->add();
    for ($at = 0; $at < 2; $at++) {
        go(function () use ($group): void {
            Apus\Coroutine::sleep(0.001);
            $group->done();
        });
    }
    var_dump($group->count(), $group->wait(5), $group->count());

    $barrier = Barrier::make();
    go(function () use ($barrier): void {
        Apus\Coroutine::sleep(0.001);
        echo "in the barrier\n";
    });
    Barrier::wait($barrier);
    echo "behind it\n";
    var_dump($barrier);

    var_dump(map(['a' => 1, 'b' => 2], fn (int $value, string $key): string => "{$key}{$value}"));
    var_dump(batch(['quick' => fn () => 1, 'slow' => fn () => Apus\Coroutine::sleep(10)], 0.01));
    $count = 0;
    parallel(3, function () use (&$count): void {
        $count++;
    });
    var_dump($count);

    $pool = new ConnectionPool(fn () => new stdClass(), 1);
    $first = $pool->get();
    var_dump($pool->get(0.001));
    $pool->put($first);
    var_dump($pool->get() === $first);
    $pool->put(null);
    var_dump($pool->get() === $first);
    $pool->close();
    try {
        $pool->get();
    } catch (RuntimeException $e) {
        echo get_class($e), "\n";
    }
    $pool = new ConnectionPool(fn () => throw new DomainException('no database'));
    try {
        $pool->get();
    } catch (DomainException $e) {
        echo $e->getMessage(), "\n";
    }
    // As old code overrides it.
    $pool = new class (fn () => new stdClass()) extends ConnectionPool {
        public function get(float $timeout = -1)
        {
            return [$this->size, parent::get($timeout)];
        }
    };
    var_dump($pool->get()[0]);
    Swoole\Coroutine\defer(fn () => print("deferred\n"));
}));
?>
--EXPECT--
int(2)
bool(true)
int(0)
in the barrier
behind it
NULL
array(2) {
  ["a"]=>
  string(2) "a1"
  ["b"]=>
  string(2) "b2"
}
array(2) {
  ["quick"]=>
  int(1)
  ["slow"]=>
  NULL
}
int(3)
bool(false)
bool(true)
bool(false)
Apus\ConnectionPool\Exception
no database
int(64)
deferred
bool(true)
