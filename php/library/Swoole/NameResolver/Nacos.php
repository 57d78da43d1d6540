<?php

declare(strict_types=1);

namespace Swoole\NameResolver;

use Swoole\NameResolver;

use function Swoole\Coroutine\Http\request;

/** Services in Nacos. */
class Nacos extends NameResolver
{
    public function join(string $name, string $ip, int $port, array $options = []): bool
    {
        $response = $this->ask('POST', '', [
            'port' => $port,
            'ip' => $ip,
            'healthy' => 'true',
            'weight' => $options['weight'] ?? 100,
            'encoding' => $options['encoding'] ?? 'utf-8',
            'namespaceId' => $options['namespaceId'] ?? 'public',
            'serviceName' => $this->prefix . $name,
        ]);
        return $this->checkResponse($response);
    }

    public function leave(string $name, string $ip, int $port): bool
    {
        $instance = ['port' => $port, 'ip' => $ip, 'serviceName' => $this->prefix . $name];
        return $this->checkResponse($this->ask('DELETE', '', $instance));
    }

    public function getCluster(string $name): ?Cluster
    {
        $response = $this->ask('GET', '/list', ['serviceName' => $this->prefix . $name]);
        $this->checkResponse($response);
        $found = json_decode($response->getBody(), true, flags: JSON_THROW_ON_ERROR);
        if (!$found) {
            return null;
        }
        $cluster = new Cluster();
        foreach ($found['hosts'] as $node) {
            $cluster->add($node['ip'], $node['port'], (int) $node['weight']);
        }
        return $cluster;
    }

    private function ask(string $method, string $what, array $query): \Swoole\Coroutine\Http\ClientProxy
    {
        return request("{$this->baseUrl}/nacos/v1/ns/instance{$what}?" . http_build_query($query), $method);
    }
}
