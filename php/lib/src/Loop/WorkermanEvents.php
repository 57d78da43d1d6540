<?php

declare(strict_types=1);

namespace Apus\Loop;

use Apus\Coroutine;
use Apus\Event;
use Apus\Process;
use Apus\Timer;
use Workerman\Events\EventInterface;

/** Workerman's events on Apus: `Worker::$eventLoopClass = Apus\Loop\WorkermanEvents::class`. Each call is a coroutine. */
final class WorkermanEvents implements EventInterface
{
    private const EVENTS = ['read' => \Apus\EVENT_READ, 'write' => \Apus\EVENT_WRITE];

    /** @var array<int, int> by their own numbers */
    private array $timers = [];

    /** @var array<int, array<string, callable>> what to call, by stream and kind */
    private array $calls = [];

    /** @var callable|null */
    private $errorHandler;

    /** A timer that keeps the loop going. */
    private ?int $kept = null;

    public function delay(float $delay, callable $func, array $args = []): int
    {
        $id = Timer::after(self::milliseconds($delay), function () use ($func, $args, &$id): void {
            unset($this->timers[$id]);
            $this->call($func, $args);
        });
        return $this->timers[$id] = $id;
    }

    public function repeat(float $interval, callable $func, array $args = []): int
    {
        $id = Timer::tick(self::milliseconds($interval), fn () => $this->call($func, $args));
        return $this->timers[$id] = $id;
    }

    public function offDelay(int $timerId): bool
    {
        if (!isset($this->timers[$timerId])) {
            return false;
        }
        unset($this->timers[$timerId]);
        return Timer::clear($timerId);
    }

    public function offRepeat(int $timerId): bool
    {
        return $this->offDelay($timerId);
    }

    public function deleteAllTimer(): void
    {
        array_map($this->offDelay(...), $this->timers);
    }

    public function getTimerCount(): int
    {
        return count($this->timers);
    }

    public function onReadable($stream, callable $func): void
    {
        $this->watch($stream, 'read', $func);
    }

    public function offReadable($stream): bool
    {
        return $this->unwatch($stream, 'read');
    }

    public function onWritable($stream, callable $func): void
    {
        $this->watch($stream, 'write', $func);
    }

    public function offWritable($stream): bool
    {
        return $this->unwatch($stream, 'write');
    }

    public function onSignal(int $signal, callable $func): void
    {
        Process::signal($signal, fn () => $this->call($func, [$signal]));
    }

    public function offSignal(int $signal): bool
    {
        return Process::signal($signal, null);
    }

    public function run(): void
    {
        // Workerman's workers end by stop(), also when nothing is left to wait for.
        $this->kept = Timer::tick(3_600_000, static fn () => null);
        Event::wait();
    }

    public function stop(): void
    {
        if ($this->kept !== null) {
            Timer::clear($this->kept);
            $this->kept = null;
        }
        Event::exit();
    }

    public function setErrorHandler(callable $errorHandler): void
    {
        $this->errorHandler = $errorHandler;
    }

    private function watch(mixed $stream, string $kind, callable $call): void
    {
        $id = (int) $stream;
        $isNew = !isset($this->calls[$id]);
        $this->calls[$id][$kind] = $call;
        $events = array_sum(array_intersect_key(self::EVENTS, $this->calls[$id]));
        $read = fn () => $this->ready($id, 'read', $stream);
        $write = fn () => $this->ready($id, 'write', $stream);
        $isNew ? Event::add($stream, $read, $write, $events) : Event::set($stream, $read, $write, $events);
    }

    private function unwatch(mixed $stream, string $kind): bool
    {
        $id = (int) $stream;
        if (!isset($this->calls[$id][$kind])) {
            return false;
        }
        unset($this->calls[$id][$kind]);
        if ($this->calls[$id] === []) {
            unset($this->calls[$id]);
            Event::del($stream);
        } else {
            Event::set($stream, null, null, array_sum(array_intersect_key(self::EVENTS, $this->calls[$id])));
        }
        return true;
    }

    private function ready(int $id, string $kind, mixed $stream): void
    {
        if (isset($this->calls[$id][$kind])) {
            $this->call($this->calls[$id][$kind], [$stream]);
        }
    }

    /** Calls; an exception is the error handler's. */
    private function call(callable $call, array $args): void
    {
        try {
            $call(...$args);
        } catch (\Throwable $e) {
            if ($this->errorHandler === null) {
                echo $e, "\n";
            } else {
                ($this->errorHandler)($e);
            }
        }
    }

    private static function milliseconds(float $seconds): int
    {
        return max(1, (int) ($seconds * 1000));
    }
}
