<?php

declare(strict_types=1);

namespace Swoole\Coroutine;

use Swoole\Coroutine\Server\Connection;
use Swoole\Exception;

/** A server for streams inside a coroutine: start() serves each client in a coroutine of its own until shutdown(). */
class Server
{
    /** Seconds to wait when the process has no descriptor left. */
    private const PAUSE = 1.0;

    /** @var string */
    public $host = '';

    /** @var int */
    public $port = 0;

    /** @var int */
    public $type = AF_INET;

    /** @var int */
    public $fd = -1;

    /** @var int */
    public $errCode = 0;

    /** @var array */
    public $setting = [];

    /** @var bool */
    protected $running = false;

    /** @var callable|null */
    protected $fn;

    /** @var Socket */
    protected $socket;

    public function __construct(string $host, int $port = 0, bool $ssl = false, bool $reuse_port = false)
    {
        $this->type = match (true) {
            str_starts_with($host, 'unix:/') => AF_UNIX,
            str_contains($host, '::') => AF_INET6,
            default => AF_INET,
        };
        $this->host = $this->type === AF_UNIX ? '/' . ltrim(substr($host, strlen('unix:')), '/') : $host;
        $socket = new Socket($this->type, SOCK_STREAM, 0);
        if ($reuse_port) {
            $socket->setOption(SOL_SOCKET, SO_REUSEPORT, true);
        }
        if (!$socket->bind($this->host, $port)) {
            throw new Exception("bind({$this->host}:{$port}) failed", $socket->errCode);
        }
        if (!$socket->listen()) {
            throw new Exception('listen() failed', $socket->errCode);
        }
        $this->port = $socket->getsockname()['port'] ?? 0;
        $this->fd = $socket->fd;
        $this->socket = $socket;
        $this->setting['open_ssl'] = $ssl;
    }

    public function set(array $setting): void
    {
        $this->setting = array_merge($this->setting, $setting);
    }

    public function handle(callable $fn): void
    {
        $this->fn = $fn;
    }

    public function shutdown(): bool
    {
        $this->running = false;
        return $this->socket->cancel();
    }

    public function start(): bool
    {
        $this->running = true;
        if ($this->fn === null || !$this->socket->setProtocol($this->setting)) {
            $this->errCode = SOCKET_EINVAL;
            return false;
        }
        while ($this->running) {
            $client = $this->socket->accept();
            if ($client !== false) {
                $client->setProtocol($this->setting);
                \Apus\go($this->serve(...), $client);
            } elseif (!$this->goesOn()) {
                break;
            }
        }
        return true;
    }

    private function serve(Socket $client): void
    {
        if (empty($this->setting['open_ssl']) || $client->sslHandshake()) {
            ($this->fn)(new Connection($client));
        }
    }

    /** After accept() failed. */
    private function goesOn(): bool
    {
        $socket = $this->socket;
        switch ($socket->errCode) {
            case SOCKET_ETIMEDOUT:
                return true;
            case SOCKET_ECANCELED:
                return false;
            case SOCKET_EMFILE:
            case SOCKET_ENFILE:
                \Apus\Coroutine::sleep(self::PAUSE);
                return true;
        }
        trigger_error("accept failed, Error: {$socket->errMsg}[{$socket->errCode}]", E_USER_WARNING);
        return false;
    }
}
