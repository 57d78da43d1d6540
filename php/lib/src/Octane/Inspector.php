<?php

declare(strict_types=1);

namespace Apus\Octane;

use Laravel\Octane\Contracts\ServerProcessInspector;

/** The server that runs, by the file in which it says who it is. */
final class Inspector implements ServerProcessInspector
{
    /** Seconds for requests that have begun, when the server is stopped. */
    private const PATIENCE = 10;

    public function __construct(private readonly string $path)
    {
    }

    public function path(): string
    {
        return $this->path;
    }

    public function read(): array
    {
        return is_readable($this->path) ? (array) json_decode((string) file_get_contents($this->path), true) : [];
    }

    public function write(array $state): void
    {
        file_put_contents($this->path, json_encode($state, JSON_PRETTY_PRINT | JSON_UNESCAPED_SLASHES), LOCK_EX);
    }

    public function serverIsRunning(): bool
    {
        $pid = $this->pid();
        return $pid > 0 && posix_kill($pid, 0);
    }

    public function reloadServer(): void
    {
        $this->serverIsRunning() && posix_kill($this->pid(), SIGUSR1);
    }

    public function stopServer(): bool
    {
        $pid = $this->pid();
        $until = microtime(true) + self::PATIENCE;
        $this->serverIsRunning() && posix_kill($pid, SIGTERM);
        while ($pid > 0 && posix_kill($pid, 0) && microtime(true) < $until) {
            usleep(20_000);
        }
        @unlink($this->path);
        return $pid <= 0 || !posix_kill($pid, 0) || posix_kill($pid, SIGINT);
    }

    private function pid(): int
    {
        return (int) ($this->read()['masterProcessId'] ?? 0);
    }
}
