<?php

declare(strict_types=1);

namespace Swoole\Coroutine\MySQL;

/**
 * The errors of a connection and its statements, as properties: mysqli tells them by false or by exceptions, as
 * mysqli_report() says.
 * @internal
 */
trait Failure
{
    public $affected_rows = 0;

    public $insert_id = 0;

    public $error = '';

    public $errno = 0;

    /**
     * What the call gives; false when it failed, which the properties then tell.
     * @param \Closure(): mixed $call
     */
    private function attempt(float $timeout, object $source, \Closure $call): mixed
    {
        [$this->errno, $this->error] = [0, ''];
        try {
            $result = \Swoole\Coroutine\Deferred::within($timeout, $call);
        } catch (\mysqli_sql_exception $e) {
            $this->failed($e->getCode(), $e->getMessage(), $e->getSqlState());
            return false;
        } catch (\Apus\Coroutine\TimeoutException) {
            $this->failed(SOCKET_ETIMEDOUT, 'Connection timed out');
            $this->close();
            return false;
        }
        if ($result === false && $source->errno !== 0) {
            $this->failed($source->errno, $source->error, $source->sqlstate);
        }
        return $result;
    }

    private function failed(int $code, string $message, string $state = 'HY000'): void
    {
        $this->errno = $code;
        $this->error = "SQLSTATE[{$state}] [{$code}] {$message}";
    }
}
