<?php

declare(strict_types=1);

// The rules of the tree, and the tests of the checks themselves: php -n tools/checks/run.php

namespace Apus\Tools;

require __DIR__ . '/arrows.php';
require __DIR__ . '/bailouts.php';
require __DIR__ . '/rooms.php';
require __DIR__ . '/sources.php';
require __DIR__ . '/tests.php';

$root = dirname(__DIR__, 2);
chdir($root);

$sources = sources($root);
$checks = test_arrows() + test_sources() + test_bailouts() + test_rooms() + [
    'arrows between crates' => arrows(cargo_metadata()),
    'no loops between rooms' => room_loops($sources),
    'file sizes' => too_long($sources, 600),
    'widths of prose' => too_wide($sources, 120),
    'widths of code' => too_wide_code($sources, 120),
    'unfinished work' => unfinished($sources),
    'links between documents' => dead_links($sources, static fn (string $path): bool => file_exists($path)),
    'unsafe code only in its rooms' => unsafe_outside($sources),
    'no bailout towards Rust' => bailouts($sources),
];

$failed = 0;
foreach ($checks as $name => $complaints) {
    echo $complaints === [] ? 'ok      ' : 'FAILED  ', $name, "\n";
    foreach ($complaints as $complaint) {
        echo '        ', $complaint, "\n";
    }
    $failed += $complaints === [] ? 0 : 1;
}
echo count($checks) - $failed, ' passed, ', $failed, " failed\n";
exit($failed === 0 ? 0 : 1);
