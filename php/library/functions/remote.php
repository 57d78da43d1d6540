<?php

declare(strict_types=1);

// What Swoole has a server of remote objects do, because it blocks: here PHP's own functions wait in their coroutine, and
// there is no such server.

function swoole_init_default_remote_object_server(): void
{
}

function swoole_mail(string $to, string $subject, string $message, array $headers = []): bool
{
    return mail($to, $subject, $message, $headers);
}

function swoole_checkdnsrr(string $hostname, string $type = 'MX'): bool
{
    return checkdnsrr($hostname, $type);
}

function swoole_dns_check_record(string $hostname, string $type = 'MX'): bool
{
    return checkdnsrr($hostname, $type);
}

function swoole_getmxrr(string $hostname, ?array &$hosts, ?array &$weights = null): bool
{
    return getmxrr($hostname, $hosts, $weights);
}

function swoole_dns_get_mx(string $hostname, ?array &$hosts, ?array &$weights = null): bool
{
    return getmxrr($hostname, $hosts, $weights);
}

function swoole_dns_get_record(
    string $hostname,
    int $type = DNS_ANY,
    ?array &$authoritative_name_servers = null,
    ?array &$additional_records = null,
    bool $raw = false,
): array|false {
    return dns_get_record($hostname, $type, $authoritative_name_servers, $additional_records, $raw);
}

function swoole_gethostbyaddr(string $ip): string|false
{
    return gethostbyaddr($ip);
}
