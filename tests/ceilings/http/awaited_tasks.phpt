--TEST--
Ceiling: an awaited task puts who waits for it and its worker to sleep once each, and wakes nobody else
--SKIPIF--
<?php is_dir('/proc/self') || die('skip needs /proc'); ?>
--FILE--
<?php
passthru('python3 ' . escapeshellarg(__DIR__ . '/measure.py') . ' awaited_tasks 2>&1');
?>
--EXPECT--
ok
