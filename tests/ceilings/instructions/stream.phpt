--TEST--
Ceiling: instructions a request of HTTP/2 takes
--SKIPIF--
<?php foreach (['valgrind', 'h2load'] as $program) { trim((string) shell_exec("command -v $program")) || die("skip needs $program"); } echo shell_exec('python3 ' . escapeshellarg(__DIR__ . '/measure.py') . ' --missing 2>&1'); ?>
--FILE--
<?php
passthru('python3 ' . escapeshellarg(__DIR__ . '/measure.py') . ' stream 2>&1');
?>
--EXPECT--
ok
