<?php

declare(strict_types=1);

// Makes a data set of any size for the travel service, and requests for it: the same seed gives the same bytes.

namespace Apus\Travel;

require __DIR__ . '/Progress.php';
require __DIR__ . '/DataSet.php';
require __DIR__ . '/Ammo.php';

const USAGE = <<<'TEXT'
    usage: php generate.php DIR [--users N] [--locations N] [--visits N] [--seed N] [--now T]
                            [--get N] [--post N] [--get-after N]
      DIR         gets data/ (users_N.json, locations_N.json, visits_N.json, options.txt) and, when requests are
                  asked for, ammo/ (phase_1_get.ammo, phase_2_post.ammo, phase_3_get.ammo)
      --users, --locations, --visits   records (10000, 7600, 100000)
      --seed      of all random choices (1)
      --now       the time of the data, Unix seconds (1503966608)
      --get, --post, --get-after       requests of the three phases (0, 0, 0)

    TEXT;

/** The numbers given on the command line; ends the program where they make no sense. */
function numbers(array $words): array
{
    $numbers = [
        'users' => 10_000, 'locations' => 7_600, 'visits' => 100_000, 'seed' => 1, 'now' => 1_503_966_608,
        'get' => 0, 'post' => 0, 'get-after' => 0,
    ];
    for ($i = 0; $i < count($words); $i += 2) {
        $name = substr($words[$i], 2);
        $value = $words[$i + 1] ?? '';
        if (!str_starts_with($words[$i], '--') || !isset($numbers[$name]) || !preg_match($name === 'now' ? '/^-?\d{1,11}$/D' : '/^\d{1,10}$/D', $value)) {
            fwrite(STDERR, "generate.php: {$words[$i]} $value: not understood\n" . USAGE);
            exit(2);
        }
        $numbers[$name] = (int) $value;
    }
    if ($numbers['visits'] > 0 && min($numbers['users'], $numbers['locations']) < 1) {
        fwrite(STDERR, "generate.php: visits need at least one user and one location\n");
        exit(2);
    }
    return $numbers;
}

function folder(string $path): string
{
    if (!is_dir($path) && !@mkdir($path, 0o777, true)) {
        fwrite(STDERR, "generate.php: cannot make the directory $path\n");
        exit(1);
    }
    return $path;
}

if ($argc < 2 || str_starts_with($argv[1], '-')) {
    fwrite(STDERR, USAGE);
    exit(2);
}
$numbers = numbers(array_slice($argv, 2));
$set = new DataSet($numbers['users'], $numbers['locations'], $numbers['visits'], $numbers['seed'], $numbers['now']);
$progress = new Progress('made');
$set->write(folder("{$argv[1]}/data"), $progress);
$progress->end();
if ($numbers['get'] + $numbers['post'] + $numbers['get-after'] > 0) {
    $ammo = new Ammo($set);
    $ammo->write(folder("{$argv[1]}/ammo"), $numbers['get'], $numbers['post'], $numbers['get-after']);
}
