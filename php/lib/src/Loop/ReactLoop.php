<?php

declare(strict_types=1);

namespace Apus\Loop;

use React\EventLoop\LoopInterface;
use React\EventLoop\SignalsHandler;
use React\EventLoop\Tick\FutureTickQueue;
use React\EventLoop\Timer\Timer;
use React\EventLoop\Timer\Timers;
use React\EventLoop\TimerInterface;

/** ReactPHP's event loop on that of Apus: `React\EventLoop\Loop::set(new Apus\Loop\ReactLoop())`. */
final class ReactLoop implements LoopInterface
{
    private readonly Poll $poll;

    private readonly FutureTickQueue $ticks;

    private readonly Timers $timers;

    private readonly SignalsHandler $signals;

    /** @var array<int, true> streams with a listener */
    private array $reading = [];

    /** @var array<int, true> */
    private array $writing = [];

    private bool $running = false;

    public function __construct()
    {
        $this->poll = new Poll();
        $this->ticks = new FutureTickQueue();
        $this->timers = new Timers();
        $this->signals = new SignalsHandler();
    }

    public function addReadStream($stream, $listener): void
    {
        if (!isset($this->reading[(int) $stream])) {
            $this->reading[(int) $stream] = true;
            $this->poll->read($stream, fn () => isset($this->reading[(int) $stream]) && $listener($stream));
        }
    }

    public function addWriteStream($stream, $listener): void
    {
        if (!isset($this->writing[(int) $stream])) {
            $this->writing[(int) $stream] = true;
            $this->poll->write($stream, fn () => isset($this->writing[(int) $stream]) && $listener($stream));
        }
    }

    public function removeReadStream($stream): void
    {
        unset($this->reading[(int) $stream]);
        $this->poll->unread($stream);
    }

    public function removeWriteStream($stream): void
    {
        unset($this->writing[(int) $stream]);
        $this->poll->unwrite($stream);
    }

    public function addTimer($interval, $callback): TimerInterface
    {
        return $this->timer(new Timer($interval, $callback, false));
    }

    public function addPeriodicTimer($interval, $callback): TimerInterface
    {
        return $this->timer(new Timer($interval, $callback, true));
    }

    public function cancelTimer(TimerInterface $timer): void
    {
        $this->timers->cancel($timer);
    }

    public function futureTick($listener): void
    {
        $this->ticks->add($listener);
    }

    public function addSignal($signal, $listener): void
    {
        $isFirst = $this->signals->count($signal) === 0;
        $this->signals->add($signal, $listener);
        if ($isFirst) {
            $this->poll->signal($signal, fn () => $this->signals->call($signal));
        }
    }

    public function removeSignal($signal, $listener): void
    {
        $wasThere = $this->signals->count($signal) > 0;
        $this->signals->remove($signal, $listener);
        if ($wasThere && $this->signals->count($signal) === 0) {
            $this->poll->unsignal($signal);
        }
    }

    public function run(): void
    {
        $this->running = true;
        try {
            while ($this->running) {
                $this->ticks->tick();
                $seconds = $this->patience();
                if ($seconds === false) {
                    break;
                }
                foreach ($this->poll->wait($seconds) as $call) {
                    $call();
                }
                $this->timers->tick();
            }
        } finally {
            $this->poll->rest();
        }
    }

    public function stop(): void
    {
        $this->running = false;
    }

    private function timer(Timer $timer): Timer
    {
        $this->timers->add($timer);
        return $timer;
    }

    /** How long to wait: seconds, null for ever; false when there is nothing to wait for. */
    private function patience(): float|false|null
    {
        if (!$this->running || !$this->ticks->isEmpty()) {
            return 0.0;
        }
        if (!$this->timers->isEmpty()) {
            return max(0.0, $this->timers->getFirst() - $this->timers->updateTime());
        }
        return $this->reading === [] && $this->writing === [] && $this->signals->isEmpty() ? false : null;
    }
}
