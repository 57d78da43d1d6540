--TEST--
strerror() knows each of our own numbers, and no number means two things
--FILE--
<?php
use function Apus\strerror;

$seen = [];
foreach (get_defined_constants(true)['apus'] as $name => $number) {
    if (!str_starts_with($name, 'Apus\ERROR_')) {
        continue;
    }
    $text = strerror($number);
    if (str_starts_with($text, 'Unknown error') || $text !== strerror($number, Apus\STRERROR_APUS)) {
        echo "$name ($number): $text\n";
    }
    if (isset($seen[$number])) {
        echo "$name and $seen[$number] are both $number\n";
    }
    $seen[$number] = $name;
}
echo count($seen) > 15 ? "all\n" : count($seen) . "\n";
foreach ([
    Apus\ERROR_SESSION_CLOSED,
    Apus\ERROR_CLIENT_NO_CONNECTION,
    Apus\ERROR_SSL_CREATE_CONTEXT_FAILED,
    Apus\ERROR_TASK_TIMEOUT,
    Apus\ERROR_QUEUE_FULL,
    711,
    32,
] as $number) {
    echo strerror($number), "\n";
}
?>
--EXPECT--
all
The connection is closed, or being closed
the client is not connected
a setting of TLS cannot be honoured
The task took longer
The process that has the connection takes no more messages now
the name has no address, or does not exist
Broken pipe
