<?php

declare(strict_types=1);

// One store with N visits: what they take, how long loading takes, reads and updates a second from 1 and 2 processes.
// php measure.php STORE N FILE SECONDS; the last line is JSON.

namespace Bench;

/** Visits in memory. */
interface Store
{
    /** Takes all visits of a CSV file with a head line; ids are 1 to $count. */
    public function load(string $file, int $count): void;

    /** The mark of a visit, read together with its other three values. */
    public function read(int $id): int;

    public function update(int $id, int $mark): void;

    /** After a fork: connections and the like of its own. */
    public function forked(): void;

    /** Processes beside this one whose memory counts. @return list<int> */
    public function pids(): array;

    /** Whether all processes see one copy. */
    public function shared(): bool;
}

/** What most stores have in common: nothing to open, no other process, a copy for each. */
abstract class Local implements Store
{
    public function forked(): void {}

    public function pids(): array
    {
        return [];
    }

    public function shared(): bool
    {
        return false;
    }

    /** @return \Generator<int, array{string, string, string, string, string}> the fields of each line */
    protected function lines(string $file): \Generator
    {
        $in = fopen($file, 'r') ?: throw new \RuntimeException("cannot read $file");
        fgets($in);
        while (($line = fgets($in)) !== false) {
            yield explode(',', $line);
        }
        fclose($in);
    }
}

/** Memory of processes in bytes: pages that they share count once. @param list<int> $pids */
function memory(array $pids): int
{
    $sum = 0;
    foreach ($pids as $pid) {
        preg_match('/^Pss:\s+(\d+) kB/m', (string) file_get_contents("/proc/$pid/smaps_rollup"), $found);
        $sum += (int) ($found[1] ?? 0) * 1024;
    }
    return $sum;
}

/** Operations a second of this process over some seconds; the clock is looked at once in 256. */
function rate(\Closure $operation, float $seconds): float
{
    $began = hrtime(true);
    $end = $began + (int) ($seconds * 1e9);
    $done = 0;
    do {
        for ($i = 0; $i < 256; $i++) {
            $operation();
        }
        $done += 256;
        $now = hrtime(true);
    } while ($now < $end);
    return $done / (($now - $began) / 1e9);
}

/** The sum over processes that run at the same time. */
function rates(Store $store, \Closure $operation, int $processes, float $seconds): float
{
    $pipes = $children = [];
    for ($i = 0; $i < $processes; $i++) {
        [$ours, $theirs] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        $pid = pcntl_fork();
        if ($pid === 0) {
            mt_srand($i + 1);
            $store->forked();
            fwrite($theirs, "r");
            fread($theirs, 1);
            fwrite($theirs, (string) rate($operation, $seconds));
            // No destructors: freeing millions of values would be measured as somebody's time.
            posix_kill(getmypid(), SIGKILL);
        }
        fclose($theirs);
        $children[] = $pid;
        $pipes[] = $ours;
    }
    array_walk($pipes, static fn ($pipe) => fread($pipe, 1));
    array_walk($pipes, static fn ($pipe) => fwrite($pipe, 'g'));
    $sum = array_sum(array_map(static fn ($pipe): float => (float) stream_get_contents($pipe), $pipes));
    array_walk($children, static fn ($pid) => pcntl_waitpid($pid, $status));
    return $sum;
}

/** The last visits of the file are there, with their marks: a store that drops rows in silence is not measured. */
function check(Store $store, string $file): void
{
    $in = fopen($file, 'r');
    fseek($in, -20_000, SEEK_END);
    fgets($in);
    while (($line = fgets($in)) !== false) {
        [$id, , , , $mark] = array_map('intval', explode(',', $line));
        if ($store->read($id) !== $mark) {
            throw new \UnexpectedValueException("visit $id is not what the file says");
        }
    }
}

function main(array $argv): void
{
    [, $name, $count, $file, $seconds] = $argv;
    ini_set('memory_limit', '-1');
    $count = (int) $count;
    require __DIR__ . "/stores/$name.php";
    $class = 'Bench\\' . implode('', array_map('ucfirst', explode('-', $name)));
    $store = new $class();
    $pids = static fn (): array => [getmypid(), ...$store->pids()];
    $before = memory($pids());
    $began = hrtime(true);
    $store->load($file, $count);
    $loaded = (hrtime(true) - $began) / 1e9;
    gc_collect_cycles();
    gc_mem_caches();
    $bytes = memory($pids()) - $before;
    check($store, $file);
    $sum = 0;
    $read = static function () use ($store, $count, &$sum): void {
        $sum += $store->read(mt_rand(1, $count));
    };
    $update = static function () use ($store, $count): void {
        $store->update(mt_rand(1, $count), mt_rand(0, 5));
    };
    $figures = ['bytes' => $bytes, 'load_s' => $loaded, 'shared' => $store->shared()];
    foreach ([1, 2] as $processes) {
        $figures["reads_$processes"] = rates($store, $read, $processes, (float) $seconds);
        $figures["updates_$processes"] = rates($store, $update, $processes, (float) $seconds);
    }
    echo json_encode($figures), "\n";
    foreach ($store->pids() as $pid) {
        posix_kill($pid, SIGKILL);
    }
    posix_kill(getmypid(), SIGKILL);
}

main($argv);
