<?php

declare(strict_types=1);

namespace Apus\Psr;

use Psr\Http\Message\ResponseInterface;
use Psr\Http\Message\ServerRequestInterface;
use Psr\Http\Message\UploadedFileInterface;
use Psr\Http\Message\UriInterface;

/** Requests of PSR-7 from superglobals, and responses of PSR-7 by what PHP prints: for scripts of `apus serve`. */
final class Globals
{
    public function __construct(private readonly Factories $factories)
    {
    }

    /** @throws \InvalidArgumentException when what the client sent cannot be a PSR-7 message */
    public function request(): ServerRequestInterface
    {
        $request = $this->factories->requests
            ->createServerRequest($_SERVER['REQUEST_METHOD'], $this->uri(), $_SERVER)
            ->withProtocolVersion(substr($_SERVER['SERVER_PROTOCOL'], 5));
        foreach (getallheaders() as $name => $value) {
            $request = $request->withHeader((string) $name, $value);
        }
        if ($_SERVER['REQUEST_URI'] === '*') {
            $request = $request->withRequestTarget('*');
        }
        return $request
            ->withQueryParams($_GET)
            ->withCookieParams($_COOKIE)
            ->withUploadedFiles(array_map($this->files(...), $_FILES))
            ->withParsedBody($_POST === [] ? null : $_POST)
            ->withBody($this->factories->streams->createStreamFromFile('php://input', 'r'));
    }

    private function uri(): UriInterface
    {
        $uri = $this->factories->uris->createUri('')->withScheme($_SERVER['REQUEST_SCHEME']);
        $target = $_SERVER['REQUEST_URI'];
        return Messages::at($uri, $_SERVER['HTTP_HOST'] ?? '')
            ->withPath($target === '*' ? '' : explode('?', $target, 2)[0])
            ->withQuery($_SERVER['QUERY_STRING']);
    }

    /** PHP has a tree for each of name, type and so on; PSR-7 one tree of files. */
    private function files(array $entry): UploadedFileInterface|array
    {
        if (!is_array($entry['tmp_name'])) {
            return new UploadedFile(null, $entry, $this->factories->streams);
        }
        $found = [];
        foreach (array_keys($entry['tmp_name']) as $key) {
            $found[$key] = $this->files(array_map(fn (array $values) => $values[$key], $entry));
        }
        return $found;
    }

    /**
     * Prints a response, part by part where its body is large or of unknown length.
     * @param bool $head whether the request was HEAD
     * @throws \Throwable what reading the body throws
     */
    public static function send(ResponseInterface $from, bool $head = false): void
    {
        $status = $from->getStatusCode();
        foreach ($from->getHeaders() as $name => $values) {
            // A session that was started has set its own cookie already.
            $replace = strcasecmp((string) $name, 'Set-Cookie') !== 0;
            foreach ($values as $value) {
                header("$name: $value", $replace);
                $replace = false;
            }
        }
        header(rtrim("HTTP/1.1 $status {$from->getReasonPhrase()}"), true, $status);
        $body = $from->getBody();
        try {
            Messages::isBodiless($status) || self::sendBody($from, $head);
        } finally {
            $body->close();
        }
    }

    private static function sendBody(ResponseInterface $from, bool $head): void
    {
        $body = $from->getBody();
        $size = $body->getSize();
        if ($size !== null && !$from->hasHeader('Content-Length')) {
            header("Content-Length: $size");
        }
        if ($head) {
            return;
        }
        if ($body->isSeekable()) {
            $body->rewind();
        }
        while (!$body->eof() && !connection_aborted()) {
            $part = $body->read(Messages::PART);
            echo $part;
            if (strlen($part) < Messages::PART && !$body->eof()) {
                // What comes slowly is sent as it comes; a stream that does not block has nothing now.
                $part === '' ? usleep(1000) : flush();
            }
        }
    }
}
