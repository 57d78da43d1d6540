--TEST--
Coroutines that wait for the other end of a FIFO hold up nobody who reads a file, however many they are
--EXTENSIONS--
posix
--FILE--
<?php
use Apus\{Coroutine, Runtime};
use Apus\Coroutine\System;
use function Apus\{Coroutine\run, go};

run(function () {
    Runtime::enableCoroutine(Apus\HOOK_ALL | Apus\HOOK_FILE);
    $fifo = __DIR__ . '/files_fifo.tmp';
    posix_mkfifo($fifo, 0600);
    $read = [];
    for ($i = 0; $i < 140; $i++) {
        $jobs[] = go(function () use ($fifo, $i, &$read) {
            $read[] = $i % 2 ? System::readFile($fifo) : stream_get_contents(fopen($fifo, 'r'));
        });
    }
    echo strlen(file_get_contents(__FILE__)) === filesize(__FILE__) ? "hooked\n" : "?\n";
    echo strlen(System::readFile(__FILE__)) === filesize(__FILE__) ? "called\n" : "?\n";
    echo count($read), " before the writer\n";
    $writer = fopen($fifo, 'w');
    $opened = fn() => count(array_filter(glob('/proc/self/fd/*'), fn($fd) => @readlink($fd) === $fifo));
    while ($opened() < 141) {
        Coroutine::sleep(0.001);
    }
    fclose($writer);
    Coroutine::join($jobs);
    echo count($read), " after it\n";
});
?>
--CLEAN--
<?php unlink(__DIR__ . '/files_fifo.tmp'); ?>
--EXPECT--
hooked
called
0 before the writer
140 after it
