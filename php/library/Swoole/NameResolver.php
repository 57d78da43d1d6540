<?php

declare(strict_types=1);

namespace Swoole;

use Swoole\Coroutine\Http\ClientProxy;
use Swoole\NameResolver\Cluster;
use Swoole\NameResolver\Exception;

/** Finds the nodes of a service in a registry. */
abstract class NameResolver
{
    protected $baseUrl;

    protected $info;

    /** @var callable|null */
    private $filter;

    public function __construct(string $url, protected $prefix = 'swoole_service_')
    {
        $this->checkServerUrl($url);
    }

    abstract public function join(string $name, string $ip, int $port, array $options = []): bool;

    abstract public function leave(string $name, string $ip, int $port): bool;

    abstract public function getCluster(string $name): ?Cluster;

    public function withFilter(callable $fn): self
    {
        $this->filter = $fn;
        return $this;
    }

    public function getFilter()
    {
        return $this->filter;
    }

    public function hasFilter(): bool
    {
        return $this->filter !== null;
    }

    /**
     * Null: the name is another resolver's. An empty text: there is no such service. An array: its only node. A
     * Cluster: it has several, and who fails with one may try another.
     * @return Cluster|array|string|null
     */
    public function lookup(string $name)
    {
        if ($this->filter !== null && ($this->filter)($name) !== true) {
            return null;
        }
        $cluster = $this->getCluster($name);
        return match ($cluster?->count() ?? 0) {
            0 => '',
            1 => $cluster->pop(),
            default => $cluster,
        };
    }

    /** The registry's own host must be an address: its name cannot be looked up by way of itself. */
    protected function checkServerUrl(string $url)
    {
        $info = parse_url($url) ?: [];
        if (($info['scheme'] ?? '') === '' || ($info['host'] ?? '') === '') {
            throw new \RuntimeException("invalid url parameter '{$url}'");
        }
        $info['ip'] = gethostbyname($info['host']);
        if (filter_var($info['ip'], FILTER_VALIDATE_IP) === false) {
            throw new \RuntimeException("Failed to resolve host '{$info['host']}'");
        }
        $this->info = $info;
        $this->baseUrl = "{$info['scheme']}://{$info['ip']}"
            . (isset($info['port']) ? ":{$info['port']}" : '') . rtrim($info['path'] ?? '', '/');
    }

    protected function checkResponse(ClientProxy $response): bool
    {
        if ($response->getStatusCode() !== 200) {
            throw new Exception('Http Body: ' . $response->getBody(), $response->getStatusCode());
        }
        return true;
    }
}
