<?php

declare(strict_types=1);

// The travel service of the HighLoad Cup 2017: all data in shared tables, of which the workers have one copy together.

namespace Apus\Travel;

use Apus\Http\Server;

foreach (['Progress', 'Store', 'Loader', 'Snapshot', 'Validate', 'Query', 'Answers', 'Service'] as $file) {
    require __DIR__ . "/$file.php";
}

const USAGE = <<<'TEXT'
    usage: apus run server.php [PORT] [--data DIR] [--host ADDRESS] [--workers N] [--loaders N] [--snapshot FILE] [--max-id N]
      PORT        8080
      --data      directory with users_N.json, locations_N.json, visits_N.json and options.txt ($TRAVEL_DATA, else data)
      --host      127.0.0.1
      --workers   processes that answer; 0: as many as cores (0)
      --loaders   processes that read files at the start; 0: this one reads (2)
      --snapshot  restored at the start where it is whole; saved after loading, before a reload, and at the end
      --max-id    greatest id of a record (4294967294)

    TEXT;

/** The options, by name; ends the program where they make no sense. */
function options(array $words): array
{
    $options = ['port' => '8080', 'data' => getenv('TRAVEL_DATA') ?: 'data', 'host' => '127.0.0.1', 'workers' => '0', 'loaders' => '2', 'snapshot' => '', 'max-id' => '4294967294'];
    $numbers = ['port' => 65_535, 'workers' => 1_024, 'loaders' => 256, 'max-id' => 4_294_967_294];
    for ($i = 0; $i < count($words); $i++) {
        $name = str_starts_with($words[$i], '--') ? substr($words[$i], 2) : 'port';
        $value = $name === 'port' ? $words[$i] : $words[++$i] ?? '';
        $number = $numbers[$name] ?? null;
        if (!isset($options[$name]) || $value === '' || ($number !== null && (!preg_match('/^\d{1,10}$/D', $value) || $value > $number))) {
            fwrite(STDERR, "server.php: $name '$value' is not understood\n" . USAGE);
            exit(2);
        }
        $options[$name] = $value;
    }
    return $options;
}

$options = options(array_slice($argv, 1));
$store = new Store((int) $options['max-id']);
$snapshot = $options['snapshot'] === '' ? null : new Snapshot($store, $options['snapshot']);
if (!$snapshot?->restore()) {
    if (!is_dir($options['data'])) {
        fwrite(STDERR, "server.php: there is no directory '{$options['data']}' with data. To make some, and to serve it:\n"
            . "    php " . __DIR__ . "/generate.php travel --users 10000 --locations 7600 --visits 100000\n"
            . "    apus run " . __FILE__ . " --data travel/data\n");
        exit(1);
    }
    try {
        (new Loader($store, $options['data']))->load((int) $options['loaders']);
    } catch (\Apus\TableException | \RuntimeException $error) {
        fwrite(STDERR, "server.php: {$error->getMessage()}\n");
        exit(1);
    }
    $snapshot?->save();
}

$service = new Service($store);
$server = new Server($options['host'], (int) $options['port']);
$server->set(['process_title' => 'apus-travel'] + ($options['workers'] > 0 ? ['worker_num' => (int) $options['workers']] : []));
$server->on('request', $service->handle(...));
if ($snapshot !== null) {
    $server->on('beforereload', static fn () => $snapshot->save());
}
$server->start();
$snapshot?->save();
