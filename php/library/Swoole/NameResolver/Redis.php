<?php

declare(strict_types=1);

namespace Swoole\NameResolver;

use Swoole\NameResolver;

/** Services as sets of "address:port" in Redis. */
class Redis extends NameResolver
{
    public function __construct(string $url, string $prefix = 'swoole:service:')
    {
        parent::__construct($url, $prefix);
    }

    public function join(string $name, string $ip, int $port, array $options = []): bool
    {
        $redis = $this->connect();
        return $redis !== false && $redis->sAdd($this->prefix . $name, "{$ip}:{$port}") !== false;
    }

    public function leave(string $name, string $ip, int $port): bool
    {
        $redis = $this->connect();
        return $redis !== false && $redis->sRem($this->prefix . $name, "{$ip}:{$port}") !== false;
    }

    public function getCluster(string $name): ?Cluster
    {
        $redis = $this->connect();
        $members = $redis === false ? [] : $redis->sMembers($this->prefix . $name);
        if (!$members) {
            return null;
        }
        $cluster = new Cluster();
        foreach ($members as $member) {
            $colon = strrpos($member, ':');
            $cluster->add(substr($member, 0, $colon), (int) substr($member, $colon + 1));
        }
        return $cluster;
    }

    protected function connect()
    {
        $redis = new \Redis();
        return $redis->connect($this->info['ip'], $this->info['port'] ?? 6379) ? $redis : false;
    }
}
