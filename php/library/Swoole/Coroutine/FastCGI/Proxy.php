<?php

declare(strict_types=1);

namespace Swoole\Coroutine\FastCGI;

use Swoole\FastCGI\HttpRequest;
use Swoole\FastCGI\HttpResponse;

/** Has a FastCGI server answer requests of an HTTP server; files that are no PHP it sends itself. */
class Proxy
{
    protected $host;

    protected $port;

    protected $timeout = -1;

    protected $documentRoot;

    protected $https = false;

    protected $index = 'index.php';

    protected $params = [];

    /** @var callable|null */
    protected $staticFileFilter;

    public function __construct(string $url, string $documentRoot = '/')
    {
        [$this->host, $this->port] = Client::parseUrl($url);
        $this->documentRoot = $documentRoot;
        $this->staticFileFilter = $this->staticFileFiltrate(...);
    }

    public function withTimeout(float $timeout): self
    {
        $this->timeout = $timeout;
        return $this;
    }

    public function withHttps(bool $https): self
    {
        $this->https = $https;
        return $this;
    }

    public function withIndex(string $index): self
    {
        $this->index = $index;
        return $this;
    }

    public function getParam(string $name): ?string
    {
        return $this->params[$name] ?? null;
    }

    public function withParam(string $name, string $value): self
    {
        $this->params[$name] = $value;
        return $this;
    }

    public function withoutParam(string $name): self
    {
        unset($this->params[$name]);
        return $this;
    }

    public function getParams(): array
    {
        return $this->params;
    }

    public function withParams(array $params): self
    {
        $this->params = $params;
        return $this;
    }

    public function withAddedParams(array $params): self
    {
        $this->params = $params + $this->params;
        return $this;
    }

    public function withStaticFileFilter(?callable $filter): self
    {
        $this->staticFileFilter = $filter;
        return $this;
    }

    /** @param \Swoole\Http\Request $userRequest */
    public function translateRequest($userRequest): HttpRequest
    {
        $server = $userRequest->server;
        $headers = $userRequest->header ?? [];
        $path = '/' . ltrim((string) ($server['path_info'] ?? $server['request_uri']), '/');
        if ($this->index !== '' && pathinfo($path, PATHINFO_EXTENSION) === '') {
            $path = rtrim($path, '/') . '/' . $this->index;
        }
        $query = $server['query_string'] ?? '';
        $request = (new HttpRequest())
            ->withDocumentRoot($this->documentRoot)
            ->withScriptFilename($this->documentRoot . $path)
            ->withScriptName($server['request_uri'])
            ->withDocumentUri($server['request_uri'])
            ->withRequestUri($query === '' ? $server['request_uri'] : "{$server['request_uri']}?{$query}")
            ->withQueryString($query)
            ->withServerProtocol($server['server_protocol'])
            ->withServerAddr('127.0.0.1')
            ->withServerPort((int) $server['server_port'])
            ->withRemoteAddr($server['remote_addr'])
            ->withRemotePort((int) $server['remote_port'])
            ->withMethod($server['request_method'])
            ->withHeaders($headers)
            ->withBody((string) $userRequest->rawContent())
            ->withContentType($headers['content-type'] ?? '');
        $request->withAddedParams($this->params);
        return $this->https ? $request->withParam('HTTPS', '1') : $request;
    }

    /** @param \Swoole\Http\Response $userResponse */
    public function translateResponse(HttpResponse $response, $userResponse): void
    {
        $userResponse->status($response->getStatusCode(), $response->getReasonPhrase());
        foreach ($response->getHeaders() as $name => $value) {
            $userResponse->header($name, $value);
        }
        if ($response->getSetCookieHeaderLines() !== []) {
            $userResponse->header('Set-Cookie', $response->getSetCookieHeaderLines());
        }
        $userResponse->end($response->getBody());
    }

    /** @param \Swoole\Http\Request|HttpRequest $userRequest */
    public function pass($userRequest, $userResponse): void
    {
        $request = $userRequest instanceof HttpRequest ? $userRequest : $this->translateRequest($userRequest);
        if ($this->staticFileFilter !== null && ($this->staticFileFilter)($request, $userResponse)) {
            return;
        }
        $response = (new Client($this->host, $this->port))->execute($request, $this->timeout);
        $this->translateResponse($response, $userResponse);
    }

    /** Sends a file that is no PHP and lies below the document root; whether it answered. */
    public function staticFileFiltrate(HttpRequest $request, $userResponse): bool
    {
        $name = (string) $request->getScriptFilename();
        if (pathinfo($name, PATHINFO_EXTENSION) === 'php') {
            return false;
        }
        [$path, $root] = [realpath($name), rtrim((string) realpath($this->documentRoot), '/') . '/'];
        if ($path !== false && str_starts_with($path, $root) && is_file($path)) {
            $userResponse->sendfile($path);
        } else {
            $userResponse->status(404);
            $userResponse->end();
        }
        return true;
    }
}
