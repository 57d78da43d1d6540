<?php

declare(strict_types=1);

namespace Apus\Travel;

use Apus\TableException;

/**
 * The three tables in files beside each other, a set of files that is called a or b, and a small file that says which of
 * the two. A save makes the other set and replaces that file last: where it is broken off, the snapshot before it stays.
 */
final class Snapshot
{
    private const FORMAT = 'apus-travel-1';

    public function __construct(private readonly Store $store, private readonly string $path)
    {
    }

    /** Fills the tables; false, with a line on standard error and the tables empty, where there is no whole snapshot. */
    public function restore(): bool
    {
        if (!is_file($this->path)) {
            return false;
        }
        $began = microtime(true);
        try {
            $about = $this->about();
            foreach (Store::KINDS as $kind) {
                $this->store->table($kind)->restore($this->file($about['name'], $kind));
            }
        } catch (TableException | \RuntimeException $error) {
            fprintf(STDERR, "snapshot refused: %s; the data are loaded anew\n", $error->getMessage());
            $this->store->clear();
            return false;
        }
        $this->store->now = $about['now'];
        fprintf(STDERR, "snapshot: %s in %.1f s\n", $this->store->counts(), microtime(true) - $began);
        return true;
    }

    /** Says on standard error what was saved, or why not. */
    public function save(): void
    {
        $began = microtime(true);
        $bytes = 0;
        try {
            $old = $this->current();
            $name = $old === 'a' ? 'b' : 'a';
            foreach (Store::KINDS as $kind) {
                $bytes += $this->store->table($kind)->save($this->file($name, $kind));
            }
            $about = json_encode(['name' => $name, 'now' => $this->store->now, 'sum' => self::sum($name, $this->store->now)]);
            if (@file_put_contents("$this->path.new", $about) !== strlen($about) || !rename("$this->path.new", $this->path)) {
                throw new \RuntimeException("$this->path: cannot be written");
            }
        } catch (TableException | \RuntimeException $error) {
            fprintf(STDERR, "snapshot not saved: %s\n", $error->getMessage());
            return;
        }
        foreach ($old === null ? [] : Store::KINDS as $kind) {
            @unlink($this->file($old, $kind));
        }
        fprintf(STDERR, "snapshot saved: %.1f MB in %.1f s\n", $bytes / 1e6, microtime(true) - $began);
    }

    /** The set of files that counts; null where there is none. */
    private function current(): ?string
    {
        try {
            return is_file($this->path) ? $this->about()['name'] : null;
        } catch (\RuntimeException) {
            return null;
        }
    }

    /** @return array{name: string, now: int, sum: int} */
    private function about(): array
    {
        $about = json_decode((string) file_get_contents($this->path), true);
        [$name, $now, $sum] = [$about['name'] ?? null, $about['now'] ?? null, $about['sum'] ?? null];
        if (!in_array($name, ['a', 'b'], true) || !is_int($now) || $sum !== self::sum($name, $now)) {
            throw new \RuntimeException("$this->path is not a whole snapshot of this service");
        }
        return $about;
    }

    /** Tells a damaged file, and one of another program. */
    private static function sum(string $name, int $now): int
    {
        return crc32(self::FORMAT . " $name $now");
    }

    private function file(string $name, string $kind): string
    {
        return "$this->path.$name.$kind";
    }
}
