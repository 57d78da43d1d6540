--TEST--
What ends a script there whatever it catches: callbacks that cannot be called, an empty package_eof, sizes without a number
--INI--
apus.swoole_compat=1
--FILE--
<?php
$programs = [
    "\$server->on('request', [new Secret(), 'foo']);",
    "\$server->on('workerstart', 'no_such_function');",
    "\$server->ports[0]->on('receive', ['Secret', 'bar']);",
    "\$server->set(['package_eof' => '']);",
    "\$server->set(['buffer_output_size' => 'xx2M']);",
    "(new Swoole\\Client(SWOOLE_SOCK_TCP))->set(['package_eof' => '']);",
];
foreach ($programs as $program) {
    $code = 'class Secret { private function foo() {} protected static function bar() {} }'
        . '$server = new Swoole\Http\Server("127.0.0.1");'
        . "try { $program echo 'never here'; } catch (Throwable \$caught) { echo 'nor here', get_class(\$caught); }";
    $settings = '-d apus.swoole_compat=1 -d display_errors=1 -d html_errors=0 -d fatal_error_backtraces=0';
    $command = escapeshellarg(PHP_BINARY) . " -n $settings -d extension=" . escapeshellarg(getenv('APUS_SO'));
    exec("$command -r " . escapeshellarg($code), $said, $status);
    echo preg_replace('/ in .*/', '', trim(implode("\n", $said))), " $status\n";
    $said = [];
}
?>
--EXPECT--
Fatal error: Swoole\Server\Port::on(): function 'Secret::foo' is not callable 255
Fatal error: Swoole\Server::on(): function 'no_such_function' is not callable 255
Fatal error: Swoole\Server\Port::on(): function 'Secret::bar' is not callable 255
Fatal error: Swoole\Server::set(): package_eof cannot be an empty string 255
Fatal error: Swoole\Server::set(): failed to parse 'xx2M' to size, Error: Invalid quantity "xx2M": no valid leading digits, interpreting as "0" for backwards compatibility 255
Fatal error: Swoole\Client::set(): package_eof cannot be an empty string 255
