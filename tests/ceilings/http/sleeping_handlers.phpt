--TEST--
Ceiling: memory of a sleeping handler
--SKIPIF--
<?php $tool = ['syscalls' => 'strace', 'syscalls_pipelined' => 'strace', 'allocations' => 'cc', 'flat_memory' => 'wrk']['sleeping_handlers'] ?? 'python3'; trim((string) shell_exec("command -v $tool")) || die("skip needs $tool"); ?>
--FILE--
<?php
passthru('python3 ' . escapeshellarg(__DIR__ . '/measure.py') . ' sleeping_handlers 2>&1');
?>
--EXPECT--
ok
