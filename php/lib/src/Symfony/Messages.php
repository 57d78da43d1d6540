<?php

declare(strict_types=1);

namespace Apus\Symfony;

use Apus\Http\Request as ApusRequest;
use Apus\Http\Response as ApusResponse;
use Symfony\Component\HttpFoundation\BinaryFileResponse;
use Symfony\Component\HttpFoundation\Request;
use Symfony\Component\HttpFoundation\Response;
use Symfony\Component\HttpFoundation\StreamedResponse;

/** Requests and responses of Symfony's HttpFoundation, which Laravel uses, too. Needs the setting superglobals. */
final class Messages
{
    /** Bytes of an answer that leave together. */
    private const PART = 65536;

    /** Completes the superglobals of the running request, and makes Symfony's request of them. */
    public static function request(ApusRequest $from): Request
    {
        // A web server names the script as a part of the URL; the command line named a file.
        $_SERVER['SCRIPT_NAME'] = $_SERVER['PHP_SELF'] = '/' . basename($_SERVER['SCRIPT_FILENAME'] ?? 'index.php');
        unset($_SERVER['PATH_INFO'], $_SERVER['ORIG_PATH_INFO'], $_SERVER['argv'], $_SERVER['argc']);
        return new Request($_GET, $_POST, [], $_COOKIE, $_FILES, $_SERVER, self::content($from));
    }

    private static function content(ApusRequest $from): string
    {
        if (strncasecmp($from->header['content-type'] ?? '', 'multipart/', 10) !== 0) {
            return $from->getContent();
        }
        // A form that was taken apart has no text any more, which read() does not complain of.
        for ($all = ''; ($part = $from->read(1 << 18)) !== ''; $all .= $part);
        return $all;
    }

    /**
     * Calls, and catches what is printed meanwhile: Symfony before 6.1 sends streamed responses from within its kernel.
     * @return array{mixed, string} what was returned, and what was printed
     */
    public static function printed(\Closure $do): array
    {
        $printed = '';
        $level = ob_get_level();
        ob_start(function (string $part) use (&$printed): string {
            $printed .= $part;
            return '';
        });
        try {
            $returned = $do();
        } finally {
            while (ob_get_level() > $level) {
                ob_end_flush();
            }
        }
        return [$returned, $printed];
    }

    /**
     * Sends a response; one that is streamed, or a file, part by part, as fast as the client reads.
     * @param string $before what was printed meanwhile, which stands before the content
     */
    public static function send(Response $from, ApusResponse $to, string $before = ''): void
    {
        self::head($from, $to);
        if (!$from instanceof StreamedResponse && !$from instanceof BinaryFileResponse) {
            $to->end($before . $from->getContent());
            return;
        }
        $before === '' || $to->write($before);
        self::stream($from, $to);
        $to->end();
    }

    private static function head(Response $from, ApusResponse $to): void
    {
        $to->status($from->getStatusCode(), Response::$statusTexts[$from->getStatusCode()] ?? '');
        foreach ($from->headers->allPreserveCaseWithoutCookies() as $name => $values) {
            $to->header((string) $name, count($values) === 1 ? (string) reset($values) : array_values($values), false);
        }
        $cookies = array_map('strval', $from->headers->getCookies());
        if ($cookies !== []) {
            // A session that PHP started has set its own already, unless the response has one of that name.
            $earlier = (array) ($to->getHeaders()['set-cookie'] ?? []);
            $to->header('Set-Cookie', self::together($earlier, $cookies), false);
        }
    }

    /**
     * @param string[] $earlier
     * @param string[] $cookies take the place of earlier ones of their names
     * @return string[]
     */
    private static function together(array $earlier, array $cookies): array
    {
        $name = fn (string $line): string => strstr($line, '=', true);
        $replaced = array_map($name, $cookies);
        return [...array_filter($earlier, fn (string $line) => !in_array($name($line), $replaced, true)), ...$cookies];
    }

    private static function stream(Response $from, ApusResponse $to): void
    {
        $level = ob_get_level();
        ob_start(function (string $part) use ($to): string {
            $part === '' || $to->write($part);
            return '';
        }, self::PART);
        try {
            $from->sendContent();
        } finally {
            while (ob_get_level() > $level) {
                ob_end_flush();
            }
        }
    }
}
