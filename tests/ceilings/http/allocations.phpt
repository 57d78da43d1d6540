--TEST--
Ceiling: allocations a request
--SKIPIF--
<?php $tool = ['syscalls' => 'strace', 'syscalls_pipelined' => 'strace', 'allocations' => 'cc', 'flat_memory' => 'wrk']['allocations'] ?? 'python3'; trim((string) shell_exec("command -v $tool")) || die("skip needs $tool"); ?>
--FILE--
<?php
passthru('python3 ' . escapeshellarg(__DIR__ . '/measure.py') . ' allocations 2>&1');
?>
--EXPECT--
ok
