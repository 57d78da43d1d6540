--TEST--
Lines of the log about clients that do not come to speak TLS, and about certificates of clients that do not hold
--INI--
apus.swoole_compat=1
--EXTENSIONS--
openssl
--FILE--
<?php
$make = function (string $name, int $days) {
    $key = openssl_pkey_new(['private_key_bits' => 2048]);
    $signed = openssl_csr_sign(openssl_csr_new(['commonName' => $name], $key), null, $key, $days);
    openssl_x509_export($signed, $certificate);
    openssl_pkey_export($key, $private);
    file_put_contents($file = tempnam(sys_get_temp_dir(), 'apus'), $certificate . $private);
    return $file;
};
$files = [$make('localhost', 1), $make('client', 1)];
$files[] = $log = tempnam(sys_get_temp_dir(), 'apus');
$server = new Swoole\Server('127.0.0.1', 0, SWOOLE_BASE, SWOOLE_SOCK_TCP | SWOOLE_SSL);
$server->set([
    'ssl_cert_file' => $files[0],
    'ssl_key_file' => $files[0],
    'ssl_verify_peer' => true,
    'ssl_client_cert_file' => $files[0],
    'log_file' => $log,
]);
$server->on('receive', fn ($server, $fd, $reactor, $data) => $server->send($fd, $data));
$server->on('workerstart', function (Swoole\Server $server) use ($files, $log) {
    go(function () use ($server, $files, $log) {
        $plain = new Swoole\Coroutine\Client(SWOOLE_SOCK_TCP);
        $plain->connect('127.0.0.1', $server->port);
        $plain->send('hello world');
        $plain->recv(5);
        $unknown = new Swoole\Coroutine\Client(SWOOLE_SOCK_TCP | SWOOLE_SSL);
        $unknown->set(['ssl_cert_file' => $files[1], 'ssl_key_file' => $files[1]]);
        $unknown->connect('127.0.0.1', $server->port);
        $unknown->recv(5);
        echo preg_replace('/^\[.*?\]/m', '[]', file_get_contents($log));
        array_map('unlink', $files);
        $server->shutdown();
    });
});
$server->start();
?>
--EXPECTF--
[]	WARNING	Socket::ssl_accept(): bad SSL client[127.0.0.1:%d], reason=156, error_string=http request
[]	NOTICE	Socket::ssl_verify() (ERRNO 1014): can not verify peer from fd#2 with error#1: unspecified certificate verification error
