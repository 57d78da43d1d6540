<?php

declare(strict_types=1);

namespace Apus\Travel;

use Apus\Atomic\Long;
use Apus\Process;

/**
 * Fills the tables from the JSON files of a directory. Several processes each take files; they fill the same shared
 * tables, and count rows and bytes together. The indexes are made when all rows are there.
 */
final class Loader
{
    /** Rows between two reports of a process. */
    private const REPORT_ROWS = 5_000;
    /** How often this process looks how far the others are. */
    private const LOOK_MICROSECONDS = 10_000;

    private readonly Long $rows;
    private readonly Long $bytes;

    public function __construct(private readonly Store $store, private readonly string $directory)
    {
        $this->rows = new Long(0);
        $this->bytes = new Long(0);
    }

    /**
     * @param int $processes that read files at once; 0: this one does
     * @throws \RuntimeException naming what is missing or wrong
     */
    public function load(int $processes): void
    {
        $this->store->now = self::time("$this->directory/options.txt");
        $files = $this->files();
        $progress = new Progress('loading', array_sum(array_map(filesize(...), array_keys($files))));
        foreach (Store::KINDS as $kind) {
            $this->store->table($kind)->deferIndexes();
        }
        if ($processes > 0) {
            $this->watch(array_map($this->start(...), self::deal($files, $processes)), $progress);
        } else {
            $this->read($files, $progress->add(...));
        }
        $progress->end();
        $began = microtime(true);
        foreach (Store::KINDS as $kind) {
            $this->store->table($kind)->buildIndexes();
        }
        fprintf(STDERR, "indexes: %.1f s; %s\n", microtime(true) - $began, $this->store->counts());
    }

    /** The first line of options.txt. */
    private static function time(string $path): int
    {
        $lines = is_file($path) ? file($path, FILE_IGNORE_NEW_LINES) : [];
        if (preg_match('/^-?\d{1,18}\s*$/D', $lines[0] ?? '') !== 1) {
            throw new \RuntimeException("$path: the first line must be the Unix time of the data");
        }
        return (int) $lines[0];
    }

    /** @return array<string, string> path => kind, the largest first */
    private function files(): array
    {
        $files = [];
        foreach (Store::KINDS as $kind) {
            $files += array_fill_keys(glob("$this->directory/{$kind}_*.json"), $kind);
        }
        if ($files === []) {
            throw new \RuntimeException("$this->directory: no users_N.json, locations_N.json or visits_N.json there");
        }
        uksort($files, static fn (string $a, string $b): int => filesize($b) <=> filesize($a) ?: strnatcmp($a, $b));
        return $files;
    }

    /** Each process gets about as many bytes: the next file goes to the one with the fewest. */
    private static function deal(array $files, int $processes): array
    {
        $shares = array_fill(0, min($processes, count($files)), []);
        $bytes = array_fill(0, count($shares), 0);
        foreach ($files as $path => $kind) {
            $least = array_search(min($bytes), $bytes, true);
            $shares[$least][$path] = $kind;
            $bytes[$least] += filesize($path);
        }
        return $shares;
    }

    /** Starts a process that reads files; it writes to its pipe what went wrong. */
    private function start(array $files): Process
    {
        $process = new Process(function (Process $process) use ($files): void {
            try {
                $this->read($files, function (int $rows, int $bytes): void {
                    $this->rows->add($rows);
                    $this->bytes->add($bytes);
                });
            } catch (\Throwable $error) {
                $process->write($error->getMessage());
                $process->exit(1);
            }
        });
        if ($process->start() === false) {
            throw new \RuntimeException('the system makes no process that loads');
        }
        return $process;
    }

    /** @param callable(int, int): void $report rows and bytes since the last report */
    private function read(array $files, callable $report): void
    {
        foreach ($files as $path => $kind) {
            $rows = $bytes = 0;
            $step = static function (int $rowsNow, int $bytesNow) use (&$rows, &$bytes, $report): void {
                if ($rowsNow - $rows >= self::REPORT_ROWS) {
                    $report($rowsNow - $rows, $bytesNow - $bytes);
                    [$rows, $bytes] = [$rowsNow, $bytesNow];
                }
            };
            $total = $this->store->table($kind)->loadJson($path, $kind, $step);
            $report($total - $rows, filesize($path) - $bytes);
        }
    }

    /**
     * Shows how far the processes are until all have ended.
     *
     * @param Process[] $loaders
     */
    private function watch(array $loaders, Progress $progress): void
    {
        $loaders = array_column($loaders, null, 'pid');
        $problem = null;
        while ($loaders !== []) {
            usleep(self::LOOK_MICROSECONDS);
            $progress->at($this->rows->get(), $this->bytes->get());
            while ($loaders !== [] && ($end = Process::wait(false)) !== false) {
                $loader = $loaders[$end['pid']] ?? null;
                unset($loaders[$end['pid']]);
                if ($loader !== null && ($end['code'] !== 0 || $end['signal'] !== 0)) {
                    $loader->setBlocking(false);
                    $problem ??= $loader->read() ?: "a process that loaded files ended with code {$end['code']}, signal {$end['signal']}";
                }
            }
        }
        if ($problem !== null) {
            throw new \RuntimeException($problem);
        }
    }
}
