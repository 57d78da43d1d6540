<?php

declare(strict_types=1);

namespace Swoole\Database;

use Swoole\ConnectionPool;

/** @method \Redis get(float $timeout = -1) */
class RedisPool extends ConnectionPool
{
    public function __construct(protected RedisConfig $config, int $size = self::DEFAULT_SIZE)
    {
        parent::__construct($this->connect(...), $size);
    }

    private function connect(): \Redis
    {
        $config = $this->config;
        $redis = new \Redis();
        $redis->connect(
            $config->getHost(),
            $config->getPort(),
            $config->getTimeout(),
            null,
            $config->getRetryInterval(),
            $config->getReadTimeout(),
        );
        if ($config->getAuth()) {
            $redis->auth($config->getAuth());
        }
        if ($config->getDbIndex() !== 0) {
            $redis->select($config->getDbIndex());
        }
        foreach ($config->getOptions() as $option => $value) {
            $redis->setOption($option, $value);
        }
        return $redis;
    }
}
