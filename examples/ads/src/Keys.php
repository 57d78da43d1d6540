<?php

declare(strict_types=1);

namespace Apus\Ads;

use Apus\RateLimiter;

/** Finds the client of a key. The database has only hashes of keys; so does the memory that workers share. */
final class Keys
{
    /** Seconds for which a revoked key may still be taken. */
    public const FRESH = 10.0;

    /** @param RateLimiter $failures of addresses that send keys which do not exist */
    public function __construct(
        private readonly Database $database,
        private readonly Remembered $remembered,
        private readonly RateLimiter $failures,
    ) {}

    /** @throws Refusal 401, 429, 503 */
    public function client(?string $authorization, string $address): Client
    {
        if (preg_match('~^Bearer +([\x21-\x7e]{1,200})$~iD', $authorization ?? '', $match) !== 1) {
            throw new Refusal(401, 'send Authorization: Bearer KEY');
        }
        $hash = hash('sha256', $match[1], true);
        $row = $this->remembered->get("key:$hash", function () use ($hash, $address): ?array {
            $state = $this->failures->check($address);
            if (!$state['allowed']) {
                throw new Refusal(429, 'too many wrong keys', retryAfter: $state['retry_after']);
            }
            return $this->database->row('SELECT client, scopes, per_minute FROM api_keys WHERE hash = ? AND revoked_at IS NULL', [$hash]);
        });
        if ($row === null) {
            $this->failures->allow($address);
            throw new Refusal(401, 'there is no such key');
        }
        return new Client((int) $row['client'], explode(',', $row['scopes']), (int) $row['per_minute']);
    }
}
