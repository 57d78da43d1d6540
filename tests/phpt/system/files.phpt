--TEST--
System::readFile(), writeFile(), statvfs(): contents, flags, locks, big files, cancel, failures, arguments
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\System;
use function Apus\{go, last_error, strerror};
use function Apus\Coroutine\{batch, run};

function show(mixed $result): void
{
    echo json_encode($result), $result === false ? ' ' . strerror(last_error()) : '', "\n";
}

$folder = sys_get_temp_dir() . '/apus-files-' . getmypid();
mkdir($folder);
run(function () use ($folder) {
    $file = "$folder/file";
    show(System::writeFile($file, 'first'));
    show(System::writeFile($file, ' second', FILE_APPEND));
    show(System::readFile($file));
    show(System::writeFile($file, 'short'));
    show(System::writeFile($file, '!', FILE_APPEND | LOCK_EX));
    show(System::readFile($file, LOCK_EX));
    show(System::writeFile($file, 'locked', LOCK_EX));
    show(System::writeFile($file, ''));
    show(System::readFile($file));
    var_dump((fileperms($file) & 0777) === (0666 & ~umask()));
    var_dump(strlen(System::readFile('/proc/self/status')) > 100);

    echo "20 MB:\n";
    $big = str_repeat(md5('apus', true), 20 * 65536);
    show(System::writeFile($file, $big));
    var_dump(System::readFile($file) === $big);
    unset($big);

    echo "side by side:\n";
    $jobs = [];
    for ($i = 0; $i < 50; $i++) {
        $jobs[] = function () use ($folder, $i) {
            System::writeFile("$folder/$i", str_repeat((string) $i, 1000));
            return System::readFile("$folder/$i") === str_repeat((string) $i, 1000) && unlink("$folder/$i");
        };
    }
    var_dump(array_unique(batch($jobs)));

    echo "locks:\n";
    file_put_contents($file, 'kept');
    $lock = fopen($file, 'r');
    flock($lock, LOCK_EX);
    $order = [];
    $writer = go(function () use ($file, &$order) {
        $order[] = 'begin';
        show(System::writeFile($file, 'replaced', LOCK_EX));
        $order[] = 'end';
    });
    $given_up = go(fn() => show(System::readFile($file, LOCK_EX)));
    Coroutine::sleep(0.02);
    $order[] = 'other';
    show(System::readFile($file));
    Coroutine::cancel($given_up);
    Coroutine::join([$given_up]);
    flock($lock, LOCK_UN);
    Coroutine::join([$writer]);
    show(System::readFile($file));
    show($order);
    unlink($file);

    echo "failures:\n";
    show(System::readFile($file));
    show(System::readFile($folder));
    show(System::writeFile("$folder/no/such/folder", 'x'));
    show(System::writeFile($folder, 'x'));
    show(System::statvfs($file));
    echo implode(' ', array_keys(System::statvfs('/'))), "\n";
    var_dump(abs(System::statvfs('/')['blocks'] * System::statvfs('/')['frsize'] - disk_total_space('/')) < 1);

    echo "arguments:\n";
    $wrong = [
        fn() => System::readFile(''),
        fn() => System::readFile("a\0b"),
        fn() => System::readFile('a', 1),
        fn() => System::writeFile('', 'x'),
        fn() => System::writeFile('a', 'x', 1),
        fn() => System::statvfs(''),
    ];
    foreach ($wrong as $call) {
        try {
            $call();
            echo "no exception\n";
        } catch (ValueError $e) {
            echo $e->getMessage(), "\n";
        }
    }
});
rmdir($folder);
try {
    System::readFile(__FILE__);
} catch (Apus\Coroutine\Exception $e) {
    echo $e->getCode(), "\n";
}
?>
--EXPECT--
5
7
"first second"
5
1
"short!"
6
0
""
bool(true)
bool(true)
20 MB:
20971520
bool(true)
side by side:
array(1) {
  [0]=>
  bool(true)
}
locks:
"kept"
false Operation canceled
8
"replaced"
["begin","other","end"]
failures:
false No such file or directory
false Is a directory
false No such file or directory
false Is a directory
false No such file or directory
bsize frsize blocks bfree bavail files ffree favail fsid flag namemax
bool(true)
arguments:
Apus\Coroutine\System::readFile(): Argument #1 ($filename) cannot be empty
Apus\Coroutine\System::readFile(): Argument #1 ($filename) must not contain any null bytes
Apus\Coroutine\System::readFile(): Argument #2 ($flag) must be 0 or LOCK_EX, 1 given
Apus\Coroutine\System::writeFile(): Argument #1 ($filename) cannot be empty
Apus\Coroutine\System::writeFile(): Argument #3 ($flags) must be 0 or FILE_APPEND, LOCK_EX or both, 1 given
Apus\Coroutine\System::statvfs(): Argument #1 ($path) cannot be empty
1
