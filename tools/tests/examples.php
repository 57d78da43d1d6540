<?php

declare(strict_types=1);

// Runs every example, the project skeleton and the command's whole round, on the built module: APUS names the command.

namespace Apus\Tools;

require __DIR__ . '/server.php';

$root = dirname(__DIR__, 2);
$apus = getenv('APUS') ?: "$root/target/release/apus";
$passed = 0;
$failed = 0;

$check = static function (string $what, bool $holds, mixed $got = null) use (&$passed, &$failed): void {
    $holds ? $passed++ : $failed++;
    echo $holds ? 'ok      ' : 'FAILED  ', $what, $holds || $got === null ? '' : ': got ' . json_encode($got), "\n";
};

/** One example: what is asked of it stands in $questions. */
$example = static function (string $name, callable $questions) use ($root, $apus, $check): void {
    try {
        $server = new Server($apus, ["$root/examples/$name/server.php", '0'], ['PORT' => '0']);
        $questions($server);
        $code = $server->stop();
        $check("$name: stops gracefully", $code === 0, $code);
    } catch (\Throwable $error) {
        $check("$name: runs", false, $error->getMessage());
    }
};

$example('hello', function (Server $server) use ($check): void {
    $check('hello: greets by name', ($got = $server->ask('/?name=Apus'))[1] === "Hello, Apus\n", $got);
});

$example('coroutines', function (Server $server) use ($check): void {
    $got = json_decode($server->ask('/')[1], true);
    $check('coroutines: three results', array_keys($got ?? []) === ['user', 'orders', 'weather', 'seconds'], $got);
    // One after the other they would take 0.3 s; the slowest takes 0.15.
    $check('coroutines: at once', ($got['seconds'] ?? 1) >= 0.149 && $got['seconds'] < 0.29, $got);
});

$example('sse', function (Server $server) use ($check): void {
    $got = $server->begin('/', 200);
    $check('sse: a stream of events', str_contains($got, 'text/event-stream') && str_contains($got, "id: 1\ndata: {"), $got);
});

$example('static-file', function (Server $server) use ($check, $root): void {
    $file = (string) file_get_contents("$root/examples/static-file/public/index.html");
    [$status, $body, $fields] = $server->ask('/');
    $type = $fields['content-type'] ?? '';
    $check('static-file: the file', [$status, $body] === [200, $file] && str_starts_with($type, 'text/html'), [$status, $body, $fields]);
    $check('static-file: nothing outside', $server->ask('/../server.php')[0] === 404 && $server->ask('/%2e%2e/server.php')[0] === 404);
    $check('static-file: a NUL in the path', ($got = $server->ask('/a%00b'))[0] === 404, $got);
});

$example('stream-upload', function (Server $server) use ($check): void {
    $body = random_bytes(3_000_000);
    $got = json_decode($server->ask('/', 'POST', $body)[1], true);
    $check('stream-upload: all of it, in order', ($got['bytes'] ?? 0) === 3_000_000 && $got['sha256'] === hash('sha256', $body), $got);
});

$example('demo', function (Server $server) use ($check): void {
    [$status, $page] = $server->ask('/');
    $check('demo: the page', $status === 200 && str_contains($page, '<title>Apus, live</title>'), $status);
    $check('demo: the page asks nothing of other hosts', preg_match('~(?:src|href)=["\']?https?:~', $page) === 0);
    $list = json_decode($server->ask('/api/list')[1], true);
    $check('demo: 100 elements', is_array($list) && count($list) === 100);
    $slow = json_decode($server->ask('/api/slow?calls=1000')[1], true);
    // In turn they would take 100,000 ms.
    $check('demo: 1,000 slow calls at once', ($slow['calls'] ?? 0) === 1000 && $slow['total_ms'] >= 99 && $slow['total_ms'] < 5000, $slow);
    $kept = json_decode($server->ask('/api/keep', 'POST', str_repeat('x', 1_000_000))[1], true);
    $uuid = '~^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$~';
    $check('demo: an upload is kept under a UUID v4', preg_match($uuid, $kept['uuid'] ?? '') === 1 && $kept['bytes'] === 1_000_000, $kept);
    $picture = random_bytes(300_000);
    $check('demo: an upload comes back', $server->ask('/api/mirror', 'POST', $picture)[1] === $picture);
    $stats = json_decode($server->ask('/stats')[1], true);
    $shown = ['request_count', 'latency_p50_us', 'latency_p99_us', 'coroutine_num', 'coroutine_peak_num', 'connection_num',
        'accept_count', 'memory_bytes', 'rss_bytes', 'start_time', 'worker_num', 'workers'];
    $missing = array_diff($shown, array_keys($stats ?? []));
    $check('demo: the figures that the page shows', $missing === [], array_values($missing));
    $check('demo: requests are counted', ($stats['request_count'] ?? 0) >= 5, $stats);
    $check('demo: anything else is not found', $server->ask('/nowhere')[0] === 404);
});

// Without data the travel service says how to make some.
exec(escapeshellarg($apus) . " run $root/examples/travel/server.php 0 --data /nonexistent 2>&1", $told, $code);
$check('travel: without data it says what to do', $code === 1 && str_contains(implode("\n", $told), '/generate.php travel --users'), $told);

// The skeleton passes its own test.
$scratch = sys_get_temp_dir() . '/apus-tools-' . getmypid();
mkdir($scratch);
exec(escapeshellarg($apus) . " new $scratch/shop 2>&1", $lines, $code);
$check('new: makes a project', $code === 0, $lines);
putenv("APUS=$apus");
exec(escapeshellarg(PHP_BINARY) . " $scratch/shop/tests/run.php 2>&1", $said, $code);
$check('new: the project passes its own test', $code === 0, $said);

// The command's round: start, status, reload, stop.
putenv("XDG_RUNTIME_DIR=$scratch");
putenv('PORT=0');
$run = static function (string $arguments) use ($apus): array {
    exec(escapeshellarg($apus) . " $arguments 2>&1", $lines, $code);
    return [$code, implode("\n", $lines)];
};
$script = "$scratch/shop/server.php";
$started = $run("start -d $script");
$check('start -d: says where it serves', $started[0] === 0 && preg_match('~^serving at (http://\S+)~', $started[1], $match) === 1, $started);
if (isset($match[1])) {
    $check('start -d: it serves there', @file_get_contents("$match[1]/") === "Hello from shop\n");
    $status = $run("status --json $script");
    $figures = json_decode($status[1], true);
    $check('status: every worker serves', $status[0] === 0 && ($figures['totals']['serving'] ?? 0) === $figures['worker_num'], $status);
    $check('status: requests are counted', ($figures['totals']['requests'] ?? 0) >= 1, $figures['totals'] ?? null);
    $shown = $run("status $script");
    $check('status: a table for people', $shown[0] === 0 && str_contains($shown[1], 'REQUESTS'), $shown);

    $file = "$scratch/shop/src/app.php";
    file_put_contents($file, str_replace('Hello', 'Good day', (string) file_get_contents($file)));
    // opcache tells versions of a file apart by their time in whole seconds; here both were written within one.
    touch($file, time() + 2);
    $reloaded = $run("reload $script");
    $check('reload: waits for the new workers', $reloaded[0] === 0, $reloaded);
    // The old workers may still take connections until they have drained: a new one of ours goes to a new worker once
    // they have.
    $answer = '';
    for ($try = 0; $try < 200 && $answer !== "Good day from shop\n"; $try++) {
        $answer = @file_get_contents("$match[1]/");
    }
    $check('reload: new code', $answer === "Good day from shop\n", $answer);
    $stopped = $run("stop $script");
    $check('stop: the server has left', $stopped[0] === 0, $stopped);
    $check('stop: nobody serves any more', @file_get_contents("$match[1]/") === false);
    $check('status: exit code 3 when none runs', $run("status $script")[0] === 3);
    $check('stop: no control socket is left', glob("$scratch/apus/*.sock") === []);
}
exec('rm -rf ' . escapeshellarg($scratch));

echo "$passed passed, $failed failed\n";
exit($failed === 0 ? 0 : 1);
