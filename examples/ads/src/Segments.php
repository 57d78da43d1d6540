<?php

declare(strict_types=1);

namespace Apus\Ads;

/** The files of the spool as the loader sees them. */
final readonly class Segments
{
    public function __construct(private string $folder) {}

    /**
     * Waits until no other loader works here: that of a server that is just ending, or was started twice.
     * @return resource is alone for as long as this is there
     */
    public function alone()
    {
        $lock = fopen("$this->folder/lock", 'cb');
        if ($lock === false || !flock($lock, LOCK_EX)) {
            throw new \RuntimeException("no lock can be had in $this->folder");
        }
        return $lock;
    }

    /** @return list<string> their names, the oldest first */
    public function names(): array
    {
        return array_map('basename', glob("$this->folder/*.events") ?: []);
    }

    /** @return string whole lines from a position on, at most so many bytes of them */
    public function read(string $name, int $position, int $most): string
    {
        $text = (string) file_get_contents("$this->folder/$name", false, null, $position, $most);
        return substr($text, 0, (int) strrpos("\n$text", "\n"));
    }

    public function size(string $name): int
    {
        clearstatcache(true, "$this->folder/$name");
        return (int) filesize("$this->folder/$name");
    }

    /** Whether its worker has left it: nothing is added any more, so a size that is read afterwards is the last one. */
    public function isLeft(string $name): bool
    {
        $file = fopen("$this->folder/$name", 'rb');
        return $file !== false && flock($file, LOCK_SH | LOCK_NB);
    }

    public function remove(string $name): void
    {
        unlink("$this->folder/$name");
    }

    /** Keeps lines that cannot be loaded, for somebody to look at. */
    public function reject(string $line, string $why): void
    {
        error_log("an event is not loaded: $why");
        file_put_contents("$this->folder/rejected.log", "$line\n", FILE_APPEND);
    }
}
