--TEST--
1,000 coroutines that read and write files have at most 64 threads, and all is read
--FILE--
<?php
use Apus\{Coroutine, Runtime};
use Apus\Coroutine\System;
use function Apus\{Coroutine\run, go};

run(function () {
    Runtime::enableCoroutine(Apus\HOOK_ALL | Apus\HOOK_FILE);
    $right = 0;
    $jobs = [];
    for ($i = 0; $i < 1_000; $i++) {
        $jobs[] = go(function () use ($i, &$right) {
            $file = __DIR__ . "/file_threads.$i.tmp";
            // To empty it, and to write the new content, may wait for the old one's writing.
            file_put_contents($file, "made");
            file_put_contents($file, "hooked $i");
            $right += file_get_contents($file) === "hooked $i" ? 1 : 0;
            System::writeFile($file, "called $i");
            $right += System::readFile($file) === "called $i" ? 1 : 0;
            unlink($file);
        });
    }
    Coroutine::join($jobs);
    echo "$right of 2000\n";
    preg_match('/Threads:\s+(\d+)/', file_get_contents('/proc/self/status'), $match);
    // And PHP's own.
    echo $match[1] <= 65 ? "few threads\n" : "$match[1] threads\n";
});
?>
--CLEAN--
<?php array_map(unlink(...), glob(__DIR__ . '/file_threads.*.tmp')); ?>
--EXPECT--
2000 of 2000
few threads
