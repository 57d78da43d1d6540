<?php

declare(strict_types=1);

namespace Bench;

/** Tasks at once on the way in the throughput cases. */
const WINDOW = 64;

/** What a task carries; the answer is the same again. */
function payload(string $case): mixed
{
    return match ($case) {
        'small', 'wait' => ['id' => 12345, 'action' => 'mail', 'to' => 'somebody@example.com', 'tries' => 0, 'tags' => ['a', 'b']],
        'large' => ['id' => 12345, 'body' => str_repeat('0123456789abcdef', 1024)],
    };
}

/** User and system seconds of a process, its living descendants and their dead children. */
function cpu(int $root): float
{
    $stats = [];
    foreach (glob('/proc/[0-9]*/stat') as $file) {
        $text = (string) @file_get_contents($file);
        $fields = explode(' ', substr($text, (int) strrpos($text, ')') + 2));
        if (count($fields) > 15) {
            $stats[(int) $text] = ['parent' => (int) $fields[1], 'ticks' => $fields[11] + $fields[12] + $fields[13] + $fields[14]];
        }
    }
    $sum = 0;
    foreach ($stats as $pid => $stat) {
        for ($at = $pid; $at !== $root && isset($stats[$at]); $at = $stats[$at]['parent']);
        $sum += $at === $root ? $stat['ticks'] : 0;
    }
    return $sum / 100;
}

/** The line of figures. @param list<int> $nanoseconds of single tasks, where they were measured */
function figures(int $done, int $wrong, float $wall, float $cpu, array $nanoseconds = []): string
{
    $figures = ['tasks_s' => $done / $wall, 'cpu_us' => $cpu / $done * 1e6, 'wrong' => $wrong];
    if ($nanoseconds !== []) {
        sort($nanoseconds);
        foreach (['p50_us' => 0.5, 'p99_us' => 0.99, 'max_us' => 1.0] as $name => $part) {
            $figures[$name] = $nanoseconds[(int) ceil($part * count($nanoseconds)) - 1] / 1000;
        }
    }
    return json_encode($figures) . "\n";
}
