<?php

declare(strict_types=1);

namespace Apus\Gateway;

use Apus\Coroutine;
use Apus\Http\Request;
use Apus\Http\Response;
use Apus\Timer;
use Apus\WebSocket\Frame;
use Apus\WebSocket\Server;

/** One worker of the gateway: what the events of the server mean. */
final class Gateway
{
    /** Milliseconds. */
    private const SWEEP_EVERY = 2000;
    private const COUNT_EVERY = 10_000;
    /** Seconds in which a worker tells its numbers. */
    private const PATIENCE = 2.0;

    private readonly Counters $counters;
    private readonly Peers $peers;
    private readonly Door $door;
    private readonly PostOffice $office;
    private readonly Browsers $browsers;
    private readonly Desk $desk;
    private readonly Web $web;
    /** @var array<int, array{string, ?string}> programs that push by WebSocket: address and key, by connection */
    private array $programs = [];
    /** @var list<int> numbers */
    private array $timers = [];
    /** @var array<int, true> TCP connections whose further lines are not looked at */
    private array $barred = [];

    public function __construct(private readonly Server $server, Config $config)
    {
        $this->counters = new Counters;
        $this->peers = new Peers($server);
        $this->door = new Door($config);
        $this->office = new PostOffice($server, $this->peers, $this->counters, $config);
        $this->browsers = new Browsers($server, $this->peers, $this->door, $config);
        $limiter = new Limiter($this->peers, $config->number('push_rate'), $config->number('push_burst'));
        $this->desk = new Desk($server, $this->peers, $limiter, $this->counters, $config);
        $this->web = new Web($this->door, $this->desk, $this->counters, $this->stats(...), $config);
        $this->peers->on('figures', fn (array $arguments, array $answerTo) => $this->peers->answer($answerTo, $this->figures()));
        $this->timers[] = Timer::tick(self::SWEEP_EVERY, function () use ($limiter): void {
            $limiter->sweep(microtime(true));
            $this->peers->isReplaced() ? $this->office->handOver() : $this->office->dropExpired();
        });
        $this->timers[] = Timer::tick(self::COUNT_EVERY, $this->office->dropGone(...));
        for ($worker = 0; $worker < $this->peers->workers(); $worker++) {
            $this->peers->isHere($worker) || $this->peers->tell($worker, 'hello');
        }
    }

    /** This worker has to leave. */
    public function leave(): void
    {
        array_map(Timer::clear(...), $this->timers);
        if ($this->peers->isReplaced()) {
            $this->office->handOver();
            // The sweep may have begun to hand over before.
            $this->office->settle();
        }
    }

    public static function encode(mixed $value): string
    {
        return json_encode($value, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_PRESERVE_ZERO_FRACTION | JSON_THROW_ON_ERROR);
    }

    public function pipeMessage(int $from, mixed $message): void
    {
        $this->peers->receive($from, $message);
    }

    public function page(Request $request, Response $response): void
    {
        $this->web->public($request, $response);
    }

    /** A browser's handshake: accepted when nothing was answered here. */
    public function handshake(Request $request, Response $response): bool
    {
        try {
            $this->door->topics($request, $this->door->visitor($request));
            return true;
        } catch (Refusal $refusal) {
            $this->web->refuse($refusal, $response);
            return false;
        }
    }

    public function open(Request $request): void
    {
        try {
            $visitor = $this->door->visitor($request);
            $this->browsers->open($request->fd, $visitor, $this->door->topics($request, $visitor));
        } catch (Refusal $refusal) {
            // The token has expired since the handshake.
            $this->server->disconnect($request->fd, 4000 + $refusal->getCode(), $refusal->getMessage());
        }
    }

    public function message(Frame $frame): void
    {
        $this->browsers->message($frame);
    }

    public function close(int $fd): void
    {
        $this->browsers->close($fd);
    }

    public function inner(Request $request, Response $response): void
    {
        $this->web->inner($request, $response);
    }

    public function programHandshake(Request $request, Response $response): bool
    {
        if (Web::isProgram($request)) {
            return true;
        }
        $this->web->refuse(new Refusal(403, 'this port is not for pages'), $response);
        return false;
    }

    public function programOpen(Request $request): void
    {
        $this->programs[$request->fd] = [$request->server['remote_addr'], Web::key($request)];
    }

    public function programMessage(Frame $frame): void
    {
        [$address, $key] = $this->programs[$frame->fd] ?? ['gone', null];
        $this->server->push($frame->fd, self::encode($this->desk->push($frame->data, $address, $key)));
    }

    public function programClose(int $fd): void
    {
        unset($this->programs[$fd]);
    }

    /** A line that came by TCP. */
    public function line(int $fd, string $line): void
    {
        $line = rtrim($line);
        if ($line === '' || isset($this->barred[$fd])) {
            return;
        }
        // A page of any site can make its reader's browser send such bytes here, with a line of JSON after them.
        if (preg_match('~^[A-Z]{3,10} \S+ HTTP/1~', $line) === 1) {
            $this->barred[$fd] = true;
            $this->server->close($fd);
            return;
        }
        $address = $this->server->getClientInfo($fd)['remote_ip'] ?? '';
        $this->server->send($fd, self::encode($this->desk->push($line, $address)) . "\n");
        if ($this->peers->isReplaced()) {
            // The next connection will be to the worker that has come in its place.
            $this->barred[$fd] = true;
            $this->server->close($fd);
        }
    }

    public function lineClose(int $fd): void
    {
        unset($this->barred[$fd]);
    }

    /** @return array<string, int> of this worker */
    private function figures(): array
    {
        return ['connections' => $this->browsers->count()] + $this->office->figures() + get_object_vars($this->counters);
    }

    /** @return array<string, int|list<?int>> of all workers together, and the connections of each; null for one that did not answer */
    private function stats(): array
    {
        $questions = [];
        for ($worker = 0; $worker < $this->peers->workers(); $worker++) {
            $questions[] = fn (): ?array => $this->peers->ask(self::PATIENCE, $worker, 'figures');
        }
        $sum = array_fill_keys(array_keys($this->figures()), 0);
        $workers = [];
        foreach (Coroutine\batch($questions) as $figures) {
            $workers[] = $figures['connections'] ?? null;
            foreach ($figures ?? [] as $name => $value) {
                $sum[$name] += $value;
            }
        }
        return $sum + ['workers' => $workers];
    }
}
