<?php

declare(strict_types=1);

// Settings, all of them optional: src/Config.php has the list with defaults, limits and units, README.md tells what they are for.
// A variable of the environment wins: GATEWAY_PUSH_RATE=100 over 'push_rate' here. Read once, when the gateway starts.
return [
    // 'host' => '0.0.0.0',                        // needs a secret
    // 'port' => 8080,
    // 'workers' => 2,
    // 'origins' => ['https://www.example.org'],
    // 'queue_per_user' => 100,
    // 'queue_ttl' => 3600,
];
