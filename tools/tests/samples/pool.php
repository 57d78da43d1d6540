<?php
// A pool of processes, which is told to stop when its workers are there.
$master = getmypid();
$stopper = new Apus\Process(function () use ($master) {
    while (count(explode(' ', trim((string) file_get_contents("/proc/$master/task/$master/children")))) < 2) {
        usleep(10_000);
    }
    posix_kill($master, SIGTERM);
});
$stopper->start();
// the sample
