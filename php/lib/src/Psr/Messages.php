<?php

declare(strict_types=1);

namespace Apus\Psr;

use Apus\Http\Request;
use Apus\Http\Response;
use Psr\Http\Message\ResponseInterface;
use Psr\Http\Message\ServerRequestInterface;
use Psr\Http\Message\StreamInterface;
use Psr\Http\Message\UriInterface;

/** Requests of Apus become those of PSR-7, and responses of PSR-7 are sent. */
final class Messages
{
    /** Bytes of a body that are read at once; a body that is not larger is sent with its head. */
    public const PART = 65536;

    /** Answers without a body (RFC 9110 section 6.4.1). */
    private const BODILESS = [204, 304];

    public function __construct(private readonly Factories $factories)
    {
    }

    /**
     * @param bool $streamed whether the body is read as it comes: the setting stream_request_body
     * @throws \InvalidArgumentException when what the client sent cannot be a PSR-7 message
     */
    public function request(Request $from, bool $streamed = false): ServerRequestInterface
    {
        $server = $from->server;
        $request = $this->factories->requests
            ->createServerRequest($from->getMethod(), $this->uri($from), $this->parameters($from))
            ->withProtocolVersion(substr($server['server_protocol'], 5));
        foreach ($from->header as $name => $value) {
            $request = $request->withHeader((string) $name, $value);
        }
        if ($server['request_uri'] === '*') {
            $request = $request->withRequestTarget('*');
        }
        return $request
            ->withQueryParams($from->get ?? [])
            ->withCookieParams($from->cookie ?? [])
            ->withUploadedFiles($this->files($from, $from->files ?? []))
            ->withParsedBody($from->post)
            ->withBody($this->body($from, $streamed));
    }

    private function uri(Request $from): UriInterface
    {
        $server = $from->server;
        $uri = $this->factories->uris->createUri('')->withScheme(isset($server['https']) ? 'https' : 'http');
        $path = $server['request_uri'];
        return self::at($uri, $from->header['host'] ?? '')
            ->withPath($path === '*' ? '' : $path)
            ->withQuery($server['query_string'] ?? '');
    }

    /** The URI with what a Host field says, if that is a host. */
    public static function at(UriInterface $uri, string $host): UriInterface
    {
        if (preg_match('~^(\[[^]]*]|[^:]+)(?::(\d*))?$~D', $host, $parts) !== 1) {
            return $uri;
        }
        return $uri->withHost($parts[1])->withPort(($parts[2] ?? '') === '' ? null : (int) $parts[2]);
    }

    /** Whether answers of this status have no body. */
    public static function isBodiless(int $status): bool
    {
        return in_array($status, self::BODILESS, true);
    }

    /** What a web server tells PHP (RFC 3875), without the header fields. */
    private function parameters(Request $from): array
    {
        $parameters = array_change_key_case($from->server, CASE_UPPER);
        $parameters['QUERY_STRING'] ??= '';
        if ($parameters['QUERY_STRING'] !== '') {
            $parameters['REQUEST_URI'] .= "?{$parameters['QUERY_STRING']}";
        }
        return $parameters;
    }

    private function body(Request $from, bool $streamed): StreamInterface
    {
        if ($streamed) {
            return new RequestBody($from);
        }
        if (strncasecmp($from->header['content-type'] ?? '', 'multipart/', 10) !== 0) {
            return $this->factories->streams->createStream($from->getContent());
        }
        // A form that was taken apart has no text any more, which read() does not complain of.
        return $this->factories->streams->createStream((new RequestBody($from))->getContents());
    }

    /** The tree of uploaded files: a leaf is an entry as in $_FILES. */
    private function files(Request $from, array $files): array
    {
        return array_map(
            fn (array $file) => is_string($file['tmp_name'] ?? null)
                ? new UploadedFile($from, $file, $this->factories->streams)
                : $this->files($from, $file),
            $files,
        );
    }

    /**
     * Sends a response, part by part where its body is large or of unknown length: the body is read only as fast as the
     * client reads.
     * @param bool $head whether the request was HEAD
     * @return bool false when the client has gone
     * @throws \Throwable what reading the body throws
     */
    public static function send(ResponseInterface $from, Response $to, bool $head = false): bool
    {
        $to->status($from->getStatusCode(), $from->getReasonPhrase());
        foreach ($from->getHeaders() as $name => $values) {
            if (strcasecmp((string) $name, 'Set-Cookie') === 0) {
                // A session that was started has set its own already.
                $values = [...(array) ($to->getHeaders()['set-cookie'] ?? []), ...$values];
            }
            $to->header((string) $name, count($values) === 1 ? reset($values) : array_values($values), false);
        }
        $body = $from->getBody();
        try {
            return self::sendBody($body, $from, $to, $head);
        } finally {
            $body->close();
        }
    }

    private static function sendBody(StreamInterface $body, ResponseInterface $from, Response $to, bool $head): bool
    {
        $bodiless = self::isBodiless($from->getStatusCode());
        $size = $body->getSize();
        if (($head || ($size ?? self::PART + 1) > self::PART)
            && $size !== null && !$bodiless && !$from->hasHeader('Content-Length')) {
            $to->header('Content-Length', (string) $size);
        }
        if ($head || $bodiless) {
            return $to->end();
        }
        if ($body->isSeekable()) {
            $body->rewind();
        }
        if ($size !== null && $size <= self::PART) {
            return $to->end($body->getContents());
        }
        while (!$body->eof()) {
            $part = $body->read(self::PART);
            if ($part === '') {
                // The end is often noticed by reading behind it; and a stream that does not block has nothing now.
                $body->eof() || usleep(1000);
            } elseif (!$to->write($part)) {
                return false;
            }
        }
        return $to->end();
    }
}
