<?php

declare(strict_types=1);

namespace Swoole\NameResolver;

use Swoole\Exception;

/** The nodes of a service that were not tried yet. */
class Cluster
{
    private array $nodes = [];

    public function add(string $host, int $port, int $weight = 100): void
    {
        if (filter_var($host, FILTER_VALIDATE_IP) === false) {
            throw new Exception("Bad IP Address [{$host}]");
        }
        if ($port < 0 || $port > 65535) {
            throw new Exception("Bad Port [{$port}]");
        }
        if ($weight < 0 || $weight > 100) {
            throw new Exception("Bad Weight [{$weight}]");
        }
        $this->nodes[] = ['host' => $host, 'port' => $port, 'weight' => $weight];
    }

    /**
     * Takes a node at random away.
     * @return array|false
     */
    public function pop()
    {
        if ($this->nodes === []) {
            return false;
        }
        return array_splice($this->nodes, array_rand($this->nodes), 1)[0];
    }

    public function count(): int
    {
        return count($this->nodes);
    }
}
