<?php

use Swoole\Coroutine\Socket;

/* What the functions of ext/sockets are in coroutines under SWOOLE_HOOK_SOCKETS. */

/** A socket that cannot be had is false and a warning. */
function swoole_socket_create(int $domain, int $type, int $protocol): Socket|false
{
    try {
        return new Socket($domain, $type, $protocol);
    } catch (Swoole\Exception $e) {
        trigger_error($e->getMessage(), E_USER_WARNING);
        return false;
    }
}

function swoole_socket_create_listen(int $port, int $backlog = 128): Socket|false
{
    $socket = swoole_socket_create(AF_INET, SOCK_STREAM, SOL_TCP);
    return $socket && $socket->bind('0.0.0.0', $port) && $socket->listen($backlog) ? $socket : false;
}

function swoole_socket_create_pair(int $domain, int $type, int $protocol, mixed &$pair): bool
{
    $streams = stream_socket_pair($domain, $type, $protocol);
    if ($streams === false) {
        return false;
    }
    $pair = array_map(Socket::import(...), $streams);
    return true;
}

/**
 * The stream is closed with the socket.
 * @param resource $stream
 */
function swoole_socket_import_stream(mixed $stream): Socket|false
{
    $socket = Socket::import($stream);
    if ($socket) {
        swoole_socket_streams()[$socket] = $stream;
    }
    return $socket;
}

/** @return WeakMap<Socket, resource> the streams that sockets were made of */
function swoole_socket_streams(): WeakMap
{
    static $streams = null;
    return $streams ??= new WeakMap();
}

function swoole_socket_bind(Socket $socket, string $address, int $port = 0): bool
{
    return $socket->bind($address, $port);
}

function swoole_socket_listen(Socket $socket, int $backlog = 0): bool
{
    return $socket->listen($backlog);
}

function swoole_socket_accept(Socket $socket): Socket|false
{
    return $socket->accept();
}

function swoole_socket_connect(Socket $socket, string $address, int $port = 0): bool
{
    return $socket->connect($address, $port);
}

/** A text up to the end of its line with PHP_NORMAL_READ. */
function swoole_socket_read(Socket $socket, int $length, int $type = PHP_BINARY_READ): string|false
{
    return $type === PHP_BINARY_READ ? $socket->recv($length) : $socket->recvLine($length);
}

/** 0 and a length beyond the data mean all of it. */
function swoole_socket_write(Socket $socket, string $buffer, int $length = 0): int|false
{
    return $socket->send($length > 0 ? substr($buffer, 0, $length) : $buffer);
}

function swoole_socket_send(Socket $socket, string $buffer, int $length, int $flags): int|false
{
    swoole_socket_refuse_flags($flags);
    return swoole_socket_write($socket, $buffer, $length);
}

function swoole_socket_sendto(
    Socket $socket,
    string $buffer,
    int $length,
    int $flags,
    string $addr,
    int $port = 0,
): int|false {
    swoole_socket_refuse_flags($flags);
    swoole_socket_want_datagrams($socket);
    return $socket->sendto($addr, $port, $length > 0 ? substr($buffer, 0, $length) : $buffer);
}

function swoole_socket_recv(Socket $socket, mixed &$buffer, int $length, int $flags): int|false
{
    swoole_socket_refuse_flags($flags & MSG_OOB);
    $timeout = $flags & MSG_DONTWAIT ? 0.001 : 0;
    $buffer = null;
    $data = match (true) {
        ($flags & MSG_PEEK) !== 0 => swoole_socket_peek($socket, $length, $timeout),
        ($flags & MSG_WAITALL) !== 0 => $socket->recvAll($length, $timeout),
        default => $socket->recv($length, $timeout),
    };
    if ($data === false) {
        return false;
    }
    $buffer = $data;
    return strlen($data);
}

function swoole_socket_peek(Socket $socket, int $length, float $timeout): string|false
{
    $data = $socket->peek($length);
    if ($data === false && $socket->errCode === SOCKET_EAGAIN) {
        Swoole\Coroutine\System::waitEvent($socket->fd, SWOOLE_EVENT_READ, $timeout ?: -1);
        $data = $socket->peek($length);
    }
    return $data;
}

function swoole_socket_recvfrom(
    Socket $socket,
    mixed &$buffer,
    int $length,
    int $flags,
    mixed &$name,
    mixed &$port = null,
): int|false {
    swoole_socket_refuse_flags($flags);
    if ($length === 0) {
        $socket->errCode = SOCKET_EAGAIN;
        return false;
    }
    swoole_socket_want_datagrams($socket);
    $data = $socket->recvfrom($peer);
    if ($data === false) {
        return false;
    }
    ['address' => $name, 'port' => $port] = $peer;
    $buffer = substr($data, 0, $length);
    return strlen($buffer);
}

function swoole_socket_getpeername(Socket $socket, mixed &$address, mixed &$port = null): bool
{
    return swoole_socket_tell_name($socket->getpeername(), $address, $port);
}

function swoole_socket_getsockname(Socket $socket, mixed &$address, mixed &$port = null): bool
{
    return swoole_socket_tell_name($socket->getsockname(), $address, $port);
}

function swoole_socket_set_option(Socket $socket, int $level, int $optname, mixed $optval): bool
{
    return $socket->setOption($level, $optname, $optval);
}

function swoole_socket_setopt(Socket $socket, int $level, int $optname, mixed $optval): bool
{
    return $socket->setOption($level, $optname, $optval);
}

function swoole_socket_get_option(Socket $socket, int $level, int $optname): mixed
{
    return $socket->getOption($level, $optname);
}

function swoole_socket_getopt(Socket $socket, int $level, int $optname): mixed
{
    return $socket->getOption($level, $optname);
}

function swoole_socket_set_block(Socket $socket): bool
{
    return swoole_socket_hurry($socket, false);
}

/** From now on what would wait gives false after a millisecond. */
function swoole_socket_set_nonblock(Socket $socket): bool
{
    return swoole_socket_hurry($socket, true);
}

function swoole_socket_shutdown(Socket $socket, int $how = 2): bool
{
    return $socket->shutdown($how);
}

function swoole_socket_close(Socket $socket): void
{
    $stream = swoole_socket_streams()[$socket] ?? null;
    if (is_resource($stream)) {
        fclose($stream);
    }
    $socket->close();
}

function swoole_socket_last_error(?Socket $socket = null): int
{
    return $socket === null ? swoole_last_error() : $socket->errCode;
}

function swoole_socket_clear_error(?Socket $socket = null): void
{
    if ($socket === null) {
        swoole_clear_error();
    } else {
        $socket->errCode = 0;
    }
}

function swoole_socket_refuse_flags(int $flags): void
{
    if ($flags !== 0) {
        throw new RuntimeException("\$flags[{$flags}] is not supported");
    }
}

function swoole_socket_want_datagrams(Socket $socket): void
{
    if ($socket->type !== SOCK_DGRAM) {
        throw new RuntimeException('only supports dgram type socket');
    }
}

/** @param array{address: string, port: int}|false $info */
function swoole_socket_tell_name(array|false $info, mixed &$address, mixed &$port): bool
{
    if ($info === false) {
        return false;
    }
    ['address' => $address, 'port' => $port] = $info;
    return true;
}

function swoole_socket_hurry(Socket $socket, bool $hurry): bool
{
    /** @var WeakMap<Socket, array{sec: int, usec: int}>|null $before the time-outs of sockets that are in a hurry */
    static $before = null;
    $before ??= new WeakMap();
    if ($socket->isClosed()) {
        return false;
    }
    if ($hurry && !isset($before[$socket])) {
        $before[$socket] = $socket->getOption(SOL_SOCKET, SO_RCVTIMEO);
        return $socket->setOption(SOL_SOCKET, SO_RCVTIMEO, ['sec' => 0, 'usec' => 1000]);
    }
    if (!$hurry && isset($before[$socket])) {
        $socket->setOption(SOL_SOCKET, SO_RCVTIMEO, $before[$socket]);
        unset($before[$socket]);
    }
    return true;
}
