<?php

declare(strict_types=1);

namespace Swoole\Async;

use Swoole\Coroutine;
use Swoole\Coroutine\Channel;
use Swoole\Exception;

/** A client whose events are callbacks: one coroutine connects and reads, another one writes what waits. */
class Client extends \Swoole\Client
{
    private const EVENTS = ['connect', 'receive', 'close', 'error', 'bufferfull', 'bufferempty'];
    private const EISCONN = 106;
    private const ENOTCONN = 107;
    /** Bytes that may wait to be sent, where `socket_buffer_size` says nothing. */
    private const ROOM = 2 * 1024 * 1024;

    /** @var array<string, callable> */
    private array $on = [];
    private ?Coroutine\Client $client = null;
    private bool $connecting = false;
    /** @var list<string|array{string, int, int}> what waits: bytes, or a part of a file */
    private array $unsent = [];
    private int $waiting = 0;
    private bool $writing = false;
    private bool $full = false;
    /** While it sleeps: what wakes its reader. */
    private ?Channel $asleep = null;
    private bool $open = false;

    public function __construct(int $type)
    {
        parent::__construct($type);
    }

    public function __destruct()
    {
    }

    public function on(string $host, callable $callback): bool
    {
        $event = strtolower($host);
        if (!in_array($event, self::EVENTS, true)) {
            trigger_error("there is no event \"$host\"; there are: " . implode(', ', self::EVENTS), E_USER_WARNING);
            return false;
        }
        $this->on[$event] = $callback;
        return true;
    }

    public function set(array $settings): bool
    {
        $this->setting = $settings + ($this->setting ?? []);
        return true;
    }

    public function connect(string $host, ?int $port = 0, float $timeout = 0.5, int $sock_flag = 0): bool
    {
        $type = $this->type & ~SWOOLE_SSL;
        $without_port = [SWOOLE_SOCK_UNIX_STREAM, SWOOLE_SOCK_UNIX_DGRAM];
        if (($port < 1 || $port > 65535) && !in_array($type, $without_port, true)) {
            return $this->refused(SWOOLE_ERROR_INVALID_PARAMS, 'The port is invalid');
        }
        if ($this->connecting || $this->open) {
            return $this->refused(self::EISCONN, 'the client is connected, or connects already');
        }
        $needed = $type === SWOOLE_SOCK_UDP ? ['receive'] : ['connect', 'receive', 'close', 'error'];
        foreach ($needed as $event) {
            if (!isset($this->on[$event])) {
                throw new \Swoole\Client\Exception("the callback of the event $event is missing: call on() before");
            }
        }
        $this->client = new Coroutine\Client($this->type);
        if ($this->setting !== null) {
            $this->client->set($this->setting);
        }
        $this->connecting = true;
        Coroutine::create(fn () => $this->run($this->client, $host, (int) $port, $timeout));
        return true;
    }

    public function isConnected(): bool
    {
        return $this->open;
    }

    public function send(string $data, int $flag = 0): int|false
    {
        return $this->enqueue($data, strlen($data)) ? strlen($data) : false;
    }

    public function sendfile(string $filename, int $offset = 0, int $length = 0): bool
    {
        return $this->enqueue([$filename, $offset, $length], 0);
    }

    public function sendto(string $ip, int $port, string $data): bool
    {
        return ($this->client ??= new Coroutine\Client($this->type))->sendto($ip, $port, $data);
    }

    public function recv(int $size = 65536, int $flag = 0): string|false
    {
        return $this->refused(SWOOLE_ERROR_OPERATION_NOT_SUPPORT, 'what comes is given to the callback of receive');
    }

    /** Nothing more is read, but for what was on its way. */
    public function sleep(): bool
    {
        if (!$this->open) {
            return false;
        }
        $this->asleep ??= new Channel(1);
        return true;
    }

    public function wakeup(): bool
    {
        if (!$this->open) {
            return false;
        }
        [$asleep, $this->asleep] = [$this->asleep, null];
        if ($asleep !== null) {
            // Its callbacks come with the next turn of the loop, as those of what is received later.
            \Swoole\Event::defer($asleep->close(...));
        }
        return true;
    }

    public function enableSSL(?callable $onSslReady = null): bool
    {
        if ($onSslReady === null) {
            throw new Exception('require `onSslReady` callback', SWOOLE_ERROR_INVALID_PARAMS);
        }
        if (!$this->open) {
            return $this->refused(self::ENOTCONN, 'client is not connected to server');
        }
        if (!$this->client->enableSSL()) {
            $this->fails();
            return false;
        }
        $onSslReady($this);
        return true;
    }

    public function getsockname(): array|false
    {
        return $this->client?->getsockname() ?? false;
    }

    public function getpeername(): array|false
    {
        return $this->client?->getpeername() ?? false;
    }

    public function getPeerCert(): string|bool
    {
        return $this->client?->getPeerCert() ?? false;
    }

    public function verifyPeerCert(): bool
    {
        return $this->client?->verifyPeerCert() ?? false;
    }

    public function shutdown(int $how): bool
    {
        return $this->client?->exportSocket()?->shutdown($how) ?? false;
    }

    public function close(bool $force = false): bool
    {
        if (!$this->open && !$this->connecting) {
            return $this->refused(self::ENOTCONN, 'client is not connected to server');
        }
        $was_open = $this->open;
        $this->ended();
        if ($was_open) {
            $this->tell('close');
        }
        return true;
    }

    private function run(Coroutine\Client $client, string $host, int $port, float $timeout): void
    {
        $connected = $client->connect($host, $port, $timeout);
        if ($this->client !== $client) {
            return;
        }
        $this->connecting = false;
        if (!$connected) {
            $this->fails();
            $this->client = null;
            $this->tell('error');
            return;
        }
        $this->open = true;
        $this->sock = $client->fd;
        $this->tell('connect');
        while ($this->client === $client) {
            $data = $client->recv(-1);
            if ($this->client !== $client) {
                return;
            }
            if ($data === '' || $data === false) {
                $this->fails();
                $this->close();
                return;
            }
            $this->asleep?->pop();
            if ($this->client === $client) {
                $this->tell('receive', $data);
            }
        }
    }

    /** Takes something to be sent; at once, where the socket takes it. */
    private function enqueue(string|array $what, int $bytes): bool
    {
        if (!$this->open) {
            return $this->refused(self::ENOTCONN, 'client is not connected to server');
        }
        $room = $this->setting['socket_buffer_size'] ?? self::ROOM;
        if ($this->waiting > 0 && $this->waiting + $bytes > $room) {
            return $this->refused(SWOOLE_ERROR_OUTPUT_BUFFER_OVERFLOW, 'as much waits as socket_buffer_size allows');
        }
        $this->unsent[] = $what;
        $this->waiting += $bytes;
        if (!$this->writing) {
            $this->writing = true;
            Coroutine::create(fn () => $this->write($this->client));
        }
        if (!$this->full && $this->waiting >= ($this->setting['buffer_high_watermark'] ?? $room * 0.8)) {
            $this->full = true;
            $this->tell('bufferfull');
        }
        return true;
    }

    private function write(Coroutine\Client $client): void
    {
        while ($this->client === $client && $this->unsent !== []) {
            $what = array_shift($this->unsent);
            $sent = is_string($what) ? $client->send($what, -1) : $client->sendfile(...$what);
            if ($this->client !== $client) {
                return;
            }
            if ($sent === false) {
                $this->fails();
                break;
            }
            $this->waiting -= is_string($what) ? strlen($what) : 0;
            if ($this->full && $this->waiting <= ($this->setting['buffer_low_watermark'] ?? 0)) {
                $this->full = false;
                $this->tell('bufferempty');
            }
        }
        $this->writing = false;
    }

    private function ended(): void
    {
        [$client, $this->client] = [$this->client, null];
        $this->open = $this->connecting = $this->writing = $this->full = false;
        [$this->unsent, $this->waiting, $this->sock] = [[], 0, -1];
        $this->asleep?->close();
        $this->asleep = null;
        $client?->close();
    }

    private function tell(string $event, mixed ...$more): void
    {
        if (isset($this->on[$event])) {
            ($this->on[$event])($this, ...$more);
        }
    }

    private function fails(): void
    {
        $this->errCode = $this->client->errCode;
        $this->errMsg = $this->client->errMsg;
    }

    private function refused(int $code, string $why): bool
    {
        $this->errCode = $code;
        $this->errMsg = $why;
        swoole_set_last_error($code);
        if (!filter_var(ini_get('swoole.display_errors'), FILTER_VALIDATE_BOOL)) {
            return false;
        }
        $method = debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS, 3);
        $method = array_values(array_filter($method, fn ($of) => !in_array($of['function'], ['refused', 'enqueue'], true)));
        trigger_error("Swoole\\Async\\Client::{$method[0]['function']}(): $why", E_USER_WARNING);
        return false;
    }
}
