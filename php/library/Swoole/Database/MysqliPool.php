<?php

declare(strict_types=1);

namespace Swoole\Database;

use Swoole\ConnectionPool;

class MysqliPool extends ConnectionPool
{
    public function __construct(protected MysqliConfig $config, int $size = self::DEFAULT_SIZE)
    {
        parent::__construct($this->connect(...), $size, MysqliProxy::class);
    }

    private function connect(): \mysqli
    {
        $config = $this->config;
        $mysqli = new \mysqli();
        foreach ($config->getOptions() as $option => $value) {
            $mysqli->options($option, $value);
        }
        $mysqli->real_connect(
            $config->getHost(),
            $config->getUsername(),
            $config->getPassword(),
            $config->getDbname(),
            $config->getPort(),
            $config->getUnixSocket(),
        );
        if ($mysqli->connect_errno !== 0) {
            throw new MysqliException($mysqli->connect_error, $mysqli->connect_errno);
        }
        $mysqli->set_charset($config->getCharset());
        return $mysqli;
    }
}
