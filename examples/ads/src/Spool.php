<?php

declare(strict_types=1);

namespace Apus\Ads;

use Apus\Atomic\Long;
use Apus\Timer;

use function Apus\go;

/**
 * What one worker has taken, in files that it alone appends to. It holds a lock on the file that it writes: the kernel frees
 * it however the worker ends, and the loader knows by it that nothing more comes. See Loader.
 */
final class Spool
{
    /** Bytes, and seconds, after which a new file is begun, so that loaded ones can be removed. */
    private const SEGMENT = 16 << 20;
    private const AGE = 60.0;

    /** @var ?resource */
    private $file = null;
    private int $size = 0;
    private float $began = 0.0;
    private ?Group $open = null;
    private bool $writing = false;
    private int $number = 0;
    private bool $unsynced = false;
    private int $timer = 0;

    /**
     * @param Long $waiting bytes of all workers' files that are not in the database yet
     * @param int $most of them
     * @param bool $always whether every event is on the disk before it is acknowledged, or each second's
     */
    public function __construct(
        private readonly string $folder,
        private readonly Long $waiting,
        private readonly int $most,
        private readonly bool $always,
    ) {
        if (!$always) {
            $this->timer = Timer::tick(1000, $this->tick(...));
        }
    }

    /**
     * Returns when the lines are durable.
     * @throws Refusal 503: there are too many already, or the disk does not take them. They may have been kept nevertheless
     */
    public function append(string $lines): void
    {
        if ($this->isFull()) {
            throw new Refusal(503, 'too many events wait for the database', retryAfter: 2);
        }
        $group = $this->open ??= new Group;
        $group->lines .= $lines;
        if (!$this->writing) {
            $this->writing = true;
            go($this->write(...));
        }
        if (!$group->wait()) {
            throw new Refusal(503, 'events cannot be kept now', retryAfter: 2);
        }
    }

    public function isFull(): bool
    {
        return $this->waiting->get() > $this->most;
    }

    /** A timer would keep the worker. What is written is the kernel's already. */
    public function leave(): void
    {
        if ($this->timer !== 0) {
            Timer::clear($this->timer);
        }
    }

    /** Writes groups until there is none: while one is synced, on a thread, requests fill the next one. */
    private function write(): void
    {
        while ($group = $this->open) {
            $this->open = null;
            $group->finish($this->keep($group->lines));
        }
        $this->writing = false;
    }

    private function keep(string $lines): bool
    {
        try {
            $file = $this->segment();
            if (@fwrite($file, $lines) !== strlen($lines)) {
                throw new \RuntimeException(error_get_last()['message'] ?? 'not all could be written');
            }
            if ($this->always && !fdatasync($file)) {
                throw new \RuntimeException('fdatasync() failed');
            }
        } catch (\RuntimeException $error) {
            error_log("the spool: {$error->getMessage()}");
            // What is in this file after a failure is not known: the next lines go to another one. These are sent again by whoever sent them.
            $this->file = null;
            return false;
        }
        $this->unsynced = !$this->always;
        $this->size += strlen($lines);
        $this->waiting->add(strlen($lines));
        return true;
    }

    /** @return resource */
    private function segment()
    {
        if ($this->file !== null && $this->size < self::SEGMENT && ($this->size === 0 || microtime(true) - $this->began < self::AGE)) {
            return $this->file;
        }
        $this->sync();
        [$this->size, $this->began] = [0, microtime(true)];
        $name = sprintf('%s/%d-%d-%d-%s.events', $this->folder, (int) ($this->began * 1000), getmypid(), ++$this->number, bin2hex(random_bytes(4)));
        // It gets its name when it is locked: the loader never sees it without.
        $file = @fopen("$name.new", 'xb');
        if ($file === false || !flock($file, LOCK_EX | LOCK_NB) || !rename("$name.new", $name) || !$this->syncFolder()) {
            throw new \RuntimeException("no file can be made in $this->folder");
        }
        stream_set_write_buffer($file, 0);
        return $this->file = $file;
    }

    /** Each second, where not every write is synced. Nothing is written meanwhile. */
    private function tick(): void
    {
        if ($this->unsynced && !$this->writing) {
            $this->writing = true;
            go(function (): void {
                $this->sync();
                $this->write();
            });
        }
    }

    private function sync(): void
    {
        if ($this->unsynced && $this->file !== null) {
            $this->unsynced = false;
            fdatasync($this->file);
        }
    }

    /** The name of a file is durable when its folder is. */
    private function syncFolder(): bool
    {
        $folder = fopen($this->folder, 'rb');
        return $folder !== false && fsync($folder);
    }
}
