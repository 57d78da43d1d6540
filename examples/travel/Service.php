<?php

declare(strict_types=1);

namespace Apus\Travel;

use Apus\Http\Request;
use Apus\Http\Response;

/** Takes requests apart and sends the answers. */
final class Service
{
    private readonly Answers $answers;

    public function __construct(private readonly Store $store)
    {
        $this->answers = new Answers($store);
    }

    public function handle(Request $request, Response $response): void
    {
        $answer = $this->answer($request);
        $response->header('Content-Type', 'application/json');
        $response->header('Connection', 'keep-alive');
        if (is_int($answer)) {
            $response->status($answer);
            $answer = '';
        }
        $response->end($answer);
    }

    /** A body of JSON, or the status of a refusal. */
    private function answer(Request $request): string|int
    {
        $parts = explode('/', $request->server['request_uri']);
        [, $kind, $word] = $parts + ['', '', ''];
        if (!in_array($kind, Store::KINDS, true) || count($parts) < 3) {
            return Answers::NOT_FOUND;
        }
        $what = $parts[3] ?? null;
        $method = $request->server['request_method'];
        if ($method === 'POST' && $what === null) {
            return $word === 'new' ? $this->make($kind, $request->rawContent()) : $this->change($kind, $word, $request->rawContent());
        }
        $id = $this->id($word);
        if ($method !== 'GET' || $id === null || count($parts) > 4) {
            return Answers::NOT_FOUND;
        }
        return match (true) {
            $what === null => $this->answers->record($kind, $id),
            $what === 'visits' && $kind === 'users' => $this->answers->visits($id, $request->get ?? []),
            $what === 'avg' && $kind === 'locations' => $this->answers->average($id, $request->get ?? []),
            default => Answers::NOT_FOUND,
        };
    }

    private function make(string $kind, string $body): string|int
    {
        [$id, $fields] = Validate::record($kind, $body, $this->store->maxId) ?? [null, null];
        return $id !== null && $this->store->insert($kind, $id, $fields) ? '{}' : Answers::BAD_REQUEST;
    }

    private function change(string $kind, string $word, string $body): string|int
    {
        $id = $this->id($word);
        if ($id === null || !$this->store->table($kind)->exist($id)) {
            return Answers::NOT_FOUND;
        }
        $fields = Validate::change($kind, $body);
        return $fields !== null && $this->store->update($kind, $id, $fields) ? '{}' : Answers::BAD_REQUEST;
    }

    /** A number that a record may have. */
    private function id(string $word): ?int
    {
        $digits = strlen($word);
        return $digits > 0 && $digits <= 10 && strspn($word, '0123456789') === $digits && (int) $word <= $this->store->maxId ? (int) $word : null;
    }
}
