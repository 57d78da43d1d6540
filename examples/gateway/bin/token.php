<?php

declare(strict_types=1);

// Prints a token for a browser:  GATEWAY_SECRET=… php bin/token.php tester01 [seconds = 3600] [topic,topic]

namespace Apus\Gateway;

require __DIR__ . '/../src/autoload.php';

$secret = (string) getenv('GATEWAY_SECRET');
if (strlen($secret) < 16 || !isset($argv[1])) {
    fwrite(STDERR, "usage: GATEWAY_SECRET=(16 bytes or more) php bin/token.php USER [SECONDS] [TOPIC,TOPIC]\n");
    exit(2);
}
$topics = array_values(array_filter(explode(',', $argv[3] ?? ''), strlen(...)));
echo Token::sign($secret, Name::user($argv[1]), (int) ($argv[2] ?? 3600), array_map(Name::topic(...), $topics)), "\n";
