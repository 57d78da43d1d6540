--TEST--
Apus\Coroutine\Server with TLS: a client that waits already when start() is called in a coroutine before the loop
--SKIPIF--
<?php if (!extension_loaded('openssl')) { die('skip needs openssl'); } ?>
--FILE--
<?php
$pem = __DIR__ . '/tls_before_loop.pem';
$key = openssl_pkey_new(['private_key_type' => OPENSSL_KEYTYPE_EC, 'curve_name' => 'prime256v1']);
$signed = openssl_csr_sign(openssl_csr_new(['commonName' => 'localhost'], $key, ['digest_alg' => 'sha256']), null, $key, 1);
openssl_x509_export($signed, $certificate);
openssl_pkey_export($key, $private);
file_put_contents($pem, $certificate . $private);

$server = new Apus\Coroutine\Server('127.0.0.1', 0, true);
$server->set(['ssl_cert_file' => $pem, 'ssl_key_file' => $pem]);
$server->handle(function ($connection) use ($server) {
    $connection->send('you said ' . $connection->recv());
    $connection->close();
    $server->shutdown();
});
$client = stream_socket_client("tcp://127.0.0.1:$server->port");
Apus\go(fn () => $server->start());
Apus\go(function () use ($client) {
    stream_context_set_option($client, 'ssl', 'verify_peer', false);
    stream_context_set_option($client, 'ssl', 'verify_peer_name', false);
    var_dump(stream_socket_enable_crypto($client, true, STREAM_CRYPTO_METHOD_TLS_CLIENT));
    fwrite($client, 'hello');
    var_dump(fread($client, 100));
});
?>
--CLEAN--
<?php unlink(__DIR__ . '/tls_before_loop.pem'); ?>
--EXPECT--
bool(true)
string(14) "you said hello"
