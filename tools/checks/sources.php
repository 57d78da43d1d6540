<?php

declare(strict_types=1);

// Rules that hold for every source file.

namespace Apus\Tools;

const KINDS = ['rs', 'php', 'phpt', 'inc', 'c', 'h', 'py', 'sh', 'js', 'html', 'go', 'md'];
/** Written by programs. */
const GENERATED = ['docs/options.md', 'bench/results/'];
/**
 * Where `unsafe` may stand; a folder ends with a slash. In apus-coro only the slot that a waiting frame lends its task.
 */
const UNSAFE_ROOMS = [
    'crates/apus-zend/', 'crates/apus-runtime/', 'crates/apus-hook/', 'crates/apus-php/', 'crates/apus-process/', 'crates/apus-shm/',
    'crates/apus-loop/src/watch.rs', 'crates/apus-net/src/sys.rs', 'crates/apus-coro/src/engine/task.rs',
    'fuzz/', 'bench/', 'tests/',
];

/** Folders of what was built or fetched, wherever they stand. */
const NOT_SOURCES = ['.git', 'target', 'node_modules', 'build', 'corpus', 'artifacts', '__pycache__'];

/** @return array<string, string> path below the root => text, of every source file */
function sources(string $root): array
{
    $folders = new \RecursiveDirectoryIterator($root, \FilesystemIterator::SKIP_DOTS);
    $wanted = static fn (\SplFileInfo $file): bool =>
        !($file->isDir() && in_array($file->getFilename(), NOT_SOURCES, true));
    $sources = [];
    foreach (new \RecursiveIteratorIterator(new \RecursiveCallbackFilterIterator($folders, $wanted)) as $file) {
        $path = substr($file->getPathname(), strlen($root) + 1);
        if (in_array($file->getExtension(), KINDS, true) && !starts_with_any($path, GENERATED) && $file->isFile()) {
            $sources[$path] = (string) file_get_contents("$root/$path");
        }
    }
    ksort($sources);
    return $sources;
}

function starts_with_any(string $path, array $prefixes): bool
{
    foreach ($prefixes as $prefix) {
        if (str_starts_with($path, $prefix)) {
            return true;
        }
    }
    return false;
}

/** @return list<string> */
function too_long(array $sources, int $most): array
{
    $complaints = $sources === [] ? ['no source file was found'] : [];
    foreach ($sources as $path => $text) {
        $lines = substr_count($text, "\n");
        if ($lines > $most && !str_ends_with($path, '.md')) {
            $complaints[] = "$path has $lines lines; $most are the most";
        }
    }
    return $complaints;
}

/**
 * @return list<string> lines of prose, and of comments in Rust, that are wider; code, tables, and words that cannot be
 * broken may be
 */
function too_wide(array $sources, int $most): array
{
    $complaints = [];
    foreach ($sources as $path => $text) {
        $kind = pathinfo($path, PATHINFO_EXTENSION);
        $fenced = false;
        foreach (in_array($kind, ['md', 'rs'], true) ? explode("\n", $text) : [] as $index => $line) {
            $prose = $kind === 'md' ? preg_match('~^(?! {4}|\|)~', $line) === 1 : preg_match('~^\s*//(?![/!]? ?\|)~', $line) === 1;
            $fenced = preg_match('~^[\s/!]*```~', $line) === 1 ? !$fenced : $fenced && ($prose || $kind === 'md');
            if ($prose && !$fenced && preg_match("~^(?=.*\S .*\S).{{$most}}.+$~u", $line) === 1) {
                $complaints[] = sprintf('%s:%d is wider than %d columns', $path, $index + 1, $most);
            }
        }
    }
    return $complaints;
}

/** Folders whose PHP code has a width; a page with markup has none. */
const WIDTH_OF_PHP = ['tests/', 'tools/'];

/** @return list<string> lines of code and its comments that are wider; texts do not count, which nobody would break */
function too_wide_code(array $sources, int $most): array
{
    $complaints = [];
    foreach ($sources as $path => $text) {
        $kind = pathinfo($path, PATHINFO_EXTENSION);
        $is_php = in_array($kind, ['php', 'phpt', 'inc'], true) && starts_with_any($path, WIDTH_OF_PHP);
        $code = $is_php || in_array($kind, ['c', 'h', 'py'], true) ? without_texts($text, $kind) : '';
        $code = str_replace("\t", '    ', $code);
        foreach (explode("\n", $code) as $index => $line) {
            if (preg_match("~^.{{$most}}.~u", $line) === 1) {
                $complaints[] = sprintf('%s:%d is wider than %d columns', $path, $index + 1, $most);
            }
        }
    }
    return $complaints;
}

/** A file of C, Python or PHP without what stands between quotes, of a test of PHP its script alone; its lines stay. */
function without_texts(string $text, string $kind): string
{
    $lines = static fn (string $part): string => str_repeat("\n", substr_count($part, "\n"));
    if ($kind === 'phpt') {
        $parts = preg_split('~^--FILE--$~m', $text, 2);
        $text = $lines($parts[0]) . preg_replace('~^--[A-Z_]+--$.*~ms', '', $parts[1] ?? '');
    }
    [$comment, $long] = match ($kind) {
        'py' => ['\#[^\n]*', '"""(?:\\\\.|[^\\\\])*?"""|\'\'\'(?:\\\\.|[^\\\\])*?\'\'\'|'],
        'c', 'h' => ['/\*.*?\*/|//[^\n]*', ''],
        default => ['/\*.*?\*/|//[^\n]*|\#(?!\[)[^\n]*', '<<<\s*(["\']?)(\w+)\g{-2}\n.*?^\s*\g{-1}\b|'],
    };
    $across = $kind === 'c' || $kind === 'h' || $kind === 'py' ? '\n' : '';
    $quoted = "\"(?:\\\\.|[^\"\\\\$across])*\"|'(?:\\\\.|[^'\\\\$across])*'";
    $blank = static fn (array $match): string => ($match['text'] ?? '') === '' ? $match[0] : "''" . $lines($match[0]);
    return (string) preg_replace_callback("~$comment|(?<text>$long$quoted)~ms", $blank, $text);
}

/** @return list<string> */
function unfinished(array $sources): array
{
    // Put together so that this file does not complain of itself.
    $words = implode('|', ['TO' . 'DO', 'FIX' . 'ME', 'X' . 'XX', 'todo' . '!', 'unimplemented' . '!']);
    $pattern = "~\b(?:$words)(?!\w)~";
    $complaints = [];
    foreach ($sources as $path => $text) {
        foreach (explode("\n", $text) as $index => $line) {
            if (preg_match($pattern, $line, $match) === 1) {
                $complaints[] = sprintf('%s:%d says %s', $path, $index + 1, trim($match[0]));
            }
        }
    }
    return $complaints;
}

/** @return list<string> */
function unsafe_outside(array $sources): array
{
    $complaints = [];
    foreach ($sources as $path => $text) {
        // A test program may have what a test needs, an allocator that counts above all.
        $test = preg_match('~^crates/[^/]+/tests/~', $path) === 1;
        if (!str_ends_with($path, '.rs') || $test || starts_with_any($path, UNSAFE_ROOMS)) {
            continue;
        }
        foreach (explode("\n", $text) as $index => $line) {
            if (preg_match('~^[^/"]*\bunsafe\b\s*(?:\{|fn|impl|extern|trait)~', $line) === 1) {
                $complaints[] = sprintf('%s:%d holds unsafe code', $path, $index + 1);
            }
        }
    }
    return $complaints;
}

/**
 * @return list<string> links of Markdown files to files that are not there; $exists tells, given a path below the root
 */
function dead_links(array $sources, callable $exists): array
{
    $complaints = [];
    foreach ($sources as $path => $text) {
        if (!str_ends_with($path, '.md')) {
            continue;
        }
        preg_match_all('~\]\((?![a-z]+:|#)([^)#\s]+)~', $text, $matches);
        foreach ($matches[1] as $link) {
            $parts = [];
            foreach (explode('/', dirname($path) . '/' . $link) as $part) {
                $part === '..' ? array_pop($parts) : ($part === '.' ?: $parts[] = $part);
            }
            if (!$exists(implode('/', $parts))) {
                $complaints[] = "$path links to $link, which is not there";
            }
        }
    }
    return $complaints;
}
