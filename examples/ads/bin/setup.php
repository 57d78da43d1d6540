<?php

declare(strict_types=1);

// Makes the tables, and a key: php bin/setup.php [NAME [SCOPES [PER_MINUTE]]]. The key is printed, and kept as a hash alone.

namespace Apus\Ads;

require __DIR__ . '/../src/autoload.php';

[, $name, $scopes, $perMinute] = $argv + ['', 'first', implode(',', Client::SCOPES), '0'];
if ($unknown = array_diff(explode(',', $scopes), Client::SCOPES)) {
    fwrite(STDERR, 'no such scope: ' . implode(', ', $unknown) . '; there are ' . implode(', ', Client::SCOPES) . "\n");
    exit(1);
}
$pdo = (new Config(getenv()))->connect();
foreach (explode(";\n", (string) file_get_contents(__DIR__ . '/../schema.sql')) as $statement) {
    if (trim($statement) !== '') {
        $pdo->exec($statement);
    }
}
$key = 'ads_' . bin2hex(random_bytes(24));
Database::execute(
    $pdo,
    'INSERT INTO api_keys (hash, client, name, scopes, per_minute) SELECT ?, COALESCE(MAX(client), 0) + 1, ?, ?, ? FROM api_keys',
    [hash('sha256', $key, true), $name, $scopes, (int) $perMinute],
);
echo "$key\n";
