--TEST--
Settings of sockets and clients: what is unknown, wrong or not supported is refused with words that say what to do, all or none
--FILE--
<?php
use Apus\Coroutine\{Client, Socket};

$given = [
    ['open_lenght_check' => true],
    ['worker_num' => 2],
    [1],
    ['timeout' => 'soon'],
    ['timeout' => new stdClass],
    ['package_max_length' => 0],
    ['package_length_offset' => -1],
    ['open_length_check' => true, 'package_length_type' => 'x'],
    ['open_length_check' => true, 'package_length_type' => 'N', 'package_max_length' => 3],
    ['open_eof_check' => true, 'package_eof' => ''],
    ['package_eof' => 7],
    ['package_length_func' => 'no_such_function'],
    ['ssl_protocols' => 8],
    ['open_fastcgi_protocol' => true],
];
foreach ($given as $settings) {
    foreach ([fn() => (new Client(Apus\SOCK_TCP))->set($settings), fn() =>
        (new Socket(Apus\AF_INET, Apus\SOCK_STREAM))->setProtocol($settings),
        fn() => (new Apus\Client(Apus\SOCK_TCP))->set($settings)] as $i => $call) {
        try {
            $call();
            $said = 'accepted';
        } catch (Apus\Client\Exception $e) {
            $said = $e->getCode() . ' ' . $e->getMessage();
        }
        if ($i === 0) {
            echo $first = $said, "\n";
        } elseif ($said !== $first) {
            echo "another answer: $said\n";
        }
    }
}
$client = new Client(Apus\SOCK_TCP);
$client->set(['timeout' => 1.5, 'ssl_ciphers' => 'ALL', 'open_fastcgi_protocol' => false]);
try {
    $client->set(['timeout' => 3, 'nonsense' => 1]);
} catch (Apus\Client\Exception) {
}
$client->set(['package_eof' => "\xff", 'open_eof_split' => true]);
echo json_encode($client->setting, JSON_INVALID_UTF8_SUBSTITUTE), "\n";
?>
--EXPECT--
301 unknown setting "open_lenght_check": did you mean "open_length_check"?
301 unknown setting "worker_num": docs/options.md lists every setting
301 settings are given as 'name' => value, but a numeric key was found
301 setting "timeout" must be a number of seconds from -1 to 86400 ("250ms", "10s", "5m" and "2h" work too), "soon" given
301 setting "timeout" cannot be an object or a resource
301 setting "package_max_length" must be a number of bytes from 1 to 1G ("512K", "8M" and "2G" work too), 0 given
301 setting "package_length_offset" must be a whole number of bytes from 0 to 65536, -1 given
301 setting "package_length_type" must be one of c C s S n v l L N V q Q J P, "x" given
301 package_max_length must be at least 4, where the length field ends
301 package_eof must have 1 to 64 bytes
301 setting "package_eof" must be a string of 1 to 64 bytes
301 setting "package_length_func" must be a callable (string $bytes): int, but function "no_such_function" not found or invalid function name
301 setting "ssl_protocols" leaves no version that is spoken: add Apus\SSL_TLSv1_2 or Apus\SSL_TLSv1_3
301 setting "open_fastcgi_protocol" is not supported by this version of Apus: remove it or switch it off. Use open_length_check: n at offset 4, body at 8.
{"timeout":1.5,"ssl_ciphers":"ALL","open_fastcgi_protocol":false,"package_eof":"\ufffd","open_eof_split":true}
