<?php

namespace Swoole\Coroutine;

/**
 * Apus\Coroutine\Client, for code written for Swoole: a call that cannot be made gives false and a warning.
 * @rust second Apus\Coroutine\Client
 * @rust short Co\Client
 * @rust within crate::swoole::answers_false
 * @rust made crate::swoole::throws
 */
class Client
{
    public const MSG_OOB = 1;

    public const MSG_PEEK = 2;

    public const MSG_DONTWAIT = 64;

    public const MSG_WAITALL = 256;

    public $errCode = 0;

    public $errMsg = '';

    public $fd = -1;

    public $socket = null;

    public $type = 0;

    public $setting = null;

    public $connected = false;

    /**
     * @rust construct_trusting
     * @rust typed
     */
    public function __construct(int $type) {}

    public function set(array $settings): bool {}

    /**
     * @rust connect_shown
     * @rust typed
     */
    public function connect(string $host, int $port = 0, float $timeout = 0, int $sock_flag = 0): bool {}

    public function recv(float $timeout = 0): string|false {}

    public function peek(int $length = 65535): string|false {}

    public function send(string $data, float $timeout = 0): int|false {}

    public function sendfile(string $filename, int $offset = 0, int $length = 0): bool {}

    public function sendto(string $address, int $port, string $data): bool {}

    public function recvfrom(int $length, mixed &$address, mixed &$port = 0): string|false {}

    public function enableSSL(): bool {}

    public function getPeerCert(): string|false {}

    public function verifyPeerCert(bool $allow_self_signed = false): bool {}

    public function isConnected(): bool {}

    public function getsockname(): array|false {}

    public function getpeername(): array|false {}

    public function close(): bool {}

    public function exportSocket(): \Swoole\Coroutine\Socket|false {}
}

namespace Swoole;

/**
 * Apus\Client, for code written for Swoole: a call that cannot be made gives false and a warning.
 * @rust second Apus\Client
 * @rust also swoole_client
 * @rust within crate::swoole::answers_false
 * @rust made crate::swoole::throws
 */
class Client
{
    public const MSG_OOB = 1;

    public const MSG_PEEK = 2;

    public const MSG_DONTWAIT = 64;

    public const MSG_WAITALL = 256;

    public const SHUT_RD = 0;

    public const SHUT_WR = 1;

    public const SHUT_RDWR = 2;

    public $errCode = 0;

    public $sock = -1;

    public $reuse = false;

    public $reuseCount = 0;

    public $type = 0;

    public $id = '';

    public $setting = null;

    public $errMsg = '';

    /**
     * @rust blocking::construct_trusting
     * @rust typed
     */
    public function __construct(int $type, bool $async = false, string $id = '') {}

    public function set(array $settings): bool {}

    public function connect(string $host, int $port = 0, float $timeout = 0.5, int $sock_flag = 0): bool {}

    /**
     * @rust blocking::recv_there
     * @rust typed
     */
    public function recv(int $size = 65536, int $flag = 0): string|false {}

    public function send(string $data, int $flag = 0): int|false {}

    public function sendfile(string $filename, int $offset = 0, int $length = 0): bool {}

    public function sendto(string $ip, int $port, string $data): bool {}

    public function shutdown(int $how): bool {}

    public function enableSSL(?callable $onSslReady = null): bool {}

    public function getPeerCert(): string|bool {}

    public function verifyPeerCert(): bool {}

    public function isConnected(): bool {}

    public function getsockname(): array|false {}

    public function getpeername(): array|false {}

    public function close(bool $force = false): bool {}

    /**
     * A Socket of ext/sockets, for the options of the connection.
     * @rust blocking::get_socket
     * @rust typed
     */
    public function getSocket(): \Socket|false {}
}
