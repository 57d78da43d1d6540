--TEST--
Swoole\Atomic: wakeup() lets as many processes go on as it says, and one of them finds it 1
--SKIPIF--
<?php if (!is_readable('/proc/self/stat')) die('skip needs /proc');
--INI--
apus.swoole_compat=1
--FILE--
<?php
$atomic = new Swoole\Atomic();
$pids = [];
for ($i = 0; $i < 3; $i++) {
    $process = new Swoole\Process(function () use ($atomic) {
        exit($atomic->wait(60) ? 1 : 2);
    });
    $pids[] = $process->start();
}
// Until all have been asleep for a while: there is nothing else that they wait for.
$asleep = fn (int $pid): bool => preg_match('/\) S /', (string) file_get_contents("/proc/$pid/stat")) === 1;
for ($seen = 0; $seen < 50; usleep(1000)) {
    $seen = count(array_filter($pids, $asleep)) === 3 ? $seen + 1 : 0;
}
var_dump($atomic->wakeup(3));
$codes = [];
foreach ($pids as $pid) {
    $codes[] = Swoole\Process::wait()['code'];
}
sort($codes);
echo implode(' ', $codes), "\n";
// One that was not woken leaves the number as it is.
$atomic->set(0);
$pids = [(new Swoole\Process(fn () => exit($atomic->wait(0.3) ? 1 : 2)))->start()];
for ($seen = 0; $seen < 50; usleep(1000)) {
    $seen = $asleep($pids[0]) ? $seen + 1 : 0;
}
$atomic->set(1);
var_dump(Swoole\Process::wait()['code'], $atomic->get());
var_dump($atomic->wakeup(), $atomic->get(), $atomic->wait(0.001), $atomic->wait(0.001));
// Coroutines of several processes, and of one.
$pids = [];
$ready = new Swoole\Atomic();
for ($i = 0; $i < 2; $i++) {
    $process = new Swoole\Process(function () use ($atomic, $ready) {
        $woken = [];
        for ($k = 0; $k < 2; $k++) {
            go(function () use ($atomic, &$woken) {
                $woken[] = $atomic->wait(60);
            });
        }
        // Both wait: their listeners stand when the loop has turned once.
        Co::sleep(0.01);
        $ready->add();
        while (count($woken) < 2) {
            Co::sleep(0.001);
        }
        exit(array_sum($woken));
    }, false, SOCK_STREAM, true);
    $process->start();
}
while ($ready->get() < 2) {
    usleep(1000);
}
$atomic->wakeup(4);
$codes = [Swoole\Process::wait()['code'], Swoole\Process::wait()['code']];
sort($codes);
echo implode(' ', $codes), "\n";
?>
--EXPECT--
bool(true)
1 2 2
int(2)
int(1)
bool(true)
int(1)
bool(true)
bool(false)
0 1
