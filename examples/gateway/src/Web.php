<?php

declare(strict_types=1);

namespace Apus\Gateway;

use Apus\Http\Request;
use Apus\Http\Response;

/** What is answered over HTTP, on both ports. */
final class Web
{
    private const FILES = [
        '/' => ['page.html', 'text/html; charset=utf-8'],
        '/gateway.js' => ['gateway.js', 'text/javascript; charset=utf-8'],
    ];
    private const POLICY = "default-src 'self'; style-src 'unsafe-inline'; script-src 'self' 'unsafe-inline'; connect-src 'self' ws: wss:; "
        . "img-src data:; frame-ancestors 'none'";

    /** @var array<string, string> texts of FILES, by path */
    private array $texts = [];

    /** @param \Closure(): array<string, mixed> $figures of all workers */
    public function __construct(
        private readonly Door $door,
        private readonly Desk $desk,
        private readonly Counters $counters,
        private readonly \Closure $figures,
        private readonly Config $config,
    ) {
        foreach (self::FILES as $path => [$file]) {
            $this->texts[$path] = (string) file_get_contents(dirname(__DIR__) . "/public/$file");
        }
    }

    /** The port for browsers. */
    public function public(Request $request, Response $response): void
    {
        $path = $request->server['request_uri'];
        match (true) {
            isset(self::FILES[$path]) && $this->config->on('page') => $this->file($path, $response),
            $path === '/check' => $this->check($request, $response),
            $path === '/health' => $this->json($response, 200, ['ok' => true]),
            $path === '/push' && $this->config->on('public_push') && Door::isSameOrigin($request) => $this->push($request, $response),
            default => $this->json($response, 404, ['ok' => false, 'error' => 'not found']),
        };
    }

    /** The port for programs. */
    public function inner(Request $request, Response $response): void
    {
        if (!self::isProgram($request)) {
            $this->json($response, 403, ['ok' => false, 'error' => 'this port is not for pages']);
            return;
        }
        match ($request->server['request_uri']) {
            '/push' => $this->push($request, $response),
            '/stats' => $this->stats($request, $response),
            '/health' => $this->json($response, 200, ['ok' => true]),
            default => $this->json($response, 404, ['ok' => false, 'error' => 'not found: POST /push, GET /stats, GET /health']),
        };
    }

    /** Answers a handshake with a refusal. */
    public function refuse(Refusal $refusal, Response $response): void
    {
        $this->counters->turned_away++;
        $this->json($response, $refusal->getCode(), ['ok' => false, 'error' => $refusal->getMessage()]);
    }

    /** A page of any site can send requests to ports of the machine that its reader sits at; browsers then say where the page is from. */
    public static function isProgram(Request $request): bool
    {
        return !isset($request->header['origin']) && !isset($request->header['sec-fetch-site']);
    }

    public static function key(Request $request): ?string
    {
        return preg_match('~^Bearer +(\S+)$~iD', $request->header['authorization'] ?? '', $match) === 1 ? $match[1] : null;
    }

    private function file(string $path, Response $response): void
    {
        $response->header('Content-Type', self::FILES[$path][1]);
        $response->header('Content-Security-Policy', self::POLICY);
        $response->header('Cache-Control', 'no-cache');
        $response->end($this->texts[$path]);
    }

    /** What a handshake would be answered: a page cannot see the status of one that failed. */
    private function check(Request $request, Response $response): void
    {
        $this->share($request, $response);
        try {
            $visitor = $this->door->visitor($request);
            $topics = $this->door->topics($request, $visitor);
            $this->json($response, 200, ['ok' => true, 'user' => $visitor->user, 'topics' => $topics]);
        } catch (Refusal $refusal) {
            $this->json($response, $refusal->getCode(), ['ok' => false, 'error' => $refusal->getMessage()]);
        }
    }

    /** Pages of other sites that may connect may read why they may not. */
    private function share(Request $request, Response $response): void
    {
        $origin = $request->header['origin'] ?? null;
        $named = in_array($origin, $this->config->list('origins'), true);
        if ($origin !== null && ($named || $this->config->list('origins') === [])) {
            $response->header('Access-Control-Allow-Origin', $origin);
            $response->header('Vary', 'Origin');
        }
        if ($named) {
            $response->header('Access-Control-Allow-Credentials', 'true');
        }
    }

    private function stats(Request $request, Response $response): void
    {
        try {
            $this->desk->sender(self::key($request), $request->server['remote_addr']);
            $this->json($response, 200, ($this->figures)());
        } catch (Refusal $refusal) {
            $this->json($response, $refusal->getCode(), $refusal->answer());
        }
    }

    private function push(Request $request, Response $response): void
    {
        if ($request->getMethod() !== 'POST') {
            $response->header('Allow', 'POST');
            $this->json($response, 405, ['ok' => false, 'error' => 'POST one JSON object']);
            return;
        }
        $answer = $this->desk->push((string) $request->rawContent(), $request->server['remote_addr'], self::key($request));
        if (isset($answer['retry_after'])) {
            $response->header('Retry-After', (string) ceil($answer['retry_after']));
        }
        $this->json($response, $answer['status'] ?? 200, $answer);
    }

    /** @param array<string, mixed> $value */
    private function json(Response $response, int $status, array $value): void
    {
        $response->status($status);
        $response->header('Content-Type', 'application/json');
        $response->header('Cache-Control', 'no-store');
        if ($status === 401) {
            $response->header('WWW-Authenticate', 'Bearer');
        }
        $response->end(Gateway::encode($value) . "\n");
    }
}
