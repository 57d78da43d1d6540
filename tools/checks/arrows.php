<?php

declare(strict_types=1);

// Who may know whom: the arrows of ARCHITECTURE.md, held by `cargo metadata`.

namespace Apus\Tools;

/**
 * Each crate, and the crates of this workspace that it may name. A crate that is not listed must be decided on first.
 */
const MAY_KNOW = [
    'apus-proto' => [],
    'apus-options' => [],
    'apus-shm' => ['apus-scratch'],
    'apus-loop' => ['apus-scratch'],
    'apus-coro' => [],
    'apus-zend' => ['apus-scratch'],
    'apus-stub' => [],
    'apus-scratch' => [],
    'apus-cli' => ['apus-options', 'apus-net', 'apus-edge', 'apus-process', 'apus-scratch', 'apus-stub'],
    'apus-tls' => ['apus-scratch'],
    'apus-net' => ['apus-loop', 'apus-proto', 'apus-options', 'apus-shm', 'apus-tls'],
    'apus-edge' => ['apus-loop', 'apus-net', 'apus-options'],
    'apus-client' => ['apus-loop', 'apus-proto', 'apus-scratch', 'apus-tls'],
    'apus-process' => ['apus-options', 'apus-scratch', 'apus-shm'],
    'apus-runtime' => ['apus-options', 'apus-coro', 'apus-loop', 'apus-zend', 'apus-process', 'apus-stub'],
    'apus-hook' => ['apus-options', 'apus-coro', 'apus-loop', 'apus-zend', 'apus-process', 'apus-runtime', 'apus-stub'],
    'apus-php' => [
        'apus-options', 'apus-net', 'apus-edge', 'apus-client', 'apus-coro', 'apus-loop', 'apus-zend', 'apus-process', 'apus-shm', 'apus-runtime', 'apus-hook', 'apus-stub',
    ],
];

/**
 * Crates that must not be reached, not even through others: no runtime in the island, in the master, in the parsers;
 * nothing of the tests in what is shipped.
 */
const MUST_NOT_REACH = [
    'apus-zend' => ['tokio', 'mio'],
    'apus-process' => ['tokio', 'mio'],
    'apus-shm' => ['tokio', 'mio'],
    'apus-proto' => ['tokio', 'mio', 'socket2', 'libc'],
    'apus-options' => ['tokio', 'mio', 'socket2'],
    'apus-php' => ['apus-scratch'],
    'apus-cli' => ['apus-scratch'],
];

function cargo_metadata(): array
{
    $text = shell_exec('cargo metadata --format-version 1 --locked 2>/dev/null') ?: shell_exec('cargo metadata --format-version 1');
    $metadata = json_decode((string) $text, true);
    return is_array($metadata) ? $metadata : ['packages' => [], 'workspace_members' => ['cargo metadata failed']];
}

/** @return list<string> what is wrong */
function arrows(array $metadata): array
{
    $names = array_column($metadata['packages'], 'name', 'id');
    $complaints = [];
    $ours = [];
    foreach ($metadata['workspace_members'] as $id) {
        $ours[$id] = $names[$id] ?? $id;
    }
    foreach ($metadata['packages'] as $package) {
        $name = $package['name'];
        if (!isset($ours[$package['id']])) {
            continue;
        }
        if (!isset(MAY_KNOW[$name])) {
            $complaints[] = "$name has no place among the arrows: tools/checks/arrows.php decides whom it may know";
            continue;
        }
        foreach ($package['dependencies'] as $dependency) {
            $other = $dependency['name'];
            if (in_array($other, $ours, true) && $other !== $name && !in_array($other, MAY_KNOW[$name], true)) {
                $kind = $dependency['kind'] === null ? '' : " ($dependency[kind])";
                $complaints[] = "$name must not know $other$kind";
            }
        }
    }
    if ($ours === [] || $names === []) {
        $complaints[] = 'cargo metadata names no packages';
    }
    return [...$complaints, ...forbidden_reaches($metadata, $names)];
}

/** @return list<string> */
function forbidden_reaches(array $metadata, array $names): array
{
    $edges = [];
    foreach ($metadata['resolve']['nodes'] ?? [] as $node) {
        foreach ($node['deps'] as $dep) {
            // What only tests or build scripts use is not in the product.
            if (in_array(null, array_column($dep['dep_kinds'], 'kind'), true)) {
                $edges[$node['id']][] = $dep['pkg'];
            }
        }
    }
    $complaints = [];
    foreach ($names as $id => $name) {
        foreach (MUST_NOT_REACH[$name] ?? [] as $forbidden) {
            $path = path_to($forbidden, $id, $edges, $names);
            if ($path !== null) {
                $complaints[] = implode(' -> ', $path) . ": $name must not reach $forbidden";
            }
        }
    }
    return $complaints;
}

/** @return ?list<string> the names on the way from $from to a package called $target */
function path_to(string $target, string $from, array $edges, array $names): ?array
{
    $queue = [[$from]];
    $seen = [$from => true];
    while ($queue !== []) {
        $path = array_shift($queue);
        foreach ($edges[end($path)] ?? [] as $next) {
            if (isset($seen[$next])) {
                continue;
            }
            $seen[$next] = true;
            if ($names[$next] === $target) {
                return array_map(static fn (string $id): string => $names[$id], [...$path, $next]);
            }
            $queue[] = [...$path, $next];
        }
    }
    return null;
}
