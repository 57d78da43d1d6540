<?php
// The page of an error that nobody handled (script_error_page): compiled when there is one, outside of opcache.
return static function (array $error, ?Throwable $exception): array {
    $kinds = [
        E_ERROR => 'Fatal error', E_PARSE => 'Parse error', E_CORE_ERROR => 'Fatal error', E_COMPILE_ERROR => 'Fatal error',
        E_USER_ERROR => 'Fatal error', E_RECOVERABLE_ERROR => 'Recoverable error', E_WARNING => 'Uncaught exception',
    ];
    $plain = static fn (mixed $value): string => match (true) {
        is_string($value) => strlen($value) > 60 ? var_export(substr($value, 0, 57), true) . '…' : var_export($value, true),
        is_array($value) => 'array(' . count($value) . ')',
        is_object($value) => $value::class,
        is_resource($value) => 'resource',
        default => strtolower(var_export($value, true)),
    };
    $call = static function (array $frame) use ($plain): string {
        $arguments = implode(', ', array_map($plain, array_slice($frame['args'] ?? [], 0, 10)));
        return ($frame['class'] ?? '') . ($frame['type'] ?? '') . ($frame['function'] ?? '') . "($arguments)";
    };

    // The innermost first: what is told of, and where; each with its calls.
    $told = [];
    for ($one = $exception; $one !== null && count($told) < 10; $one = $one->getPrevious()) {
        $code = $one->getCode() ? ' ' . (is_int($one->getCode()) ? $one->getCode() : '') : '';
        $told[] = [$one::class . rtrim($code), $one->getMessage(), $one->getFile(), $one->getLine(), $one->getTrace()];
    }
    if ($told === []) {
        $told[] = [$kinds[$error['type']] ?? 'Error', $error['message'], $error['file'], $error['line'], $error['calls']];
    }
    $request = ($_SERVER['REQUEST_METHOD'] ?? '') . ' ' . ($_SERVER['REQUEST_URI'] ?? '');

    if (!str_contains($_SERVER['HTTP_ACCEPT'] ?? '', 'text/html')) {
        $text = '';
        foreach ($told as $place => [$name, $message, $file, $line, $frames]) {
            $text .= ($place ? "\nPrevious: " : '') . "$name: $message\n  at $file:$line\n";
            foreach (array_slice($frames, 0, 50) as $number => $frame) {
                $text .= "  #$number " . $call($frame) . ' at ' . ($frame['file'] ?? '[internal]') . ':' . ($frame['line'] ?? 0) . "\n";
            }
        }
        return ['Content-Type: text/plain; charset=UTF-8', "$text\n$request\n"];
    }

    $safe = static fn (string $text): string => htmlspecialchars($text, ENT_QUOTES | ENT_SUBSTITUTE, 'UTF-8');
    $excerpt = static function (string $file, int $line) use ($safe): string {
        // Large files are no code that somebody reads.
        if ($line < 1 || !is_file($file) || filesize($file) > 4 << 20) {
            return '';
        }
        $rows = '';
        foreach (array_slice(@file($file, FILE_IGNORE_NEW_LINES) ?: [], max(0, $line - 8), 15, true) as $number => $row) {
            $class = $number + 1 === $line ? ' class="here"' : '';
            $rows .= '<tr' . $class . '><th>' . ($number + 1) . '</th><td>' . $safe(substr($row, 0, 400)) . '</td></tr>';
        }
        return "<table class=\"code\">$rows</table>";
    };
    $section = static function (string $title, array $values) use ($safe): string {
        $rows = '';
        foreach ($values as $name => $value) {
            $text = is_string($value) ? $value : var_export($value, true);
            $rows .= '<tr><th>' . $safe((string) $name) . '</th><td>' . $safe(substr($text, 0, 2000)) . '</td></tr>';
        }
        return $rows === '' ? '' : '<details' . ($title === 'Request' ? ' open' : '') . '><summary>' . $safe($title) . "</summary><table>$rows</table></details>";
    };

    $body = '';
    foreach ($told as $place => [$name, $message, $file, $line, $frames]) {
        $body .= ($place ? '<h2>Previous: ' . $safe($name) . '</h2>' : '<h1>' . $safe($name) . '</h1>')
            . '<p class="message">' . nl2br($safe($message)) . '</p><p class="place">' . $safe("$file:$line") . '</p>' . $excerpt($file, $line);
        $calls = '';
        foreach (array_slice($frames, 0, 50) as $frame) {
            $at = isset($frame['file']) ? $frame['file'] . ':' . $frame['line'] : '[internal]';
            $calls .= '<li><details><summary>' . $safe($call($frame)) . ' <span class="place">' . $safe($at) . '</span></summary>'
                . (isset($frame['file']) ? $excerpt($frame['file'], $frame['line']) : '') . '</details></li>';
        }
        $body .= $calls === '' ? '' : "<h3>Calls</h3><ol>$calls</ol>";
    }
    $fields = array_filter($_SERVER, static fn ($name) => str_starts_with((string) $name, 'HTTP_'), ARRAY_FILTER_USE_KEY);
    $body .= $section('Request', ['' => $request, 'PHP' => PHP_VERSION, 'script' => $_SERVER['SCRIPT_FILENAME'] ?? ''])
        . $section('Header fields', $fields) . $section('$_GET', $_GET) . $section('$_POST', $_POST) . $section('$_COOKIE', $_COOKIE)
        . $section('$_FILES', $_FILES) . $section('$_SESSION', $_SESSION ?? []) . $section('$_SERVER', $_SERVER);
    $title = $safe($told[0][0] . ': ' . substr($told[0][1], 0, 100));
    $style = ':root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;margin:0 auto;padding:2rem;max-width:70rem}'
        . 'h1{color:#c0392b;margin:0}.message{font-size:1.2rem}.place{opacity:.7;font-family:monospace}'
        . 'table{border-collapse:collapse;font:13px/1.5 monospace;display:block;overflow-x:auto}td{white-space:pre-wrap;word-break:break-word}'
        . 'th{text-align:right;padding:0 .8em;opacity:.6;font-weight:normal;vertical-align:top;white-space:nowrap}'
        . '.code{border:1px solid #8884;padding:.5em 0}.code td{white-space:pre;word-break:normal}.here{background:#e74c3c33}summary{cursor:pointer;font-family:monospace}';
    return ['Content-Type: text/html; charset=UTF-8', "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>$title</title><style>$style</style></head><body>$body</body></html>\n"];
};
