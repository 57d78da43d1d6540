<?php

declare(strict_types=1);

// Pushes one message and prints what the gateway says:  php bin/push.php tester01 'hello' [tcp://127.0.0.1:1234]
// A program that does not want to know leaves out everything after fwrite().

if (!isset($argv[2])) {
    fwrite(STDERR, "usage: php bin/push.php USER MESSAGE [ADDRESS]\n");
    exit(2);
}
$gateway = @stream_socket_client($argv[3] ?? 'tcp://127.0.0.1:1234', $code, $why, 3);
if ($gateway === false) {
    fwrite(STDERR, "the gateway cannot be reached: $why\n");
    exit(1);
}
$push = ['user' => $argv[1], 'command' => 'update_data', 'message' => $argv[2]];
if (getenv('GATEWAY_PUSH_KEY')) {
    $push['key'] = getenv('GATEWAY_PUSH_KEY');
}
fwrite($gateway, json_encode($push) . "\n");

stream_set_timeout($gateway, 6);
$answer = fgets($gateway);
echo $answer ?: "no answer\n";
exit(json_decode((string) $answer)?->ok ?? false ? 0 : 1);
