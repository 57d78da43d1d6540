<?php

declare(strict_types=1);

namespace Apus\Gateway;

use Apus\Coroutine\Channel;
use Apus\Server;

/** Questions from worker to worker. The answer to one may be more than one value: first whether it was sent, later that it was seen. */
final class Peers
{
    /** Values that an answer has at most. */
    private const VALUES = 2;
    /** Questions that have no words: an answer, and a question that went to a worker which has been replaced. */
    private const ANSWER = 0;
    private const FORWARDED = 1;

    private int $last;
    /** @var array<int, Channel> by number of the question */
    private array $waiting = [];
    /** @var array<string, callable(array, array): void> arguments, and where the answer goes */
    private array $handlers = [];

    public function __construct(private readonly Server $server)
    {
        // An answer that was meant for the worker before this one shall find no question here.
        $this->last = random_int(0, PHP_INT_MAX >> 1);
    }

    /** @param callable(array $arguments, array $answerTo): void $handler */
    public function on(string $question, callable $handler): void
    {
        $this->handlers[$question] = $handler;
    }

    public function workers(): int
    {
        return $this->server->setting['worker_num'];
    }

    /** The worker that keeps what belongs to a name. */
    public function home(string $name): int
    {
        return crc32($name) % $this->workers();
    }

    public function isHere(int $worker): bool
    {
        return $worker === $this->server->worker_id;
    }

    /** Asks nothing back; false when that worker is not there. */
    public function tell(int $worker, string $question, mixed ...$arguments): bool
    {
        return $this->send($worker, [$question, 0, $arguments]);
    }

    /** The first value of the answer; null when none came in time. */
    public function ask(float $timeout, int $worker, string $question, mixed ...$arguments): mixed
    {
        $number = $this->begin($worker, $question, ...$arguments);
        try {
            return $this->next($number, $timeout);
        } finally {
            $this->end($number);
        }
    }

    /** Asks; the number is what next() and end() want. */
    public function begin(int $worker, string $question, mixed ...$arguments): int
    {
        $number = ++$this->last;
        $this->waiting[$number] = new Channel(self::VALUES);
        if (!$this->send($worker, [$question, $number, $arguments])) {
            $this->waiting[$number]->close();
        }
        return $number;
    }

    /** The next value of the answer; null when there is none in time. */
    public function next(int $number, float $timeout): mixed
    {
        $value = $this->waiting[$number]->pop(max(0.001, $timeout));
        return $value === false ? null : $value;
    }

    public function end(int $number): void
    {
        unset($this->waiting[$number]);
    }

    /** Whether another process is this worker now: what comes here is for that one, and answers to this one go there. */
    public function isReplaced(): bool
    {
        return $this->server->getWorkerPid($this->server->worker_id) !== getmypid();
    }

    /** Tells the process that has replaced this one. */
    public function bequeath(string $question, mixed ...$arguments): void
    {
        $this->server->sendMessage([$question, 0, $arguments], $this->server->worker_id);
    }

    /** @param array{int, int} $to worker and number, as a handler was given them */
    public function answer(array $to, mixed $value): void
    {
        [$worker, $number] = $to;
        if ($number !== 0) {
            $this->send($worker, [self::ANSWER, $number, $value]);
        }
    }

    /** What the event pipemessage brought. */
    public function receive(int $from, array $message): void
    {
        [$question, $number, $content] = $message;
        if ($question === self::ANSWER) {
            $this->hear($number, $content);
        } elseif ($question === self::FORWARDED) {
            $this->receive($number, [...$content, true]);
        } elseif (!isset($message[3]) && $this->isReplaced()) {
            $this->server->sendMessage([self::FORWARDED, $from, $message], $this->server->worker_id);
        } else {
            $this->handlers[$question]($content, [$from, $number]);
        }
    }

    private function hear(int $number, mixed $value): void
    {
        $waiting = $this->waiting[$number] ?? null;
        if ($waiting !== null && !$waiting->isFull()) {
            $waiting->push($value);
        }
    }

    private function send(int $worker, array $message): bool
    {
        if (!$this->isHere($worker)) {
            return $this->server->sendMessage($message, $worker);
        }
        $this->receive($worker, $message);
        return true;
    }
}
