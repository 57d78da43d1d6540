<?php

declare(strict_types=1);

// No loops between the rooms of a crate: a room is a file or folder directly below src/, and imports what stands
// beneath it.

namespace Apus\Tools;

/** What a crate begins with: it names its rooms and is none. */
const ROOTS = ['lib', 'main'];

/** @return list<string> the loops of every crate, each with the files that make it */
function room_loops(array $sources): array
{
    $complaints = [];
    foreach (crates_of($sources) as $crate => $files) {
        $imports = room_imports($files);
        foreach (loops(array_map(array_keys(...), $imports)) as $loop) {
            $hops = [];
            foreach ($loop as $index => $room) {
                $next = $loop[($index + 1) % count($loop)];
                $hops[] = $imports[$room][$next] . " imports $next";
            }
            $complaints[] = "crates/$crate/src: " . implode(' -> ', [...$loop, $loop[0]]) . ' is a loop: ' . implode(', ', $hops);
        }
    }
    return $complaints;
}

/** @return array<string, array<string, string>> crate => path below src/ => text, tests left out */
function crates_of(array $sources): array
{
    $crates = [];
    foreach ($sources as $path => $text) {
        if (preg_match('~^crates/([^/]+)/src/(?!bin/)(.+)\.rs$~', $path, $match) === 1 && preg_match('~(?:^|[/_])tests?(?:/|$)~', $match[2]) === 0) {
            $crates[$match[1]][$match[2]] = production($text);
        }
    }
    return $crates;
}

/** Rust text without comments, texts, and what is compiled for tests only; the lines stay. */
function production(string $text): string
{
    $blank = static fn (array $match): string => str_repeat("\n", substr_count($match[0], "\n"));
    $noise = '~//[^\n]*|/\*.*?\*/|\bb?r(#*)".*?"\1|"(?:\\\\.|[^"\\\\])*"|\'(?:\\\\.[^\']*|[^\'\\\\])\'~s';
    $text = (string) preg_replace_callback($noise, $blank, $text);
    // An item up to its semicolon, or to the bracket that closes it.
    return (string) preg_replace_callback('~#\[cfg\((?:all\()?test\b[^\]]*\]\s*[^;{]*(?:;|(\{(?:[^{}]++|(?1))*+\}))~', $blank, $text);
}

/** @return array<string, array<string, string>> room => room that it imports => the first place where it does */
function room_imports(array $files): array
{
    $rooms = [];
    foreach (array_keys($files) as $path) {
        $rooms[explode('/', $path)[0]] = true;
    }
    $rooms = array_diff_key($rooms, array_flip(ROOTS));
    $known = array_combine(array_keys($rooms), array_keys($rooms)) + root_names($files, $rooms);
    $imports = array_map(static fn (): array => [], $rooms);
    foreach ($files as $path => $text) {
        $modules = explode('/', preg_replace('~/mod$~', '', $path));
        foreach (isset($imports[$modules[0]]) ? names_of_root($text, count($modules)) : [] as [$name, $line]) {
            $to = $known[$name] ?? $modules[0];
            if ($to !== $modules[0]) {
                $imports[$modules[0]][$to] ??= "$path.rs:$line";
            }
        }
    }
    return $imports;
}

/** @return array<string, string> names that the crate's root has from a room => that room */
function root_names(array $files, array $rooms): array
{
    $names = [];
    foreach (ROOTS as $root) {
        preg_match_all('~\buse\s+(?:self::|crate::)?(\w+)::([^;]+);~', $files[$root] ?? '', $uses, PREG_SET_ORDER);
        foreach ($uses as [, $room, $tree]) {
            preg_match_all('~(\w+)\s*(?=[,}]|$)~', $tree, $leaves);
            foreach (isset($rooms[$room]) ? $leaves[1] : [] as $leaf) {
                $names[$leaf] = $room;
            }
        }
    }
    return $names;
}

/** @return list<array{string, int}> what a module so many levels below the root names of the root, with the line */
function names_of_root(string $text, int $depth): array
{
    $found = [];
    $up = sprintf('(?:self::)?(?:super\s*::\s*){%d}', $depth);
    preg_match_all("~(?<![\\w:\$])(?:crate\\s*::\\s*|$up)(?!super)(\\w+|\\{)~", $text, $paths, PREG_SET_ORDER | PREG_OFFSET_CAPTURE);
    foreach ($paths as [, [$name, $at]]) {
        foreach ($name === '{' ? first_names($text, $at) : [[$name, $at]] as [$one, $where]) {
            $found[] = [$one, substr_count($text, "\n", 0, $where) + 1];
        }
    }
    return $found;
}

/** @return list<array{string, int}> the names that the paths in the brackets at $at begin with, and where */
function first_names(string $text, int $at): array
{
    preg_match('~\{(?:[^{}]++|(?R))*+\}~', $text, $group, 0, $at);
    $flat = preg_replace_callback('~(?<=::)\s*(\{(?:[^{}]++|(?1))*+\})~', static fn (array $m): string => str_repeat(' ', strlen($m[0])), $group[0] ?? '');
    preg_match_all('~(?<=[{,])\s*(\w+)~', (string) $flat, $names, PREG_OFFSET_CAPTURE);
    return array_map(static fn (array $name): array => [$name[0], $at + $name[1]], $names[1]);
}

/** @return list<list<string>> for each knot of a graph its shortest loop */
function loops(array $graph): array
{
    $loops = [];
    $done = [];
    foreach (array_keys($graph) as $start) {
        $loop = isset($done[$start]) ? null : shortest_loop($graph, $start);
        // What stands in one loop with others found is told once.
        foreach ($loop ?? [] as $room) {
            $loop = isset($done[$room]) ? null : $loop;
        }
        foreach ($loop ?? [] as $room) {
            $done[$room] = true;
        }
        $loops = $loop === null ? $loops : [...$loops, $loop];
    }
    return $loops;
}

/** @return ?list<string> the shortest way from a room back to it, without the return */
function shortest_loop(array $graph, string $start): ?array
{
    $queue = [[$start]];
    $seen = [];
    while ($queue !== []) {
        $way = array_shift($queue);
        foreach ($graph[end($way)] ?? [] as $next) {
            if ($next === $start) {
                return $way;
            }
            if (!isset($seen[$next])) {
                $seen[$next] = true;
                $queue[] = [...$way, $next];
            }
        }
    }
    return null;
}
