<?php
/**
 * Apus\Cache and Apus\RateLimiter from one and from two processes at once.
 *
 *     php -n -d extension=libapus.so -d extension=pcntl bench/memory/cache.php [seconds a measurement, default 1]
 *
 * Prints JSON: for each case, the calls a second of each process alone and of two at once.
 */

$seconds = (float) ($argv[1] ?? 1);
$cache = new Apus\Cache(64 << 20);
$limiter = new Apus\RateLimiter(100_000, 1e6);
$cache->set('text', str_repeat('x', 1000));
$cache->set('row', ['id' => 1, 'email' => 'user1@example.com', 'name' => 'Name Number 1', 'active' => true, 'balance' => 1.25]);
$cache->set('n', 0);
for ($i = 0; $i < 100_000; $i++) {
    $cache->set("key$i", str_repeat('v', 100));
}
$cases = [
    'get one hot text of 1,000 bytes' => fn (int $i) => $cache->get('text'),
    'get one hot row of five members' => fn (int $i) => $cache->get('row'),
    'get any of 100,000 keys' => fn (int $i) => $cache->get('key' . $i * 7919 % 100_000),
    'set any of 100,000 keys' => fn (int $i) => $cache->set('key' . $i * 7919 % 100_000, 'a value of some length'),
    'nine get, one set, the same ten keys' => fn (int $i) => $i % 10 ? $cache->get('key' . $i % 10) : $cache->set('key' . intdiv($i, 10) % 10, 'another value'),
    'increment one counter' => fn (int $i) => $cache->increment('n'),
    'allow one key' => fn (int $i) => $limiter->allow('one'),
    'allow any of 10,000 keys' => fn (int $i) => $limiter->allow('key' . $i % 10_000),
];

/** Calls a second of each of $processes processes that run $do at once: the median over windows of 2,000 calls, for what else the machine does. */
function rates(callable $do, int $processes, float $seconds): array
{
    $start = new Apus\Cache(1 << 16);
    [$mine, $its] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    for ($n = 0; $n < $processes; $n++) {
        if (pcntl_fork() === 0) {
            while (!$start->has('go')) {
                usleep(100);
            }
            $count = $n * 1_000_003;
            $windows = [];
            $end = hrtime(true) + $seconds * 1e9;
            do {
                $begin = hrtime(true);
                for ($i = 0; $i < 2000; $i++) {
                    $do($count++);
                }
                $windows[] = 2000 / (hrtime(true) - $begin) * 1e9;
            } while (hrtime(true) < $end);
            sort($windows);
            fwrite($its, $windows[intdiv(count($windows), 2)] . "\n");
            exit;
        }
    }
    usleep(20_000);
    $start->set('go', 1);
    $rates = [];
    for ($n = 0; $n < $processes; $n++) {
        $rates[] = round((float) fgets($mine));
    }
    while (pcntl_wait($status) > 0) {
    }
    return $rates;
}

$results = [];
foreach ($cases as $what => $do) {
    $results[$what] = ['alone' => rates($do, 1, $seconds)[0], 'two at once, each' => rates($do, 2, $seconds)];
}
echo json_encode(['php' => PHP_VERSION, 'results' => $results], JSON_PRETTY_PRINT), "\n";
