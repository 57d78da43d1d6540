--TEST--
RateLimiter: bursts, verdicts, costs, refusals, one limit over processes
--EXTENSIONS--
pcntl
--FILE--
<?php
use Apus\RateLimiter;

function refused(string $what, callable $do): void
{
    try {
        var_dump($do());
    } catch (Throwable $e) {
        echo "$what: ", $e::class, ": {$e->getMessage()}\n";
    }
}
// One in an hour comes back: what time passes in the test does not matter.
$limiter = new RateLimiter(1000, 10, 36000);
$allowed = 0;
for ($i = 0; $i < 30; $i++) {
    $allowed += $limiter->allow('a');
}
var_dump($allowed, $limiter->allow('b'));
$verdict = $limiter->check('a');
var_dump($verdict['allowed'], $verdict['remaining'], abs($verdict['retry_after'] - 3600) < 60, abs($verdict['reset'] - 36000) < 60);
$verdict = $limiter->check('c', 10);
var_dump($verdict);
$limiter->reset('a');
var_dump(
    $limiter->allow('a', 10),
    $limiter->allow('a'),
    $limiter->check('b', 9)['allowed'],
    $limiter->check('b', 10)['allowed'],
    $limiter->check('b')['remaining'],
);
$single = new RateLimiter(10, 100, 36000, 1);
var_dump($single->allow('x'), $single->allow('x'));
$fast = new RateLimiter(10, 1e6, burst: 1);
var_dump($fast->allow('x'));
usleep(1000);
var_dump($fast->allow('x'));

echo "-- refused\n";
refused('cost', fn () => $limiter->allow('a', 11));
refused('cost', fn () => $limiter->check('a', 0));
refused('keys', fn () => new RateLimiter(0, 1));
refused('rate', fn () => new RateLimiter(1, 0));
refused('per', fn () => new RateLimiter(1, 1, -1));
refused('burst', fn () => new RateLimiter(1, 1, 1, 0));
refused('rate', fn () => new RateLimiter(1, 1e12));
refused('clone', fn () => clone $limiter);

echo "-- processes\n";
$shared = new RateLimiter(100, 500, 36000);
$shared->allow('all');
[$mine, $its] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
$children = [];
for ($i = 0; $i < 3; $i++) {
    $children[] = $pid = pcntl_fork();
    if ($pid === 0) {
        $count = 0;
        for ($n = 0; $n < 400; $n++) {
            $count += $shared->allow('all');
        }
        fwrite($its, "$count\n");
        exit;
    }
}
$sum = 1;
foreach ($children as $pid) {
    $sum += (int) fgets($mine);
    pcntl_waitpid($pid, $status);
}
var_dump($sum);

echo "-- contention\n";
$begin = hrtime(true);
$contended = new RateLimiter(1000, 200, burst: 50);
$contended->check('all');
$children = [];
for ($i = 0; $i < 4; $i++) {
    $children[] = $pid = pcntl_fork();
    if ($pid === 0) {
        [$count, $most] = [0, 0];
        for ($end = hrtime(true) + 500_000_000; hrtime(true) < $end;) {
            $count += $contended->allow('all');
            $verdict = $contended->check('all');
            $most = max($most, $verdict['remaining'], $verdict['retry_after'], $verdict['reset']);
        }
        fwrite($its, "$count $most\n");
        exit;
    }
}
[$sum, $most] = [0, 0];
foreach ($children as $pid) {
    [$one, $largest] = explode(' ', fgets($mine));
    $sum += (int) $one;
    $most = max($most, (float) $largest);
    pcntl_waitpid($pid, $status);
}
// What a burst and the rate give in all that time, and one in a hundred.
$given = 50 + 200 * (hrtime(true) - $begin) / 1e9;
var_dump($sum >= 50, $sum <= 1.01 * $given ?: "$sum of $given", $most <= 50);
?>
--EXPECT--
int(10)
bool(true)
bool(false)
int(0)
bool(true)
bool(true)
array(4) {
  ["allowed"]=>
  bool(true)
  ["remaining"]=>
  int(10)
  ["retry_after"]=>
  float(0)
  ["reset"]=>
  float(0)
}
bool(true)
bool(false)
bool(true)
bool(false)
int(9)
bool(true)
bool(false)
bool(true)
bool(true)
-- refused
cost: ValueError: Apus\RateLimiter::allow(): Argument #2 ($cost) must be from 1 to the burst, 10, 11 given
cost: ValueError: Apus\RateLimiter::check(): Argument #2 ($cost) must be from 1 to the burst, 10, 0 given
keys: ValueError: Apus\RateLimiter::__construct(): Argument #1 ($keys) must be from 1 to 1073741824, 0 given
rate: ValueError: Apus\RateLimiter::__construct(): Argument #2 ($rate) must be above 0, 0.0 given
per: ValueError: Apus\RateLimiter::__construct(): Argument #3 ($per) must be above 0 seconds, -1.0 given
burst: ValueError: Apus\RateLimiter::__construct(): Argument #4 ($burst) must be 1 or more, 0 given
rate: ValueError: Apus\RateLimiter::__construct(): Argument #2 ($rate) must give a unit at least a nanosecond, and a burst less than a hundred years: 1000000000000.0 in 1.0 s, 1000000000000 at once
clone: Error: Trying to clone an uncloneable object of class Apus\RateLimiter
-- processes
int(500)
-- contention
bool(true)
bool(true)
bool(true)
