<?php

declare(strict_types=1);

namespace Apus\Ads;

/** Who asks: what stands beside a key. */
final readonly class Client
{
    public const SCOPES = ['read', 'write', 'events', 'admin'];

    /** @param list<string> $scopes */
    public function __construct(public int $id, public array $scopes, public int $perMinute) {}

    public function may(string $scope): bool
    {
        return in_array($scope, $this->scopes, true) || in_array('admin', $this->scopes, true);
    }
}
