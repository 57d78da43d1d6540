<?php

declare(strict_types=1);

namespace Swoole\NameResolver;

use Swoole\NameResolver;

use function Swoole\Coroutine\Http\get;
use function Swoole\Coroutine\Http\request;

/** Services in a Consul agent. */
class Consul extends NameResolver
{
    public function join(string $name, string $ip, int $port, array $options = []): bool
    {
        $service = [
            'ID' => $this->id($name, $ip, $port),
            'Name' => $this->prefix . $name,
            'Address' => $ip,
            'Port' => $port,
            'EnableTagOverride' => false,
            'Weights' => ['Passing' => $options['weight'] ?? 100, 'Warning' => 1],
        ];
        return $this->put('register', json_encode($service, JSON_THROW_ON_ERROR));
    }

    public function leave(string $name, string $ip, int $port): bool
    {
        return $this->put('deregister/' . $this->id($name, $ip, $port));
    }

    public function enableMaintenanceMode(string $name, string $ip, int $port): bool
    {
        return $this->put('maintenance/' . $this->id($name, $ip, $port));
    }

    public function getCluster(string $name): ?Cluster
    {
        $response = get("{$this->baseUrl}/v1/catalog/service/{$this->prefix}{$name}");
        $this->checkResponse($response);
        $services = json_decode($response->getBody(), true, flags: JSON_THROW_ON_ERROR);
        if (!$services) {
            return null;
        }
        $cluster = new Cluster();
        foreach ($services as $service) {
            $cluster->add($service['ServiceAddress'], $service['ServicePort'], $service['ServiceWeights']['Passing']);
        }
        return $cluster;
    }

    private function put(string $what, ?string $body = null): bool
    {
        return $this->checkResponse(request("{$this->baseUrl}/v1/agent/service/{$what}", 'PUT', $body));
    }

    private function id(string $name, string $ip, int $port): string
    {
        return "{$this->prefix}{$name}_{$ip}:{$port}";
    }
}
