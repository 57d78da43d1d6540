<?php

declare(strict_types=1);

// The checks, checked: each must complain of what it is for, and of nothing else.

namespace Apus\Tools;

/** Metadata of a workspace with these edges; an edge to a foreign crate makes that crate, too. */
function metadata(array $edges): array
{
    $packages = [];
    $nodes = [];
    foreach ($edges as $name => $others) {
        foreach ([$name, ...$others] as $package) {
            $packages[$package] ??= ['id' => "$package#1", 'name' => $package, 'dependencies' => []];
            $nodes[$package] ??= ['id' => "$package#1", 'deps' => []];
        }
        foreach ($others as $other) {
            $packages[$name]['dependencies'][] = ['name' => $other, 'kind' => null];
            $nodes[$name]['deps'][] = ['pkg' => "$other#1", 'dep_kinds' => [['kind' => null]]];
        }
    }
    $ours = array_filter(array_keys($packages), static fn (string $name): bool => str_starts_with($name, 'apus-'));
    return [
        'packages' => array_values($packages),
        'workspace_members' => array_values(array_map(static fn (string $name): string => "$name#1", $ours)),
        'resolve' => ['nodes' => array_values($nodes)],
    ];
}

/** @return list<string> a complaint when the values differ */
function expect(mixed $wanted, mixed $got): array
{
    return $wanted === $got ? [] : ['expected ' . json_encode($wanted) . ', got ' . json_encode($got)];
}

/** @return array<string, list<string>> */
function test_arrows(): array
{
    $development = metadata(['apus-process' => [], 'tokio' => []]);
    $development['resolve']['nodes'][0]['deps'][] = ['pkg' => 'tokio#1', 'dep_kinds' => [['kind' => 'dev']]];
    return [
        'arrows: the allowed ones pass' => expect([], arrows(metadata([
            'apus-net' => ['apus-proto', 'apus-options', 'tokio'],
            'apus-php' => ['apus-net', 'apus-zend', 'apus-coro', 'apus-process', 'apus-options'],
        ]))),
        'arrows: net must not know zend' => expect(['apus-net must not know apus-zend'], arrows(metadata(['apus-net' => ['apus-zend']]))),
        'arrows: coro and zend do not know each other' => expect(
            ['apus-coro must not know apus-zend', 'apus-zend must not know apus-coro'],
            arrows(metadata(['apus-coro' => ['apus-zend'], 'apus-zend' => ['apus-coro']])),
        ),
        'arrows: zend must not reach tokio through another crate' => expect(
            ['apus-zend -> helper -> tokio: apus-zend must not reach tokio'],
            arrows(metadata(['apus-zend' => ['helper'], 'helper' => ['tokio']])),
        ),
        'arrows: a test may use tokio' => expect([], arrows($development)),
        'arrows: a new crate must be decided on' => expect(1, count(arrows(metadata(['apus-new' => []])))),
        'arrows: silence of cargo is no success' => expect(true, arrows(['packages' => [], 'workspace_members' => []]) !== []),
    ];
}

/** @return array<string, list<string>> */
function test_sources(): array
{
    $unfinished = ['a.rs' => "fn a() {\n    // TO" . "DO: more\n}\n"];
    return [
        'sizes: the limit itself is allowed' => expect([], too_long(['a.rs' => str_repeat("x\n", 3)], 3)),
        'sizes: one line more is not' => expect(1, count(too_long(['a.rs' => str_repeat("x\n", 4)], 3))),
        'sizes: prose may be long' => expect([], too_long(['a.md' => str_repeat("x\n", 4)], 3)),
        'widths: a line of prose is named' => expect(['a.md:2 is wider than 9 columns'], too_wide(['a.md' => "123456 89\n12345 7890\n"], 9)),
        'widths: characters count, not bytes' => expect([], too_wide(['a.md' => "ää ö ü µ\n"], 9)),
        'widths: code, tables and addresses may' => expect([], too_wide(
            ['a.md' => "```sh\n12345 7890\n```\n    5678 0\n| 34 678 0 |\n1234567890\n", 'a.rs' => "12345 7890\n"],
            9,
        )),
        'widths: a comment in Rust is named' => expect(['a.rs:1 is wider than 9 columns'], too_wide(['a.rs' => "/// 45 7890\n"], 9)),
        'widths: code and comments of C and Python are named' => expect(
            ['a.c:2 is wider than 9 columns', 'b.py:3 is wider than 9 columns', 'b.py:4 is wider than 9 columns'],
            too_wide_code(['a.c' => "/* it's\n\t   x();*/\n", 'b.py' => "x = \"\"\"\n\"\"\"\ncall(1, 2)\n# don't \"a\"\n"], 9),
        ),
        'widths: texts do not count' => expect([], too_wide_code([
            'a.c' => "f(\"a \\\" long text\");\n",
            'b.py' => "x = '''\na long \"text\"\n'''\nf('and \\'one\\' more')\n",
        ], 9)),
        'widths: of a test of PHP the script counts' => expect(['tests/a.phpt:4 is wider than 9 columns'], too_wide_code([
            'tests/a.phpt' => "--TEST--\nits long title\n--FILE--\ncall(\$abcdef);\necho <<<X\n  a \"long text\n  X, 'or',\n \"of\n many\";\n--EXPECT--\na long line\n",
            'php/a.php' => "a_long_call();\n",
        ], 9)),
        'words: unfinished work is named with its line' => expect(['a.rs:2 says TO' . 'DO'], unfinished($unfinished)),
        'words: parts of words are not meant' => expect([], unfinished(['a.rs' => "method_todos(FIX" . "MEN)\n"])),
        'links: a dead one is named' => expect(
            ['docs/a.md links to ../c.md, which is not there'],
            dead_links(['docs/a.md' => '[b](b.md#x) [c](../c.md) [d](https://d/)'], static fn (string $file): bool => $file === 'docs/b.md'),
        ),
        'unsafe: refused outside its rooms' => expect(
            ['crates/apus-coro/src/a.rs:1 holds unsafe code'],
            unsafe_outside(['crates/apus-coro/src/a.rs' => "let x = unsafe { y() };\n"]),
        ),
        'unsafe: allowed in them, and in words' => expect([], unsafe_outside([
            'crates/apus-zend/src/a.rs' => "unsafe { y() }\n",
            'crates/apus-coro/src/a.rs' => "#![forbid(unsafe_code)]\n// unsafe { is a word here\n",
        ])),
    ];
}

/** @return array<string, list<string>> */
function test_bailouts(): array
{
    $complain = static fn (string $c): array => bailouts([SHIM . 'a.c' => $c, 'a.rs' => 'unsafe { sys::apus_a() }']);
    $wants = static fn (string $function, string $way): array => ["$function() calls $way, which may bail out, outside apus_try"];
    return [
        'bailouts: a call without a guard is named' => expect($wants('apus_a', 'zend_error()'), $complain("void apus_a(void)\n{\n\tzend_error(1, \"{\");\n}\n")),
        'bailouts: so is one by way of another function' => expect(
            $wants('apus_a', 'b() -> zend_error()'),
            $complain("static void b(int x)\n{\n\tzend_error(x, 0);\n}\n\nvoid apus_a(void)\n{\n\tb(1);\n}\n"),
        ),
        'bailouts: what is guarded passes' => expect([], $complain(
            "static void b(int x)\n{\n\tzend_error(x, 0);\n}\n\nvoid apus_a(void)\n{\n\tbool failed = false;\n\tapus_try {\n\t\tb(1);\n\t} apus_catch {\n\t} apus_end_try();\n\tGUARDED(failed, { zend_error(1, 0); });\n}\n",
        )),
        'bailouts: what stands behind a guard does not' => expect(
            $wants('apus_a', 'emalloc()'),
            $complain("void *apus_a(void)\n{\n\tapus_try {\n\t} apus_catch {\n\t\temalloc(1);\n\t} apus_end_try();\n}\n"),
        ),
        'bailouts: functions that PHP enters may' => expect([], $complain("/* zend_error() */\nstatic void a(void)\n{\n\tzend_error(1, 0);\n}\n")),
    ];
}

/** @return array<string, list<string>> */
function test_rooms(): array
{
    $loops = static fn (array $files): array => room_loops(array_combine(
        array_map(static fn (string $path): string => "crates/apus-x/src/$path.rs", array_keys($files)),
        $files,
    ));
    $two = 'crates/apus-x/src: a -> b -> a is a loop: a.rs:1 imports b, b/deep.rs:2 imports a';
    return [
        'rooms: both files of a loop are named' => expect([$two], $loops(['a' => 'use crate::b::B;', 'b/deep' => "\nuse crate::a::A;"])),
        'rooms: so is a longer one' => expect(
            ['crates/apus-x/src: a -> b -> c -> a is a loop: a.rs:1 imports b, b.rs:1 imports c, c.rs:1 imports a'],
            $loops(['a' => 'use crate::b;', 'b' => 'use crate::c;', 'c' => 'use crate::a;']),
        ),
        'rooms: a group, a path in code and super count' => expect([$two], $loops(['a' => 'use crate::{d, b::{x, y}};', 'b/deep' => "\nsuper::super::a::f()", 'd' => ''])),
        'rooms: so does a name that the root has from a room' => expect([$two], $loops(['lib' => 'pub use b::B;', 'a' => 'use crate::B;', 'b/deep' => "\nuse crate::a;"])),
        'rooms: one direction passes' => expect([], $loops(['a' => 'use crate::b::{a, c};', 'b' => '', 'b/c' => 'use super::a; use crate::b::a;'])),
        'rooms: the root is none' => expect([], $loops(['lib' => 'mod a; use crate::a::A; struct L;', 'a' => 'use crate::L;'])),
        'rooms: tests, comments and texts may' => expect([], $loops([
            'a' => 'use crate::b;',
            'b' => "// crate::a\nlet x = \"crate::a\";\n#[cfg(test)]\nmod tests {\n    use crate::a;\n    fn f() { {} }\n}\n#[cfg(test)]\nuse crate::a;\n",
            'b/tests' => 'use crate::a;',
            'b_tests' => 'use crate::a; use crate::b;',
        ])),
        'rooms: those of different crates are not compared' => expect([], room_loops(['crates/x/src/a.rs' => 'use crate::b;', 'crates/y/src/b.rs' => 'use crate::a;'])),
    ];
}
