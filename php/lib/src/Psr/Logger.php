<?php

declare(strict_types=1);

namespace Apus\Psr;

use Psr\Log\AbstractLogger;
use Psr\Log\InvalidArgumentException;

/** A PSR-3 logger that writes to the log of the server: the settings log_file and log_level. */
final class Logger extends AbstractLogger
{
    private const LEVELS = [
        'emergency' => 'error', 'alert' => 'error', 'critical' => 'error', 'error' => 'error', 'warning' => 'warning',
        'notice' => 'notice', 'info' => 'info', 'debug' => 'debug',
    ];

    private const JSON = JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_PARTIAL_OUTPUT_ON_ERROR;

    /** @param string $channel stands before each message, unless it is empty */
    public function __construct(private readonly string $channel = '')
    {
    }

    public function log($level, $message, array $context = []): void
    {
        $of_server = is_string($level) ? self::LEVELS[$level] ?? null : null;
        if ($of_server === null) {
            $known = implode(', ', array_keys(self::LEVELS));
            throw new InvalidArgumentException("the level of a message is one of $known");
        }
        $exception = $context['exception'] ?? null;
        $text = $this->interpolate((string) $message, $context);
        if ($exception instanceof \Throwable) {
            unset($context['exception']);
        }
        $grave = $of_server === 'error' && $level !== 'error' ? "$level: " : '';
        $line = ($this->channel === '' ? '' : "$this->channel: ") . $grave . self::line($text);
        if ($context !== []) {
            $line .= ' ' . json_encode($context, self::JSON);
        }
        for ($why = $exception; $why instanceof \Throwable; $why = $why->getPrevious()) {
            $line .= "\n" . $why::class . ': ' . self::line($why->getMessage());
            $line .= " at {$why->getFile()}:{$why->getLine()}\n" . $why->getTraceAsString();
        }
        \Apus\write_log($of_server, $line);
    }

    /** Puts values of the context in place of {name}, and takes them out of it. */
    private function interpolate(string $message, array &$context): string
    {
        $used = [];
        $text = preg_replace_callback('~\{([A-Za-z0-9_.]+)}~', function (array $found) use ($context, &$used): string {
            $name = $found[1];
            if (!array_key_exists($name, $context)) {
                return $found[0];
            }
            $used[$name] = true;
            return self::text($context[$name]);
        }, $message) ?? $message;
        $context = array_diff_key($context, $used);
        return $text;
    }

    private static function text(mixed $value): string
    {
        return match (true) {
            $value === null, is_scalar($value) && !is_bool($value), $value instanceof \Stringable => (string) $value,
            $value instanceof \DateTimeInterface => $value->format(DATE_RFC3339_EXTENDED),
            is_object($value) && !$value instanceof \JsonSerializable => '[object ' . $value::class . ']',
            default => (string) json_encode($value, self::JSON),
        };
    }

    /** A message is one line: what somebody else wrote does not forge another one. */
    private static function line(string $text): string
    {
        return addcslashes($text, "\0..\x1f\x7f");
    }
}
