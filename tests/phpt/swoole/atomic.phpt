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
