<?php

declare(strict_types=1);

namespace Apus\Loop;

use Apus\Coroutine;
use Apus\Coroutine\Channel;
use Apus\Event;
use Apus\Timer;

use const Apus\EVENT_READ;
use const Apus\EVENT_WRITE;

/**
 * What event loops written in PHP wait with: which of many streams and signals is ready, in or outside a coroutine, on
 * the loop of Apus. Nothing is called behind the back of who waits: wait() returns what is to be called.
 *
 * A stream that is ready is not watched until the next wait(), so that one that is not read at once costs nothing while
 * the program waits for something else.
 */
final class Poll
{
    /** Turns of the loop after which all that is ready has been told. */
    private const TURNS = 3;

    /** @var array<int, array{resource, int}> streams by number, and what of them is watched */
    private array $streams = [];

    /** @var array<int, array<int, \Closure>> what to call, by stream and event */
    private array $calls = [];

    /** @var array<int, true> streams whose watching changed, or that were ready */
    private array $changed = [];

    /** @var array<int, int> events of streams that are always ready: files */
    private array $files = [];

    /** @var array<int, \Closure> */
    private array $signals = [];

    /** @var array<int, int> what has become ready: events by stream */
    private array $ready = [];

    /** @var list<int> signals that came */
    private array $came = [];

    /** Who waits in a coroutine. */
    private ?Channel $waiter = null;

    /** Coroutines at whose end nothing may be watched any more: watching would keep their run() going. */
    private int $guarded = 0;

    /** @param resource $stream */
    public function read(mixed $stream, \Closure $call): void
    {
        $this->watch($stream, EVENT_READ, $call);
    }

    /** @param resource $stream */
    public function write(mixed $stream, \Closure $call): void
    {
        $this->watch($stream, EVENT_WRITE, $call);
    }

    /** @param resource $stream which may be closed */
    public function unread(mixed $stream): void
    {
        $this->unwatch($stream, EVENT_READ);
    }

    /** @param resource $stream which may be closed */
    public function unwrite(mixed $stream): void
    {
        $this->unwatch($stream, EVENT_WRITE);
    }

    public function signal(int $signal, \Closure $call): bool
    {
        if (!isset($this->signals[$signal]) && !self::handle($signal, self::receiver($this))) {
            return false;
        }
        $this->signals[$signal] = $call;
        return true;
    }

    public function unsignal(int $signal): void
    {
        if (isset($this->signals[$signal])) {
            unset($this->signals[$signal]);
            self::handle($signal, null);
        }
    }

    public function __destruct()
    {
        $this->clear();
    }

    /** Stops watching; the next wait() begins again. */
    public function rest(): void
    {
        foreach ($this->streams as $id => [$stream, $armed]) {
            if ($armed >= 0) {
                Event::del($stream);
                $this->streams[$id][1] = -1;
                $this->changed[$id] = true;
            }
        }
    }

    /** Forgets everything. */
    public function clear(): void
    {
        $this->rest();
        foreach ($this->signals as $signal => $call) {
            $this->unsignal($signal);
        }
        $this->streams = $this->calls = $this->changed = $this->files = $this->ready = [];
    }

    /**
     * Waits until something is ready.
     * @param float|null $seconds at most; null for no limit, 0 to look only
     * @return list<\Closure> what to call
     */
    public function wait(?float $seconds): array
    {
        $this->guard();
        $this->arm();
        if ($this->files !== [] || $this->ready !== [] || $this->came !== []) {
            $seconds = 0.0;
        }
        if ($seconds !== 0.0) {
            Coroutine::getCid() > 0 ? $this->waitInside($seconds) : $this->waitOutside($seconds);
        }
        $this->look(self::TURNS);
        return $this->collect();
    }

    private function watch(mixed $stream, int $event, \Closure $call): void
    {
        $id = (int) $stream;
        // The number of a stream that was closed is given to another one.
        if (isset($this->streams[$id]) && $this->streams[$id][0] !== $stream) {
            $this->forget($id);
        }
        $this->streams[$id] ??= [$stream, -1];
        $this->calls[$id][$event] = $call;
        $this->changed[$id] = true;
    }

    private function unwatch(mixed $stream, int $event): void
    {
        $id = (int) $stream;
        unset($this->calls[$id][$event]);
        if (isset($this->ready[$id])) {
            $this->ready[$id] &= ~$event;
        }
        if (($this->calls[$id] ?? []) === []) {
            $this->forget($id);
        } else {
            $this->changed[$id] = true;
        }
    }

    private function forget(int $id): void
    {
        if (($this->streams[$id][1] ?? -1) >= 0) {
            Event::del($this->streams[$id][0]);
        }
        unset($this->streams[$id], $this->calls[$id], $this->changed[$id], $this->ready[$id], $this->files[$id]);
    }

    /** Has the loop watch what it is to watch. */
    private function arm(): void
    {
        foreach ($this->changed as $id => $_) {
            [$stream, $armed] = $this->streams[$id];
            $wanted = array_sum(array_keys($this->calls[$id]));
            if (!is_resource($stream)) {
                $this->forget($id);
            } elseif ($armed < 0) {
                $this->add($id, $stream, $wanted);
            } elseif ($armed !== $wanted) {
                Event::set($stream, $this->caller($id, EVENT_READ), $this->caller($id, EVENT_WRITE), $wanted);
                $this->streams[$id][1] = $wanted;
            }
        }
        $this->changed = [];
    }

    private function add(int $id, mixed $stream, int $wanted): void
    {
        $added = @Event::add($stream, $this->caller($id, EVENT_READ), $this->caller($id, EVENT_WRITE), $wanted);
        if ($added === false) {
            $this->files[$id] = $wanted;
        } else {
            unset($this->files[$id]);
            $this->streams[$id][1] = $wanted;
        }
    }

    /** Who forgets a Poll has its streams watched no more, so the loop does not refer to it. */
    private function caller(int $id, int $event): \Closure
    {
        $self = \WeakReference::create($this);
        return static fn () => $self->get()?->became($id, $event);
    }

    private function became(int $id, int $event): void
    {
        if (!isset($this->streams[$id])) {
            return;
        }
        $left = $this->streams[$id][1] & ~$event;
        Event::set($this->streams[$id][0], null, null, $left);
        $this->streams[$id][1] = $left;
        $this->changed[$id] = true;
        $this->ready[$id] = ($this->ready[$id] ?? 0) | $event;
        $this->wake();
    }

    private function arrived(int $signal): void
    {
        $this->came[] = $signal;
        $this->wake();
    }

    private static function receiver(self $poll): \Closure
    {
        $self = \WeakReference::create($poll);
        return static fn (int $signal) => $self->get()?->arrived($signal);
    }

    private function wake(): void
    {
        if ($this->waiter !== null && $this->waiter->isEmpty()) {
            $this->waiter->push(true);
        }
    }

    /**
     * Lets the loop tell all that is ready: a turn asks the system, the next one has our callbacks called.
     * @param int $turns at most
     */
    private function look(int $turns): void
    {
        if ($this->streams === [] && $this->signals === []) {
            return;
        }
        while ($turns-- > 0) {
            $had = count($this->ready);
            if (Coroutine::getCid() > 0) {
                Coroutine::sleep(0);
            } else {
                Event::defer(static fn () => null);
                Event::dispatch();
            }
            if ($had > 0 && count($this->ready) === $had) {
                return;
            }
        }
    }

    private function waitInside(?float $seconds): void
    {
        $this->waiter = new Channel(1);
        try {
            $this->waiter->pop($seconds ?? -1);
        } finally {
            $this->waiter = null;
        }
    }

    private function waitOutside(?float $seconds): void
    {
        $over = false;
        $timer = $seconds === null ? null
            : Timer::after(max(1, (int) ceil($seconds * 1000)), static function () use (&$over): void {
                $over = true;
            });
        try {
            while (!$over && $this->ready === [] && $this->came === [] && Event::dispatch());
        } finally {
            if ($timer !== null && !$over) {
                Timer::clear($timer);
            }
        }
    }

    /** @return list<\Closure> */
    private function collect(): array
    {
        $calls = [];
        [$ready, $came] = [$this->ready, $this->came];
        $this->ready = $this->came = [];
        foreach ($ready + $this->files as $id => $events) {
            foreach ($this->calls[$id] ?? [] as $event => $call) {
                if ($events & $event) {
                    $calls[] = $call;
                }
            }
        }
        foreach ($came as $signal) {
            if (isset($this->signals[$signal])) {
                $calls[] = $this->signals[$signal];
            }
        }
        return $calls;
    }

    /** Once for each coroutine that waits, and for the script: at its end nothing may be watched any more. */
    private function guard(): void
    {
        $id = max(0, Coroutine::getCid());
        if ($this->guarded === $id + 1) {
            return;
        }
        $this->guarded = $id + 1;
        $self = \WeakReference::create($this);
        $rest = static fn () => $self->get()?->rest();
        if ($id > 0) {
            Coroutine::defer($rest);
        } else {
            register_shutdown_function($rest);
        }
    }

    private static function handle(int $signal, ?\Closure $call): bool
    {
        return \Apus\Process::signal($signal, $call);
    }
}
