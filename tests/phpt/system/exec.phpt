--TEST--
System::exec(): code, signal, output, standard error, limits, cancel, arguments
--EXTENSIONS--
posix
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\{CanceledException, System};
use function Apus\{go, last_error, strerror};
use function Apus\Coroutine\run;

const ECHILD = 10;
function show(mixed $result): void
{
    echo json_encode($result), $result === false ? ' ' . strerror(last_error()) : '', "\n";
}

run(function () {
    show(System::exec('echo out; echo err >&2; exit 7', true));
    show(System::exec('printf "a\\000b"'));
    show(System::exec('kill -9 $$'));
    show(System::exec('no-such-command-anywhere 2>/dev/null'));
    show(System::exec(''));
    putenv('APUS_TEST_WORD=from the parent');
    show(System::exec('echo "$APUS_TEST_WORD"; cat', false) ?: null);
    $big = System::exec('head -c 5000000 /dev/zero; exit 1');
    var_dump($big['code'], strlen($big['output']));
    show(System::exec('head -c 100 /dev/zero', false, 100)['code']);
    show(System::exec('head -c 101 /dev/zero; sleep 100', false, 100));
    foreach ([fn() => System::exec("a\0b"), fn() => System::exec('true', false, 0)] as $bad) {
        try {
            $bad();
        } catch (ValueError $e) {
            echo $e->getMessage(), "\n";
        }
    }
});

echo "cancelled:\n";
run(function () {
    $mark = tempnam(sys_get_temp_dir(), 'apus-exec-');
    foreach ([false, true] as $throw) {
        file_put_contents($mark, '');
        $id = go(function () use ($mark) {
            try {
                // The shell's child, not the shell, is what has to end.
                show(System::exec("sh -c 'echo \$\$ > $mark; exec sleep 100'; true"));
            } catch (CanceledException $e) {
                echo $e->getMessage(), "\n";
            }
        });
        while (!($pid = (int) file_get_contents($mark))) {
            Coroutine::sleep(0.002);
        }
        var_dump(posix_kill($pid, 0), Coroutine::cancel($id, $throw));
        Coroutine::join([$id]);
        // What init has not reaped yet still has a number, but is no sleep any more.
        while (posix_kill($pid, 0) && str_contains(@file_get_contents("/proc/$pid/cmdline") ?: '', 'sleep')) {
            Coroutine::sleep(0.002);
        }
    }
    unlink($mark);
    while (System::wait(1) !== false || last_error() !== ECHILD) {
        echo "a child is left\n";
    }
});
try {
    System::exec('true');
} catch (Apus\Coroutine\Exception $e) {
    echo $e->getCode(), " ", $e->getMessage(), "\n";
}
?>
--STDIN--
from stdin
--EXPECTF--
{"code":7,"signal":0,"output":"out\nerr\n"}
{"code":0,"signal":0,"output":"a\u0000b"}
{"code":0,"signal":9,"output":""}
{"code":127,"signal":0,"output":""}
{"code":0,"signal":0,"output":""}
{"code":0,"signal":0,"output":"from the parent\nfrom stdin\n"}
int(1)
int(5000000)
0

Warning: Apus\Coroutine\System::exec(): the command was ended, for it printed more than 100 bytes: raise $max_output in %s on line %d
false File too large
Apus\Coroutine\System::exec(): Argument #1 ($command) must not contain any null bytes
Apus\Coroutine\System::exec(): Argument #3 ($max_output) must be at least 1 byte, 0 given
cancelled:
bool(true)
bool(true)
false Operation canceled
bool(true)
bool(true)
the coroutine was cancelled while it waited in Coroutine\System::exec()
1 Coroutine\System::exec() waits and needs a coroutine: call it inside Apus\Coroutine\run() or Apus\go()
