<?php

declare(strict_types=1);

namespace Apus\Gateway;

use Apus\WebSocket\Server;

/** Where pushes are handed in, by whichever way they came. */
final class Desk
{
    /** Topic of every browser; no browser can name it. */
    public const EVERYBODY = '/all';
    /** Seconds in which a user's home says what became of a message. */
    private const PATIENCE = 3.0;

    public function __construct(
        private readonly Server $server,
        private readonly Peers $peers,
        private readonly Limiter $limiter,
        private readonly Counters $counters,
        private readonly Config $config,
    ) {
    }

    /**
     * Takes one push.
     * @param string $address of the sender
     * @param ?string $key that came beside the JSON object
     * @return array<string, mixed> the answer
     */
    public function push(string $json, string $address, ?string $key = null): array
    {
        $reference = [];
        try {
            $fields = Push::parse($json, $this->config);
            $reference = isset($fields->ref) ? ['ref' => $fields->ref] : [];
            $this->limiter->check($this->sender($fields->key ?? $key, $address));
            return $this->deliver(new Push($fields, $this->config)) + $reference;
        } catch (Refusal $refusal) {
            $this->counters->refused++;
            return $refusal->answer() + $reference;
        }
    }

    /**
     * By whom the limiter counts.
     * @throws Refusal 401 when a key is asked for and this is none
     */
    public function sender(mixed $given, string $address): string
    {
        $keys = $this->config->list('push_keys');
        if ($keys === []) {
            return "address $address";
        }
        foreach ($keys as $number => $key) {
            if (is_string($given) && hash_equals($key, $given)) {
                return "key $number";
            }
        }
        throw new Refusal(401, $given === null ? 'a key is needed' : 'the key is wrong');
    }

    private function deliver(Push $push): array
    {
        if ($push->user === null) {
            return $this->publish($push->topic === null ? self::EVERYBODY : "topic/$push->topic", $push->frame);
        }
        if (!$push->ack && !$push->queue) {
            $reached = $this->server->sendToUser($push->user, $push->frame);
            $this->counters->delivered += $reached;
            return ['ok' => true, 'delivered' => $reached];
        }
        return $this->post($push);
    }

    private function publish(string $topic, string $frame): array
    {
        $subscribers = $this->server->subscribers($topic);
        $this->server->publish($topic, $frame);
        $this->counters->delivered += $subscribers;
        return ['ok' => true, 'delivered' => $subscribers];
    }

    /** By way of the user's home, which keeps what cannot be delivered or was not acknowledged. */
    private function post(Push $push): array
    {
        if ($this->peers->isReplaced()) {
            throw new Refusal(503, 'this connection is to a worker that is leaving: connect again', 0.1);
        }
        $letter = [$push->user, $push->id ?: bin2hex(random_bytes(12)), $push->frame, $push->ack, $push->queue, microtime(true) + $push->ttl];
        $begin = microtime(true);
        $question = $this->peers->begin($this->peers->home($push->user), 'letter', ...$letter);
        try {
            $first = $this->peers->next($question, self::PATIENCE);
            if ($first === null) {
                throw new Refusal(503, 'the worker that keeps messages of this user is being replaced', 1.0);
            }
            if (isset($first['full'])) {
                throw new Refusal(503, 'too many messages wait to be delivered', 5.0);
            }
            $answer = ['ok' => true] + $first + ($push->ack ? ['id' => $push->id] : []);
            if ($push->wait > 0) {
                $answer['acked'] = $this->peers->next($question, $push->wait - (microtime(true) - $begin)) === true;
            }
            return $answer;
        } finally {
            $this->peers->end($question);
        }
    }
}
