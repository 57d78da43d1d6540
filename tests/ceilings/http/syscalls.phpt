--TEST--
Ceiling: one read, one write, one wait a request
--SKIPIF--
<?php $tool = ['syscalls' => 'strace', 'syscalls_pipelined' => 'strace', 'allocations' => 'cc', 'flat_memory' => 'wrk']['syscalls'] ?? 'python3'; trim((string) shell_exec("command -v $tool")) || die("skip needs $tool"); ?>
--FILE--
<?php
passthru('python3 ' . escapeshellarg(__DIR__ . '/measure.py') . ' syscalls 2>&1');
?>
--EXPECT--
ok
