--TEST--
Coroutine\Server and Coroutine\Http\Server: when the script ends while they serve, handlers are unwound and nothing crashes
--FILE--
<?php
$code = '
use Apus\Coroutine;
use Apus\Coroutine\{Channel, Socket};
use function Apus\{go, Coroutine\run};
register_shutdown_function(fn() => print("shutdown function\n"));
run(function () {
    $web = new Coroutine\Http\Server("127.0.0.1");
    $raw = new Coroutine\Server("127.0.0.1");
    $begun = new Channel(2);
    $handler = function () use ($web, $raw, $begun): void {
        try {
            $begun->push(true);
            Coroutine::sleep(20);
        } finally {
            echo "unwound\n";
        }
    };
    $web->handle("/", $handler);
    $raw->handle($handler);
    foreach ([$web, $raw] as $server) {
        go(function () use ($server): void {
            try {
                $server->start();
            } finally {
                echo "ended\n";
            }
        });
        $client = $clients[] = new Socket(Apus\AF_INET, Apus\SOCK_STREAM);
        $client->connect("127.0.0.1", $server->port);
        $client->sendAll("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    }
    $begun->pop();
    $begun->pop();
    Coroutine::sleep(0.001);
    %s
    $web->handle("/end", function () use ($web, $raw): void { END; });
    $raw->handle(function (): void { END; });
});
echo "NOT REACHED\n";
';
$through = fn(string $server, string $end) => str_replace('END', $end, "
    \$web->handle('/', function (): void { $end; });
    \$raw->handle(function (): void { $end; });
    \$client = new Socket(Apus\\AF_INET, Apus\\SOCK_STREAM);
    \$client->connect('127.0.0.1', {$server}->port);
    \$client->sendAll(\"GET / HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n\");
    \$client->recv(65536, 20);
    Coroutine::sleep(20);");
$cases = ['exception' => 'throw new LogicException("of the script");', 'exit' => 'exit(3);'];
foreach (['$web', '$raw'] as $server) {
    $cases["exit in a handler of $server"] = $through($server, 'exit(4)');
    $cases["memory in a handler of $server"] = $through($server, "ini_set('memory_limit', '16M'); str_repeat('x', 1 << 30)");
}
$file = tempnam(sys_get_temp_dir(), 'apus');
foreach ($cases as $name => $case) {
    file_put_contents($file, '<?php ' . str_replace(['%s', 'END'], [$case, 'exit(5)'], $code));
    echo "-- $name\n";
    $out = shell_exec(escapeshellarg(PHP_BINARY) . ' -n -d display_errors=1 -d html_errors=0 -d extension=' . escapeshellarg(getenv('APUS_SO')) . ' ' . escapeshellarg($file) . ' 2>&1; echo "status $?"');
    echo preg_replace(['/ in \S+( on line \d+|:\d+).*/', '/^Stack trace:\n(#.*\n)*  thrown.*\n/m', '/^\s*\n/m', '/\(tried to allocate.*?\)/'], '', $out);
}
unlink($file);
?>
--EXPECTF--
-- exception
ended
ended
unwound
unwound
%AFatal error: Uncaught LogicException: of the script
%Ashutdown function
status 255
-- exit
ended
ended
unwound
unwound
shutdown function
status 3
-- exit in a handler of $web
ended
ended
unwound
unwound
shutdown function
status 4
-- memory in a handler of $web
Fatal error: Allowed memory size of 16777216 bytes exhausted%A
status 255
-- exit in a handler of $raw
ended
unwound
unwound
shutdown function
status 4
-- memory in a handler of $raw
Fatal error: Allowed memory size of 16777216 bytes exhausted%A
status 255
