<?php

declare(strict_types=1);

namespace Apus\Gateway;

/**
 * What a browser shows to be let in: PAYLOAD.SIGNATURE, both in base64url without padding. The payload is JSON: user, exp (seconds since
 * 1970) and, where wanted, topics (a list of names). The signature is HMAC-SHA256 of the first part as it stands in the token.
 */
final class Token
{
    /** No honest token is longer, in bytes. */
    private const LONGEST = 4096;

    /** @param list<string> $topics */
    public static function sign(string $secret, string $user, int $lifetime, array $topics = []): string
    {
        $claims = ['user' => $user, 'exp' => time() + $lifetime] + ($topics === [] ? [] : ['topics' => $topics]);
        $payload = self::encode(json_encode($claims, JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE));
        return $payload . '.' . self::encode(hash_hmac('sha256', $payload, $secret, true));
    }

    /** @throws Refusal 401 for one that has expired, 403 for one that was not signed with this secret */
    public static function verify(string $secret, string $token, int $now): Visitor
    {
        [$payload, $signature] = explode('.', $token, 2) + ['', ''];
        $expected = self::encode(hash_hmac('sha256', $payload, $secret, true));
        if (strlen($token) > self::LONGEST || !hash_equals($expected, $signature)) {
            throw new Refusal(403, 'the token is not signed with the secret of this gateway');
        }
        $claims = json_decode((string) base64_decode(strtr($payload, '-_', '+/'), true), true, 4);
        $expires = $claims['exp'] ?? null;
        if (!is_array($claims) || !is_int($expires) || !is_array($claims['topics'] ?? [])) {
            throw new Refusal(403, 'the token must hold user and exp');
        }
        if ($expires <= $now) {
            throw new Refusal(401, 'the token has expired');
        }
        return new Visitor(Name::user($claims['user'] ?? null), array_values(array_map(Name::topic(...), $claims['topics'] ?? [])));
    }

    private static function encode(string $bytes): string
    {
        return rtrim(strtr(base64_encode($bytes), '+/', '-_'), '=');
    }
}
