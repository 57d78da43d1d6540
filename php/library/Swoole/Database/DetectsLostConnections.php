<?php

declare(strict_types=1);

namespace Swoole\Database;

/** Tells from what drivers, servers and proxies report whether a connection is lost. */
class DetectsLostConnections
{
    /** Parts of messages, in lower case. */
    private const SIGNS = [
        // MySQL, MariaDB, Vitess
        'server has gone away', 'lost connection', 'error while sending', 'packets out of order. expected',
        'error reading result', 'server is shutting down', 'resource deadlock avoided',
        'disconnected by the server because of inactivity', '--read-only option so it cannot execute',
        'last transaction was aborted due to seamless scaling', 'general error: 3989', 'no healthy endpoints',
        'primary is not serving', 'current keyspace is being resharded', 'no healthy tablet available',
        'transaction pool connection limit exceeded', 'server is in script upgrade mode',
        '[1045] access denied for user',
        // PostgreSQL, PgBouncer
        'no connection to the server', 'server closed the connection unexpectedly', 'read only sql transaction',
        'client_idle_limit', 'query_wait_timeout', 'ssl syscall error', 'could not translate host name',
        'could not connect to server', 'unrecognized ssl error code',
        // Oracle, SQL Server, Sybase
        'ora-03113', 'ora-03114', 'is dead or not enabled', 'physical connection is not usable', 'tcp provider: error code 0x',
        'connection is no longer usable', 'the connection is broken', 'adaptive server connection failed',
        'login timeout expired', 'error writing data to the connection',
        // Redis, RabbitMQ, anything with sockets or TLS
        'went away', 'connection lost', 'channel connection is closed', 'failed to connect to', 'transaction() on null',
        'connection refused', 'actively refused it', 'communication link failure', 'reset by peer', 'broken pipe',
        'timed out', 'did not properly respond', 'no such file or directory', 'network is unreachable', 'unreachable network',
        'no route to host', 'not valid in its context', 'operation now in progress', 'operation in progress',
        'getaddrinfo', 'name resolution', 'decryption failed or bad record mac', 'ssl connection has been closed',
        'unexpected eof', 'unexpected message', 'ssl operation failed', 'curl_error_code: 77',
    ];

    public static function causedByLostConnection(\Throwable $e): bool
    {
        $message = strtolower($e->getMessage());
        foreach (self::SIGNS as $sign) {
            if (str_contains($message, $sign)) {
                return true;
            }
        }
        return false;
    }
}
