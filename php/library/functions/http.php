<?php

declare(strict_types=1);

namespace Swoole\Coroutine\Http;

/** Sends a request by the means that the library's option `http_client_driver` names: curl, stream, or our client. */
function request(
    string $url,
    string $method,
    mixed $data = null,
    ?array $options = null,
    ?array $headers = null,
    ?array $cookies = null,
): ClientProxy {
    $driver = match (swoole_library_get_option('http_client_driver')) {
        'curl' => request_with_curl(...),
        'stream' => request_with_stream(...),
        default => request_with_http_client(...),
    };
    return $driver($url, $method, $data, $options, $headers, $cookies);
}

function get(string $url, ?array $options = null, ?array $headers = null, ?array $cookies = null): ClientProxy
{
    return request($url, 'GET', null, $options, $headers, $cookies);
}

function post(string $url, mixed $data, ?array $options = null, ?array $headers = null, ?array $cookies = null): ClientProxy
{
    return request($url, 'POST', $data, $options, $headers, $cookies);
}

function request_with_http_client(
    string $url,
    string $method,
    mixed $data = null,
    ?array $options = null,
    ?array $headers = null,
    ?array $cookies = null,
): ClientProxy {
    $parts = parse_url($url) ?: [];
    $scheme = $parts['scheme'] ?? '';
    $port = match ($scheme) {
        'http' => 80,
        'https' => 443,
        '' => throw new Client\Exception('The URL given is illegal [no scheme]'),
        default => throw new Client\Exception("unknown scheme \"{$scheme}\""),
    };
    $client = new Client($parts['host'] ?? '', $parts['port'] ?? $port, $scheme === 'https');
    $client->set($options ?? []);
    $client->setMethod($method);
    if ($data) {
        $client->setData($data);
    }
    $client->setHeaders($headers ?? []);
    $client->setCookies($cookies ?? []);
    $path = $parts['path'] ?? '/';
    if (!$client->execute(isset($parts['query']) ? "{$path}?{$parts['query']}" : $path)) {
        throw new Client\Exception($client->errMsg, $client->errCode);
    }
    $proxy = new ClientProxy($client->body, $client->statusCode, $client->headers ?: [], $client->cookies ?: []);
    $client->close();
    return $proxy;
}

function request_with_curl(
    string $url,
    string $method,
    mixed $data = null,
    ?array $options = null,
    ?array $headers = null,
    ?array $cookies = null,
): ClientProxy {
    $received = ['headers' => [], 'cookies' => []];
    $settings = [
        CURLOPT_RETURNTRANSFER => true,
        CURLOPT_CUSTOMREQUEST => strtoupper($method),
        CURLOPT_HEADERFUNCTION => static function (mixed $curl, string $line) use (&$received): int {
            [$name, $value] = explode(':', $line, 2) + [1 => null];
            $name = strtolower(trim($name));
            if ($name === 'set-cookie') {
                [$key, $text] = explode('=', explode(';', trim($value), 2)[0], 2) + [1 => ''];
                $received['cookies'][$key] = $text;
            } elseif ($value !== null) {
                $received['headers'][$name][] = trim($value);
            }
            return strlen($line);
        },
    ];
    if ($data) {
        $settings[CURLOPT_POSTFIELDS] = $data;
    }
    if ($headers) {
        $settings[CURLOPT_HTTPHEADER] = array_map(
            static fn (string|int $name, string $value): string => is_int($name) ? $value : "{$name}: {$value}",
            array_keys($headers),
            $headers,
        );
    }
    if ($cookies) {
        $settings[CURLOPT_COOKIE] = http_build_query($cookies, '', '; ', PHP_QUERY_RFC3986);
    }
    $milliseconds = static fn (int|float $seconds): int => (int) ($seconds * 1000);
    $connecting = $options['connect_timeout'] ?? $options['timeout'] ?? null;
    if ($connecting !== null) {
        $settings[CURLOPT_CONNECTTIMEOUT_MS] = $milliseconds($connecting);
    }
    if (isset($options['timeout'])) {
        $settings[CURLOPT_TIMEOUT_MS] = $milliseconds($options['timeout']);
    }
    $curl = curl_init($url);
    if ($curl === false || !curl_setopt_array($curl, $settings)) {
        throw new Client\Exception('failed to curl_init');
    }
    $body = curl_exec($curl);
    if ($body === false) {
        throw new Client\Exception(curl_error($curl), curl_errno($curl));
    }
    $status = curl_getinfo($curl, CURLINFO_RESPONSE_CODE);
    return new ClientProxy($body, $status, $received['headers'], $received['cookies']);
}

function request_with_stream(
    string $url,
    string $method,
    mixed $data = null,
    ?array $options = null,
    ?array $headers = null,
    ?array $cookies = null,
): ClientProxy {
    $http = ['method' => $method, 'ignore_errors' => true];
    foreach ($headers ?? [] as $name => $value) {
        $http['header'][] = "{$name}: {$value}";
    }
    if ($cookies) {
        $http['header'][] = 'Cookie: ' . http_build_query($cookies, '', '; ', PHP_QUERY_RFC3986);
    }
    if ($data) {
        $http['content'] = is_array($data) ? http_build_query($data) : (string) $data;
        if (is_array($data)) {
            $http['header'][] = 'Content-Type: application/x-www-form-urlencoded';
        }
    }
    if (isset($options['timeout'])) {
        $http['timeout'] = (float) $options['timeout'];
    }
    $body = @file_get_contents($url, false, stream_context_create(['http' => $http]));
    if ($body === false) {
        throw new Client\Exception(error_get_last()['message'] ?? 'the request failed');
    }
    $status = preg_match('~^HTTP/\S+ (\d+)~', $http_response_header[0] ?? '', $found) === 1 ? (int) $found[1] : 200;
    return new ClientProxy($body, $status, [], []);
}
