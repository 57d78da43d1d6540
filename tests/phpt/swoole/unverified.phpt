--TEST--
Clients under the names of Swoole verify a server only where ssl_verify_peer is set; those of Apus always do
--INI--
apus.swoole_compat=1
--EXTENSIONS--
openssl
--FILE--
<?php
use Swoole\Coroutine;

$key = openssl_pkey_new(['private_key_bits' => 2048]);
$certificate = openssl_csr_sign(openssl_csr_new(['commonName' => 'nobody.test'], $key), null, $key, 1);
openssl_x509_export($certificate, $pem);
openssl_pkey_export($key, $private);
$file = tempnam(sys_get_temp_dir(), 'apus');
file_put_contents($file, $pem . $private);

Coroutine\run(function () use ($file) {
    $listener = new Coroutine\Socket(AF_INET, SOCK_STREAM);
    $listener->bind('127.0.0.1');
    $listener->listen();
    $listener->setProtocol(['open_ssl' => true, 'ssl_cert_file' => $file, 'ssl_key_file' => $file]);
    $port = $listener->getsockname()['port'];
    $serving = Coroutine\go(function () use ($listener) {
        while (true) {
            $peer = $listener->accept();
            if (!$peer) {
                return;
            }
            Coroutine\go(fn () => @$peer->sslHandshake() && $peer->recv());
        }
    });
    $try = function (string $class, array $settings) use ($port) {
        $kind = str_contains($class, 'Socket') ? [AF_INET, SOCK_STREAM] : [SWOOLE_SOCK_TCP | SWOOLE_SSL];
        $client = new $class(...$kind);
        $settings += ['open_ssl' => true];
        if ($client instanceof Apus\Coroutine\Socket || $client instanceof Coroutine\Socket) {
            $client->setProtocol($settings);
        } else {
            $client->set($settings);
        }
        $done = @$client->connect('127.0.0.1', $port, 5);
        $client->close();
        return $done ? 'connected' : 'refused';
    };
    foreach (['Coroutine\Client', 'Client', 'Coroutine\Socket'] as $name) {
        echo "$name: ", $try("Swoole\\$name", []), ', ', $try("Swoole\\$name", ['ssl_verify_peer' => true]), ', ',
            $try("Apus\\$name", []), ', ', $try("Apus\\$name", ['ssl_verify_peer' => false]), "\n";
    }
    $listener->close();
});
unlink($file);
?>
--EXPECT--
Coroutine\Client: connected, refused, refused, connected
Client: connected, refused, refused, connected
Coroutine\Socket: connected, refused, refused, connected
