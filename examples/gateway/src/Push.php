<?php

declare(strict_types=1);

namespace Apus\Gateway;

/** What a program wants to be sent: one JSON object. Fields that are not named here go to the browser as they are. */
final class Push
{
    /** Fields that are for the gateway. */
    private const OURS = ['user', 'topic', 'all', 'key', 'ack', 'wait', 'queue', 'ttl', 'ref'];
    private const FORMAT = JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_PRESERVE_ZERO_FRACTION | JSON_THROW_ON_ERROR;
    private const DEPTH = 64;

    public readonly ?string $user;
    public readonly ?string $topic;
    public readonly string $id;
    /** What the browser gets. */
    public readonly string $frame;
    public readonly bool $ack;
    /** Seconds that the sender waits for the acknowledgement. */
    public readonly float $wait;
    public readonly bool $queue;
    /** Seconds that it may be kept. */
    public readonly float $ttl;

    /** @throws Refusal 400 */
    public function __construct(private readonly \stdClass $fields, Config $config)
    {
        $this->user = isset($fields->user) ? Name::user($fields->user) : null;
        $this->topic = isset($fields->topic) ? Name::topic($fields->topic) : null;
        if (isset($this->user) + isset($this->topic) + $this->flag('all', false) !== 1) {
            throw new Refusal(400, 'name one of user, topic and "all":true');
        }
        if (property_exists($fields, 'id')) {
            throw new Refusal(400, 'id is given by the gateway: use another name for the field');
        }
        $this->wait = $this->seconds('wait', 0, 0, $config->number('max_wait'));
        $this->ttl = $this->seconds('ttl', $config->number('queue_ttl'), 1, $config->number('queue_ttl'));
        $this->ack = $this->flag('ack', false) || $this->wait > 0;
        $this->queue = $this->flag('queue', $config->on('queue'));
        if ($this->ack && $this->user === null) {
            throw new Refusal(400, 'ack and wait are for messages to one user');
        }
        $this->id = $this->ack ? bin2hex(random_bytes(12)) : '';
        $this->frame = $this->encode();
    }

    /** @throws Refusal 400, 413 */
    public static function parse(string $json, Config $config): \stdClass
    {
        if (strlen($json) > $config->number('max_message')) {
            throw new Refusal(413, "longer than {$config->number('max_message')} bytes");
        }
        $fields = json_decode($json, false, self::DEPTH);
        if (!$fields instanceof \stdClass) {
            throw new Refusal(400, json_last_error() === JSON_ERROR_NONE ? 'not a JSON object' : 'bad JSON: ' . json_last_error_msg());
        }
        return $fields;
    }

    private function encode(): string
    {
        $fields = ($this->ack ? ['id' => $this->id] : []) + ($this->topic !== null ? ['topic' => $this->topic] : []);
        foreach ($this->fields as $name => $value) {
            if (!in_array((string) $name, self::OURS, true)) {
                $fields[$name] = $value;
            }
        }
        return json_encode((object) $fields, self::FORMAT, self::DEPTH + 1);
    }

    private function flag(string $name, bool $default): bool
    {
        $value = $this->fields->$name ?? $default;
        return is_bool($value) ? $value : throw new Refusal(400, "$name must be true or false");
    }

    private function seconds(string $name, int $default, int $least, int $most): float
    {
        $value = $this->fields->$name ?? $default;
        if (!is_int($value) && !is_float($value) || $value < $least || $value > $most) {
            throw new Refusal(400, "$name must be $least to $most seconds");
        }
        return (float) $value;
    }
}
