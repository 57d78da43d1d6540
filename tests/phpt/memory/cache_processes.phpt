--TEST--
Cache between processes: one value, one counter, one producer; a producer that is killed is replaced; so is a killed writer's partition
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
use Apus\Cache;

$cache = new Cache(1 << 20);
[$mine, $its] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
function child(callable $run): int
{
    $pid = pcntl_fork();
    if ($pid === 0) {
        $run();
        posix_kill(posix_getpid(), SIGKILL);
    }
    return $pid;
}
function ended(int ...$pids): void
{
    foreach ($pids as $pid) {
        pcntl_waitpid($pid, $status);
    }
}
ended(child(fn () => $cache->set('from', ['a' => 'child'])));
var_dump($cache->get('from'));
$count = function () use ($cache) { for ($i = 0; $i < 2000; $i++) { $cache->increment('n'); } };
ended(child($count), child($count), child($count));
var_dump($cache->get('n'));

echo "-- one producer\n";
$make = fn () => fwrite(
    $its,
    $cache->remember('made', 0, function () use ($cache) { $cache->increment('made by'); usleep(20_000); return "value\n"; }),
);
ended(child($make), child($make), child($make), child($make));
var_dump([fgets($mine), fgets($mine), fgets($mine), fgets($mine)] === array_fill(0, 4, "value\n"), $cache->get('made by'));

echo "-- a producer is killed\n";
$producer = child(fn () => $cache->remember('handed', 0, function () use ($its) { fwrite($its, "making\n"); sleep(60); }));
fgets($mine);
$waiting = child(fn () => fwrite($its, $cache->remember('handed', 0, fn () => "by the second\n", 30)));
posix_kill($producer, SIGKILL);
ended($producer);
echo fgets($mine);
ended($waiting);
var_dump($cache->get('handed'));

echo "-- writers are killed\n";
for ($round = 0; $round < 20; $round++) {
    $writer = child(function () use ($cache, $its, $round) {
        fwrite($its, "writing\n");
        for ($i = $round; ; $i++) {
            $cache->set('w' . $i % 50, str_repeat(chr($i % 256), $i * 37 % 5000));
        }
    });
    fgets($mine);
    usleep(500 + $round * 100);
    posix_kill($writer, SIGKILL);
    ended($writer);
    for ($i = 0; $i < 50; $i++) {
        $value = $cache->get("w$i", '');
        if ($value !== '' && $value !== str_repeat($value[0], strlen($value))) {
            echo "torn\n";
        }
    }
    if (!$cache->set('after', $round) || $cache->get('after') !== $round) {
        echo "dead\n";
    }
}
echo "done\n";
?>
--EXPECT--
array(1) {
  ["a"]=>
  string(5) "child"
}
int(6000)
-- one producer
bool(true)
int(1)
-- a producer is killed
by the second
string(14) "by the second
"
-- writers are killed
done
