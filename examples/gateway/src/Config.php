<?php

declare(strict_types=1);

namespace Apus\Gateway;

/** What the gateway was told: config.php, and the environment, which wins. Read once, by the master. */
final class Config
{
    /** Shortest secret and key, in bytes: what is shorter can be guessed. */
    private const SHORTEST_SECRET = 16;

    /** Name, kind, default, least, most, unit. The variable of the environment is GATEWAY_ and the name in capitals. */
    public const SETTINGS = [
        ['host', 'text', '127.0.0.1', null, null, 'address that browsers connect to'],
        ['port', 'int', 8080, 0, 65535, 'port that browsers connect to'],
        ['inner_host', 'text', '127.0.0.1', null, null, 'address that programs push to'],
        ['inner_port', 'int', 8081, 0, 65535, 'port for pushing by HTTP and WebSocket, and for /stats'],
        ['line_port', 'int', 1234, 0, 65535, 'port for pushing by JSON lines over TCP'],
        ['workers', 'int', 0, 0, 1024, 'worker processes; 0 = one a core'],
        ['secret', 'secret', '', null, null, 'signs the tokens of browsers; empty = development mode'],
        ['development', 'bool', null, null, null, 'let browsers name their user by ?user='],
        ['cookie', 'text', 'gateway_token', null, null, 'cookie that holds the token'],
        ['origins', 'list', [], null, null, 'origins of pages that may connect, such as https://example.org; empty = its own, and any with ?token='],
        ['push_keys', 'secrets', [], null, null, 'keys of the programs that push; empty = none is asked for'],
        ['public_push', 'bool', null, null, null, 'POST /push on the port for browsers, too'],
        ['push_rate', 'int', 5000, 0, 10_000_000, 'pushes a second of one sender; 0 = no limit'],
        ['push_burst', 'int', 10_000, 1, 10_000_000, 'pushes of one sender at once'],
        ['max_message', 'size', 65_536, 256, 4_194_304, 'bytes of one push'],
        ['max_wait', 'int', 30, 0, 3600, 'seconds that a push may wait for its acknowledgement'],
        ['max_topics', 'int', 16, 0, 10_000, 'topics of one connection'],
        ['open_topics', 'bool', null, null, null, 'browsers may subscribe to any topic; else to those that their token names'],
        ['queue', 'bool', true, null, null, 'keep messages to users who are not connected, unless a push says otherwise'],
        ['queue_per_user', 'int', 100, 1, 1000, 'messages kept for one user; the oldest makes room'],
        ['queue_bytes', 'size', 67_108_864, 65_536, 1_099_511_627_776, 'bytes kept for all users, over all workers'],
        ['queue_ttl', 'int', 3600, 1, 2_592_000, 'seconds that a message is kept'],
        ['max_connections', 'int', 100_000, 1, 10_000_000, 'connections, over all workers'],
        ['max_per_user', 'int', 100, 1, 1_000_000, 'connections of one user'],
        ['send_buffer', 'size', 1_048_576, 16_384, 1_073_741_824, 'bytes that may wait for one slow browser; then it is closed'],
        ['ping_interval', 'int', 30, 0, 86_400, 'seconds of silence after which a browser is asked whether it lives; 0 = never'],
        ['ping_timeout', 'int', 20, 1, 86_400, 'seconds that it has for the answer'],
        ['broker', 'text', '', null, null, 'redis://… or nats://… that joins several machines'],
        ['broker_prefix', 'text', 'gateway', null, null, 'what the names at the broker begin with: the same on all machines of one gateway'],
        ['page', 'bool', true, null, null, 'serve the page at /'],
        ['log_file', 'text', '', null, null, 'where the log goes; empty = standard error'],
    ];

    /** @param array<string, mixed> $values by name, all of SETTINGS */
    private function __construct(private readonly array $values)
    {
    }

    /**
     * @param array<string, mixed> $file what config.php returns
     * @param array<string, string> $environment
     * @throws ConfigError with a line for everything that is wrong
     */
    public static function load(array $file, array $environment): self
    {
        $wrong = [];
        $values = [];
        foreach (self::SETTINGS as [$name, $kind, $default, $least, $most, $unit]) {
            [$source, $given] = self::given($name, $file, $environment);
            try {
                $values[$name] = $given === null ? $default : self::value($kind, $given, $least, $most);
            } catch (ConfigError $error) {
                $shown = str_starts_with($kind, 'secret') ? '' : ' = ' . json_encode($given);
                $wrong[] = "$source$shown: {$error->getMessage()} ($unit)";
            }
        }
        foreach (array_diff(array_keys($file), array_column(self::SETTINGS, 0)) as $name) {
            $wrong[] = "config.php: there is no setting $name" . self::nearest((string) $name);
        }
        foreach (array_keys($environment) as $variable) {
            $name = strtolower(substr((string) $variable, 8));
            if (str_starts_with((string) $variable, 'GATEWAY_') && !in_array($name, array_column(self::SETTINGS, 0), true)) {
                $wrong[] = "$variable: there is no such setting" . self::nearest($name);
            }
        }
        if ($wrong === []) {
            [$values, $wrong] = self::together($values);
        }
        return $wrong === [] ? new self($values) : throw new ConfigError(implode("\n", $wrong));
    }

    public function text(string $name): string
    {
        return $this->values[$name];
    }

    public function number(string $name): int
    {
        return $this->values[$name];
    }

    public function on(string $name): bool
    {
        return $this->values[$name];
    }

    /** @return list<string> */
    public function list(string $name): array
    {
        return $this->values[$name];
    }

    public static function isLoopback(string $host): bool
    {
        return in_array($host, ['localhost', '::1'], true) || str_starts_with($host, '127.');
    }

    /** @return array{string, mixed} where it was given, and the value; null when it was not */
    private static function given(string $name, array $file, array $environment): array
    {
        $variable = 'GATEWAY_' . strtoupper($name);
        // HOST and PORT are what the other examples, and many a container, use.
        foreach (in_array($name, ['host', 'port'], true) ? [$variable, strtoupper($name)] : [$variable] as $key) {
            if (isset($environment[$key]) && $environment[$key] !== '') {
                return [$key, $environment[$key]];
            }
        }
        return ["config.php: $name", $file[$name] ?? null];
    }

    private static function value(string $kind, mixed $given, ?int $least, ?int $most): mixed
    {
        return match ($kind) {
            'int' => self::limited(self::integer($given), $least, $most),
            'size' => self::limited(self::size($given), $least, $most),
            'bool' => filter_var($given, FILTER_VALIDATE_BOOL, FILTER_NULL_ON_FAILURE)
                ?? throw new ConfigError('must be 1 or 0'),
            'text' => is_string($given) ? $given : throw new ConfigError('must be a string'),
            'secret' => self::secret($given),
            'list' => self::items($given),
            'secrets' => array_map(self::secret(...), self::items($given)),
        };
    }

    private static function integer(mixed $given): int
    {
        return filter_var($given, FILTER_VALIDATE_INT, FILTER_NULL_ON_FAILURE) ?? throw new ConfigError('must be a whole number');
    }

    /** Bytes, or text such as 64K, 8M, 2G. */
    private static function size(mixed $given): int
    {
        if (is_string($given) && preg_match('~^(\d{1,12})([KMGT])$~i', $given, $match) === 1) {
            return (int) $match[1] << 10 * (1 + (int) strpos('KMGT', strtoupper($match[2])));
        }
        return filter_var($given, FILTER_VALIDATE_INT, FILTER_NULL_ON_FAILURE) ?? throw new ConfigError('must be bytes, or such as 64K, 8M, 2G');
    }

    private static function limited(int $value, ?int $least, ?int $most): int
    {
        return $value >= $least && $value <= $most ? $value : throw new ConfigError("must be $least to $most");
    }

    private static function secret(mixed $given): string
    {
        return is_string($given) && strlen($given) >= self::SHORTEST_SECRET
            ? $given
            : throw new ConfigError('must have at least ' . self::SHORTEST_SECRET . ' bytes; make one with: openssl rand -hex 32');
    }

    /** @return list<string> */
    private static function items(mixed $given): array
    {
        $items = is_string($given) ? explode(',', $given) : $given;
        if (!is_array($items) || array_filter($items, is_string(...)) !== $items) {
            throw new ConfigError('must be a list, or text with commas');
        }
        return array_values(array_filter(array_map(trim(...), $items), static fn (string $item): bool => $item !== ''));
    }

    private static function nearest(string $name): string
    {
        $names = array_column(self::SETTINGS, 0);
        usort($names, static fn (string $a, string $b): int => levenshtein($name, $a) <=> levenshtein($name, $b));
        return levenshtein($name, $names[0]) <= 2 ? "; is $names[0] meant?" : '';
    }

    /**
     * What follows from several settings, and what does not go together.
     * @return array{array<string, mixed>, list<string>} all values; what is wrong
     */
    private static function together(array $values): array
    {
        $wrong = [];
        $trusted = $values['secret'] === '' && self::isLoopback($values['host']);
        $values['development'] ??= $trusted;
        $values['public_push'] ??= $values['development'];
        $values['open_topics'] ??= $values['development'];
        if ($values['secret'] === '' && !$values['development']) {
            $wrong[] = "host = $values[host]: without a secret anybody who reaches this address could be any user. "
                . 'Set GATEWAY_SECRET (openssl rand -hex 32), or GATEWAY_DEVELOPMENT=1 if that is meant';
        }
        if (!self::isLoopback($values['inner_host']) && $values['push_keys'] === []) {
            $wrong[] = "inner_host = $values[inner_host]: anybody who reaches this address could push. "
                . 'Set GATEWAY_PUSH_KEYS (openssl rand -hex 32), or leave it at 127.0.0.1';
        }
        if ($values['public_push'] && $values['push_keys'] === [] && !self::isLoopback($values['host']) && !$values['development']) {
            $wrong[] = 'public_push: anybody could push. Set GATEWAY_PUSH_KEYS, too';
        }
        return [$values, $wrong];
    }
}
