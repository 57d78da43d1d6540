<?php

namespace Swoole\Coroutine\Http2;

use BadMethodCallException;
use Swoole\Coroutine;
use Swoole\Coroutine\Channel;
use Swoole\Http2\Request;
use Swoole\Http2\Response;
use Swoole\Timer;

/**
 * One connection over which many coroutines make requests at once. It is made when it is needed, and closed when nobody
 * has used it for `heartbeat_idle_time` seconds (10; 0 and less: never), which is looked at each
 * `heartbeat_check_interval` seconds (3).
 */
class MultiplexClient extends Client
{
    private const IDLE_TIME = 10.0;
    private const CHECK_INTERVAL = 3.0;

    /** @var array<int, Channel> Where the answer of a stream goes. */
    protected array $streamChannels = [];

    /** @var array<int, true> Streams whose answer nobody waits for any more. */
    protected array $abandonedStreams = [];

    /** Counts the connections: who began with another one belongs to one that is closed. */
    private int $generation = 0;

    private bool $isReading = false;

    /** Who finds somebody connecting waits here. */
    private ?Channel $connecting = null;

    private int $inFlight = 0;

    private float $usedAt = 0.0;

    private ?int $watch = null;

    /**
     * The answer to a request; false when there is none in time, which errCode and errMsg tell. Without a time it is the
     * client's `timeout`.
     */
    public function request(Request $request, float $timeout = -1): Response|false
    {
        $timeout = $timeout > 0 ? $timeout : (float) ($this->setting['timeout'] ?? -1);
        $this->inFlight++;
        try {
            return $this->isConnected() ? $this->exchange($request, $timeout) : false;
        } finally {
            $this->inFlight--;
            $this->usedAt = microtime(true);
        }
    }

    /** Whether there was a connection. Requests that are under way get false. */
    public function close(): bool
    {
        $was = $this->connected;
        $this->generation++;
        $this->isReading = false;
        [$code, $message] = [$this->errCode, $this->errMsg];
        $was and parent::close();
        [$this->errCode, $this->errMsg] = [$code, $message];
        $this->watch !== null and Timer::clear($this->watch);
        $this->watch = null;
        $waiting = $this->streamChannels;
        $this->streamChannels = $this->abandonedStreams = [];
        foreach ($waiting as $answer) {
            $answer->close();
        }
        return $was;
    }

    public function recv(float $timeout = 0): Response|false
    {
        throw self::shared();
    }

    public function read(float $timeout = 0): Response|false
    {
        throw self::shared();
    }

    public function write(int $stream_id, mixed $data, bool $end_stream = false): bool
    {
        throw self::shared();
    }

    public function goaway(int $error_code = 0, string $debug_data = ''): bool
    {
        throw self::shared();
    }

    private static function shared(): BadMethodCallException
    {
        return new BadMethodCallException('the connection is shared: request() sends, and gets the answer');
    }

    private function isConnected(): bool
    {
        while ($this->connecting !== null) {
            $this->connecting->pop();
        }
        if ($this->connected) {
            return true;
        }
        $this->connecting = $barrier = new Channel();
        try {
            return $this->connect();
        } finally {
            $this->connecting = null;
            $barrier->close();
        }
    }

    private function exchange(Request $request, float $timeout): Response|false
    {
        $generation = $this->generation;
        $stream = $this->send($request);
        if ($stream === false) {
            return false;
        }
        if ($generation !== $this->generation) {
            return $this->failed(SWOOLE_ERROR_CLIENT_NO_CONNECTION, 'the connection was closed meanwhile');
        }
        $answer = $this->streamChannels[$stream] ??= new Channel();
        $this->watchIdle();
        if (!$this->isReading) {
            $this->isReading = true;
            Coroutine::create($this->readAll(...), $generation);
        }
        $response = $answer->pop($timeout);
        if ($response !== false) {
            unset($this->streamChannels[$stream]);
            return $response;
        }
        if ($generation !== $this->generation) {
            return $this->failed(SWOOLE_ERROR_CLIENT_NO_CONNECTION, 'the connection was closed meanwhile');
        }
        unset($this->streamChannels[$stream]);
        $this->abandonedStreams[$stream] = true;
        return $answer->errCode === SWOOLE_CHANNEL_TIMEOUT
            ? $this->failed(SWOOLE_ERROR_CO_TIMEDOUT, 'the answer took too long')
            : $this->failed(SWOOLE_ERROR_CO_CANCELED, 'the wait for the answer was cancelled');
    }

    private function failed(int $code, string $message): false
    {
        [$this->errCode, $this->errMsg] = [$code, $message];
        return false;
    }

    /** Gives answers to those who wait for them, as long as one is to come. */
    private function readAll(int $generation): void
    {
        try {
            while ($this->streamChannels !== [] || $this->abandonedStreams !== []) {
                $response = parent::recv(-1);
                if ($generation !== $this->generation) {
                    return;
                }
                if ($response === false) {
                    $this->close();
                    return;
                }
                $stream = $response->streamId;
                if (isset($this->abandonedStreams[$stream])) {
                    unset($this->abandonedStreams[$stream]);
                    continue;
                }
                // It may be here before send() has told which stream it is.
                $this->streamChannels[$stream] ??= new Channel();
                $this->streamChannels[$stream]->push($response);
            }
        } finally {
            $generation === $this->generation and $this->isReading = false;
        }
    }

    private function watchIdle(): void
    {
        $idle = (float) ($this->setting['heartbeat_idle_time'] ?? self::IDLE_TIME);
        if ($this->watch !== null || $idle <= 0) {
            return;
        }
        $interval = (float) ($this->setting['heartbeat_check_interval'] ?? 0);
        $interval = $interval > 0 ? $interval : self::CHECK_INTERVAL;
        $this->watch = Timer::tick(max(1, (int) ($interval * 1000)), function () use ($idle) {
            if ($this->inFlight === 0 && microtime(true) - $this->usedAt >= $idle) {
                $this->close();
            }
        });
    }
}
