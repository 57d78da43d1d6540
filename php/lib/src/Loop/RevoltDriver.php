<?php

declare(strict_types=1);

namespace Apus\Loop;

use Revolt\EventLoop\Internal\AbstractDriver;
use Revolt\EventLoop\Internal\DriverCallback;
use Revolt\EventLoop\Internal\SignalCallback;
use Revolt\EventLoop\Internal\StreamReadableCallback;
use Revolt\EventLoop\Internal\StreamWritableCallback;
use Revolt\EventLoop\Internal\TimerCallback;
use Revolt\EventLoop\Internal\TimerQueue;
use Revolt\EventLoop\UnsupportedFeatureException;

/**
 * Revolt's event loop on that of Apus: `Revolt\EventLoop::setDriver(new Apus\Loop\RevoltDriver())`, or
 * `REVOLT_DRIVER=Apus\Loop\RevoltDriver` in the environment. In a coroutine it waits as the coroutine does.
 */
final class RevoltDriver extends AbstractDriver
{
    private readonly Poll $poll;

    private readonly TimerQueue $timers;

    /** @var array<string, array<int|string, array<string, DriverCallback>>> by kind, then stream or signal */
    private array $active = ['read' => [], 'write' => [], 'signal' => []];

    public function __construct()
    {
        parent::__construct();
        $this->poll = new Poll();
        $this->timers = new TimerQueue();
    }

    public static function isSupported(): bool
    {
        return extension_loaded('apus');
    }

    public function run(): void
    {
        try {
            parent::run();
        } finally {
            $this->poll->rest();
        }
    }

    public function getHandle(): Poll
    {
        return $this->poll;
    }

    protected function now(): float
    {
        return hrtime(true) / 1e9;
    }

    protected function dispatch(bool $blocking): void
    {
        $seconds = 0.0;
        if ($blocking) {
            $next = $this->timers->peek();
            $seconds = $next === null ? null : max(0.0, $next - $this->now());
        }
        foreach ($this->poll->wait($seconds) as $call) {
            $call();
        }
        $now = $this->now();
        while ($callback = $this->timers->extract($now)) {
            $this->enqueueCallback($callback);
        }
    }

    protected function activate(array $callbacks): void
    {
        foreach ($callbacks as $callback) {
            if ($callback instanceof TimerCallback) {
                $this->timers->insert($callback);
                continue;
            }
            [$kind, $key, $what] = $this->place($callback);
            if (!isset($this->active[$kind][$key])) {
                $this->begin($kind, $what, fn () => array_map($this->enqueueCallback(...), $this->active[$kind][$key] ?? []));
            }
            $this->active[$kind][$key][$callback->id] = $callback;
        }
    }

    protected function deactivate(DriverCallback $callback): void
    {
        if ($callback instanceof TimerCallback) {
            $this->timers->remove($callback);
            return;
        }
        [$kind, $key, $what] = $this->place($callback);
        unset($this->active[$kind][$key][$callback->id]);
        if (($this->active[$kind][$key] ?? null) !== []) {
            return;
        }
        unset($this->active[$kind][$key]);
        match ($kind) {
            'read' => $this->poll->unread($what),
            'write' => $this->poll->unwrite($what),
            'signal' => $this->poll->unsignal($what),
        };
    }

    private function begin(string $kind, mixed $what, \Closure $call): void
    {
        match ($kind) {
            'read' => $this->poll->read($what, $call),
            'write' => $this->poll->write($what, $call),
            'signal' => $this->poll->signal($what, $call)
                || throw new UnsupportedFeatureException("Failed to register a handler of signal {$what}"),
        };
    }

    /** @return array{string, int, mixed} */
    private function place(DriverCallback $callback): array
    {
        return match (true) {
            $callback instanceof StreamReadableCallback => ['read', (int) $callback->stream, $callback->stream],
            $callback instanceof StreamWritableCallback => ['write', (int) $callback->stream, $callback->stream],
            $callback instanceof SignalCallback => ['signal', $callback->signal, $callback->signal],
        };
    }

    public function __destruct()
    {
        $this->poll->clear();
    }
}
