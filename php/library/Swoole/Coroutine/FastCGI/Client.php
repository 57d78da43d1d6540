<?php

declare(strict_types=1);

namespace Swoole\Coroutine\FastCGI;

use Swoole\Coroutine\FastCGI\Client\Exception;
use Swoole\FastCGI\FrameParser;
use Swoole\FastCGI\HttpRequest;
use Swoole\FastCGI\HttpResponse;
use Swoole\FastCGI\Record\EndRequest;
use Swoole\FastCGI\Request;
use Swoole\FastCGI\Response;

/** A client of php-fpm and the like; it waits in a coroutine. */
class Client
{
    /** Bytes that are read at once. */
    private const CHUNK = 65536;

    /** @var resource|null */
    private mixed $stream = null;

    public function __construct(protected string $host, protected int $port = 0, protected bool $ssl = false)
    {
    }

    public function execute(Request $request, float $timeout = -1): Response
    {
        $this->stream ??= $this->connect($timeout);
        $seconds = $timeout > 0 ? (int) $timeout : -1;
        stream_set_timeout($this->stream, $seconds, $timeout > 0 ? (int) (fmod($timeout, 1) * 1_000_000) : 0);
        $text = (string) $request;
        if (@fwrite($this->stream, $text) !== strlen($text)) {
            throw $this->lost();
        }
        $records = $this->receive();
        if (!$request->getKeepConn()) {
            $this->close();
        }
        return $request instanceof HttpRequest ? new HttpResponse($records) : new Response($records);
    }

    /** Host and port of tcp://host:port, host:port, or unix:/path. */
    public static function parseUrl(string $url): array
    {
        $parts = parse_url($url) ?: [];
        if (isset($parts['host'])) {
            return [$parts['host'], $parts['port'] ?? 0];
        }
        $path = $parts['path'] ?? '';
        if ($path === '') {
            throw new \InvalidArgumentException('Invalid url');
        }
        return ["unix:/{$path}", $parts['port'] ?? 0];
    }

    /** Runs a script, of which $path is the path with a query, and gives what it wrote. */
    public static function call(string $url, string $path, $data = '', float $timeout = -1): string
    {
        $client = new self(...static::parseUrl($url));
        $parts = parse_url($path) ?: [];
        $script = $parts['path'] ?? '';
        $query = $parts['query'] ?? '';
        $name = '/' . basename($script);
        $request = (new HttpRequest())->withDocumentRoot(dirname($script))->withScriptFilename($script)
            ->withScriptName($name)->withUri($query === '' ? $name : "{$name}?{$query}")->withBody($data);
        $request->withMethod($request->getContentLength() === 0 ? 'GET' : 'POST');
        return $client->execute($request, $timeout)->getBody();
    }

    /** @return list<\Swoole\FastCGI\Record> up to the end of the request */
    private function receive(): array
    {
        $records = [];
        $buffer = '';
        while (true) {
            while (FrameParser::hasFrame($buffer)) {
                $records[] = $record = FrameParser::parseFrame($buffer);
                if ($record instanceof EndRequest) {
                    return $records;
                }
            }
            $bytes = @fread($this->stream, self::CHUNK);
            if ($bytes === false || $bytes === '') {
                throw $this->lost();
            }
            $buffer .= $bytes;
        }
    }

    private function connect(float $timeout): mixed
    {
        $address = match (true) {
            stripos($this->host, 'unix:/') === 0 => 'unix:///' . ltrim(substr($this->host, strlen('unix:')), '/'),
            str_contains($this->host, ':') => "[{$this->host}]:{$this->port}",
            default => "{$this->host}:{$this->port}",
        };
        $scheme = $this->ssl ? 'tls://' : 'tcp://';
        $address = str_contains($address, '://') ? $address : $scheme . $address;
        $stream = @stream_socket_client($address, $code, $message, $timeout > 0 ? $timeout : null);
        return $stream === false ? throw new Exception($message, $code) : $stream;
    }

    private function lost(): Exception
    {
        $isLate = stream_get_meta_data($this->stream)['timed_out'];
        $this->close();
        $code = $isLate ? SOCKET_ETIMEDOUT : SOCKET_ECONNRESET;
        return new Exception(swoole_strerror($code), $code);
    }

    private function close(): void
    {
        fclose($this->stream);
        $this->stream = null;
    }
}
