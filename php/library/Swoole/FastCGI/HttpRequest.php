<?php

declare(strict_types=1);

namespace Swoole\FastCGI;

/** An HTTP request for php-fpm and the like: what CGI calls its variables are the parameters. */
class HttpRequest extends Request
{
    protected array $params = [
        'REQUEST_SCHEME' => 'http',
        'REQUEST_METHOD' => 'GET',
        'DOCUMENT_ROOT' => '',
        'SCRIPT_FILENAME' => '',
        'SCRIPT_NAME' => '',
        'DOCUMENT_URI' => '/',
        'REQUEST_URI' => '/',
        'QUERY_STRING' => '',
        'CONTENT_TYPE' => 'text/plain',
        'CONTENT_LENGTH' => '0',
        'GATEWAY_INTERFACE' => 'CGI/1.1',
        'SERVER_PROTOCOL' => 'HTTP/1.1',
        'SERVER_SOFTWARE' => 'swoole/' . SWOOLE_VERSION,
        'REMOTE_ADDR' => 'unknown',
        'REMOTE_PORT' => '0',
        'SERVER_ADDR' => 'unknown',
        'SERVER_PORT' => '0',
        'SERVER_NAME' => 'Swoole',
        'REDIRECT_STATUS' => '200',
    ];

    public function getScheme(): ?string
    {
        return $this->params['REQUEST_SCHEME'] ?? null;
    }

    public function withScheme(string $scheme): self
    {
        return $this->withParam('REQUEST_SCHEME', $scheme);
    }

    public function withoutScheme(): void
    {
        $this->withoutParam('REQUEST_SCHEME');
    }

    public function getMethod(): ?string
    {
        return $this->params['REQUEST_METHOD'] ?? null;
    }

    public function withMethod(string $method): self
    {
        return $this->withParam('REQUEST_METHOD', $method);
    }

    public function withoutMethod(): void
    {
        $this->withoutParam('REQUEST_METHOD');
    }

    public function getDocumentRoot(): ?string
    {
        return $this->params['DOCUMENT_ROOT'] ?? null;
    }

    public function withDocumentRoot(string $documentRoot): self
    {
        return $this->withParam('DOCUMENT_ROOT', $documentRoot);
    }

    public function withoutDocumentRoot(): void
    {
        $this->withoutParam('DOCUMENT_ROOT');
    }

    public function getScriptFilename(): ?string
    {
        return $this->params['SCRIPT_FILENAME'] ?? null;
    }

    public function withScriptFilename(string $scriptFilename): self
    {
        return $this->withParam('SCRIPT_FILENAME', $scriptFilename);
    }

    public function withoutScriptFilename(): void
    {
        $this->withoutParam('SCRIPT_FILENAME');
    }

    public function getScriptName(): ?string
    {
        return $this->params['SCRIPT_NAME'] ?? null;
    }

    public function withScriptName(string $scriptName): self
    {
        return $this->withParam('SCRIPT_NAME', $scriptName);
    }

    public function withoutScriptName(): void
    {
        $this->withoutParam('SCRIPT_NAME');
    }

    public function getDocumentUri(): ?string
    {
        return $this->params['DOCUMENT_URI'] ?? null;
    }

    public function withDocumentUri(string $documentUri): self
    {
        return $this->withParam('DOCUMENT_URI', $documentUri);
    }

    public function withoutDocumentUri(): void
    {
        $this->withoutParam('DOCUMENT_URI');
    }

    public function getRequestUri(): ?string
    {
        return $this->params['REQUEST_URI'] ?? null;
    }

    public function withRequestUri(string $requestUri): self
    {
        return $this->withParam('REQUEST_URI', $requestUri);
    }

    public function withoutRequestUri(): void
    {
        $this->withoutParam('REQUEST_URI');
    }

    public function getQueryString(): ?string
    {
        return $this->params['QUERY_STRING'] ?? null;
    }

    public function withQueryString(string $queryString): self
    {
        return $this->withParam('QUERY_STRING', $queryString);
    }

    public function withoutQueryString(): void
    {
        $this->withoutParam('QUERY_STRING');
    }

    public function getContentType(): ?string
    {
        return $this->params['CONTENT_TYPE'] ?? null;
    }

    public function withContentType(string $contentType): self
    {
        return $this->withParam('CONTENT_TYPE', $contentType);
    }

    public function withoutContentType(): void
    {
        $this->withoutParam('CONTENT_TYPE');
    }

    public function getContentLength(): ?int
    {
        return isset($this->params['CONTENT_LENGTH']) ? (int) $this->params['CONTENT_LENGTH'] : null;
    }

    public function withContentLength(int $contentLength): self
    {
        return $this->withParam('CONTENT_LENGTH', (string) $contentLength);
    }

    public function withoutContentLength(): void
    {
        $this->withoutParam('CONTENT_LENGTH');
    }

    public function getGatewayInterface(): ?string
    {
        return $this->params['GATEWAY_INTERFACE'] ?? null;
    }

    public function withGatewayInterface(string $gatewayInterface): self
    {
        return $this->withParam('GATEWAY_INTERFACE', $gatewayInterface);
    }

    public function withoutGatewayInterface(): void
    {
        $this->withoutParam('GATEWAY_INTERFACE');
    }

    public function getServerProtocol(): ?string
    {
        return $this->params['SERVER_PROTOCOL'] ?? null;
    }

    public function withServerProtocol(string $serverProtocol): self
    {
        return $this->withParam('SERVER_PROTOCOL', $serverProtocol);
    }

    public function withoutServerProtocol(): void
    {
        $this->withoutParam('SERVER_PROTOCOL');
    }

    public function getServerSoftware(): ?string
    {
        return $this->params['SERVER_SOFTWARE'] ?? null;
    }

    public function withServerSoftware(string $serverSoftware): self
    {
        return $this->withParam('SERVER_SOFTWARE', $serverSoftware);
    }

    public function withoutServerSoftware(): void
    {
        $this->withoutParam('SERVER_SOFTWARE');
    }

    public function getRemoteAddr(): ?string
    {
        return $this->params['REMOTE_ADDR'] ?? null;
    }

    public function withRemoteAddr(string $remoteAddr): self
    {
        return $this->withParam('REMOTE_ADDR', $remoteAddr);
    }

    public function withoutRemoteAddr(): void
    {
        $this->withoutParam('REMOTE_ADDR');
    }

    public function getRemotePort(): ?int
    {
        return isset($this->params['REMOTE_PORT']) ? (int) $this->params['REMOTE_PORT'] : null;
    }

    public function withRemotePort(int $remotePort): self
    {
        return $this->withParam('REMOTE_PORT', (string) $remotePort);
    }

    public function withoutRemotePort(): void
    {
        $this->withoutParam('REMOTE_PORT');
    }

    public function getServerAddr(): ?string
    {
        return $this->params['SERVER_ADDR'] ?? null;
    }

    public function withServerAddr(string $serverAddr): self
    {
        return $this->withParam('SERVER_ADDR', $serverAddr);
    }

    public function withoutServerAddr(): void
    {
        $this->withoutParam('SERVER_ADDR');
    }

    public function getServerPort(): ?int
    {
        return isset($this->params['SERVER_PORT']) ? (int) $this->params['SERVER_PORT'] : null;
    }

    public function withServerPort(int $serverPort): self
    {
        return $this->withParam('SERVER_PORT', (string) $serverPort);
    }

    public function withoutServerPort(): void
    {
        $this->withoutParam('SERVER_PORT');
    }

    public function getServerName(): ?string
    {
        return $this->params['SERVER_NAME'] ?? null;
    }

    public function withServerName(string $serverName): self
    {
        return $this->withParam('SERVER_NAME', $serverName);
    }

    public function withoutServerName(): void
    {
        $this->withoutParam('SERVER_NAME');
    }

    public function getRedirectStatus(): ?string
    {
        return $this->params['REDIRECT_STATUS'] ?? null;
    }

    public function withRedirectStatus(string $redirectStatus): self
    {
        return $this->withParam('REDIRECT_STATUS', $redirectStatus);
    }

    public function withoutRedirectStatus(): void
    {
        $this->withoutParam('REDIRECT_STATUS');
    }

    public function withUri(string $uri): self
    {
        $parts = parse_url($uri) ?: [];
        return $this->withRequestUri($uri)->withDocumentUri($parts['path'] ?? '')->withQueryString($parts['query'] ?? '');
    }

    public function withQuery(string|array $query): self
    {
        return $this->withQueryString(is_array($query) ? http_build_query($query) : $query);
    }

    public function withProtocolVersion(string $protocolVersion): self
    {
        if (!is_numeric($protocolVersion)) {
            throw new \InvalidArgumentException('Protocol version must be numeric');
        }
        return $this->withServerProtocol("HTTP/{$protocolVersion}");
    }

    public function getHeader(string $name): ?string
    {
        return $this->getParam(static::convertHeaderNameToParamName($name));
    }

    public function withHeader(string $name, string $value): self
    {
        return $this->withParam(static::convertHeaderNameToParamName($name), $value);
    }

    public function withoutHeader(string $name): void
    {
        $this->withoutParam(static::convertHeaderNameToParamName($name));
    }

    public function getHeaders(): array
    {
        $headers = [];
        foreach ($this->params as $name => $value) {
            if (str_starts_with((string) $name, 'HTTP_')) {
                $headers[static::convertParamNameToHeaderName($name)] = $value;
            }
        }
        return $headers;
    }

    public function withHeaders(array $headers): self
    {
        foreach ($headers as $name => $value) {
            $this->withHeader((string) $name, $value);
        }
        return $this;
    }

    public function withBody(array|string|\Stringable $body): self
    {
        if (is_array($body)) {
            $body = http_build_query($body);
            $this->withContentType('application/x-www-form-urlencoded');
        }
        parent::withBody($body);
        return $this->withContentLength(strlen($this->body));
    }

    protected static function convertHeaderNameToParamName(string $name)
    {
        return 'HTTP_' . strtr(strtoupper($name), '-', '_');
    }

    protected static function convertParamNameToHeaderName(string $name)
    {
        return ucwords(strtolower(strtr(substr($name, strlen('HTTP_')), '_', '-')), '-');
    }
}
