<?php

/** usage: php table.php N. Operations on a table, of five kinds in turn; the last line is JSON. */

declare(strict_types=1);

use Swoole\Table;

const ROWS = 50_000;

$count = (int) $argv[1];
$table = new Table(1 << 17);
$table->column('name', Table::TYPE_STRING, 32);
$table->column('visits', Table::TYPE_INT);
$table->column('mark', Table::TYPE_FLOAT);
$table->create();
for ($row = 0; $row < ROWS; $row++) {
    $table->set("key$row", ['name' => "name $row", 'visits' => $row, 'mark' => $row / 7]);
}
[$wrong, $cpu, $began] = [0, cpu(), hrtime(true)];
for ($turn = 0; $turn < $count; $turn += 5) {
    $row = $turn * 7919 % ROWS;
    $key = "key$row";
    $wrong += $table->get($key)['name'] === "name $row" ? 0 : 1;
    $table->incr($key, 'visits');
    $wrong += $table->exist($key) ? 0 : 1;
    $table->set($key, ['name' => "name $row", 'mark' => $turn / 3]);
    $wrong += is_int($table->get($key, 'visits')) ? 0 : 1;
}
$wall = (hrtime(true) - $began) / 1e9;
$cpu = cpu() - $cpu;
preg_match('~^Rss:\s+(\d+).*^Pss:\s+(\d+)~ms', (string) file_get_contents('/proc/self/smaps_rollup'), $memory);
echo json_encode([
    'rate' => $count / $wall, 'cpu_us' => $cpu / $count * 1e6, 'wrong' => $wrong,
    'worker_kib' => (int) $memory[1], 'pss_kib' => (int) $memory[2],
]), "\n";

/** User and system seconds of this process. */
function cpu(): float
{
    $usage = getrusage();
    $microseconds = $usage['ru_utime.tv_usec'] + $usage['ru_stime.tv_usec'];
    return $usage['ru_utime.tv_sec'] + $usage['ru_stime.tv_sec'] + $microseconds / 1e6;
}
