--TEST--
Lock between processes: exclusive, shared, time-outs, a dead holder, and no two at once in a random run
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
use Apus\Coroutine\Lock;
use function Apus\Coroutine\{batch, run};

/** Runs a function in a child that answers each line of its input; gives a function that asks it. */
function child(callable $serve): array
{
    [$mine, $its] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    $pid = pcntl_fork();
    if ($pid === 0) {
        fclose($mine);
        run(function () use ($its, $serve) {
            while (($line = fgets($its)) !== false) {
                fwrite($its, json_encode($serve(trim($line))) . "\n");
            }
        });
        posix_kill(posix_getpid(), SIGKILL);
    }
    fclose($its);
    return [$pid, function (string $line) use ($mine) {
        fwrite($mine, "$line\n");
        return json_decode(fgets($mine));
    }];
}

$lock = new Lock(true);
[$pid, $ask] = child(fn(string $what) => match ($what) {
    'lock' => $lock->lock(),
    'share' => $lock->lock(LOCK_SH),
    'try' => [$lock->trylock(), $lock->errCode],
    'unlock' => $lock->unlock(),
});
run(function () use ($lock, $ask, $pid) {
    var_dump($ask('lock'), $lock->trylock(), $lock->errCode, $lock->lock(LOCK_SH, 0.005), $lock->errCode);
    var_dump($ask('unlock'), $lock->lock());
    echo json_encode($ask('try')), "\n";
    $lock->unlock();
    echo "shared:\n";
    var_dump($ask('share'), $lock->lock(LOCK_SH, 10));
    $lock->unlock();
    var_dump($lock->trylock(), $lock->errCode);
    // The claim of one that gave up is gone.
    var_dump($ask('unlock'), $ask('share'), $ask('unlock'));
    echo "in this process:\n";
    $inside = $most = 0;
    $one = function () use ($lock, &$inside, &$most) {
        $lock->lock();
        $most = max($most, ++$inside);
        Apus\Coroutine::sleep(0);
        $inside--;
        $lock->unlock();
    };
    batch(array_fill(0, 50, $one));
    batch([fn() => $lock->lock(LOCK_SH) && $lock->unlock(), fn() => $lock->lock(LOCK_SH) && $lock->unlock()]);
    var_dump($most);
    echo "dead:\n";
    var_dump($ask('lock'));
    posix_kill($pid, SIGKILL);
    pcntl_waitpid($pid, $status);
    var_dump($lock->lock(), $lock->errCode);
    $lock->unlock();
    var_dump($lock->lock(), $lock->errCode);
    $lock->unlock();
});

echo "counting:\n";
$file = tempnam(sys_get_temp_dir(), 'apus-lock');
file_put_contents($file, '0');
$count = function () use ($lock, $file) {
    for ($i = 0; $i < 50; $i++) {
        $lock->lock();
        $n = (int) file_get_contents($file);
        mt_rand(0, 3) || Apus\Coroutine::sleep(0.0005);
        file_put_contents($file, (string) ($n + 1));
        $lock->unlock();
    }
};
$children = array_map(fn() => child(fn() => batch([$count, $count])), range(1, 3));
foreach ($children as [, $ask]) {
    $asked[] = $ask;
}
run(function () use ($asked, $count) {
    batch([$count, ...array_map(fn($ask) => fn() => $ask('count'), $asked)]);
});
echo file_get_contents($file), "\n";
unlink($file);
foreach ($children as [$pid]) {
    posix_kill($pid, SIGKILL);
    pcntl_waitpid($pid, $status);
}
?>
--EXPECT--
bool(true)
bool(false)
int(16)
bool(false)
int(110)
bool(true)
bool(true)
[false,16]
shared:
bool(true)
bool(true)
bool(false)
int(16)
bool(true)
bool(true)
bool(true)
in this process:
int(1)
dead:
bool(true)
bool(true)
int(130)
bool(true)
int(0)
counting:
350
