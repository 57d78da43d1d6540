--TEST--
System::gethostbyname(), dnsLookup(), getaddrinfo(): families, failures, time-outs, cancel, many at once, arguments
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\System;
use function Apus\{go, last_error};
use function Apus\Coroutine\{batch, run};

const AF_INET = 2, AF_INET6 = 10;
run(function () {
    var_dump(System::gethostbyname('localhost'), System::dnsLookup('localhost'), System::getaddrinfo('localhost'));
    var_dump(System::gethostbyname('192.0.2.7'), System::gethostbyname('2001:DB8::1', AF_INET6), System::dnsLookup('::1', 1, AF_INET6));
    echo json_encode(System::getaddrinfo('127.0.0.1', AF_INET, 1, 6, '80')), "\n";
    echo json_encode(System::getaddrinfo('127.0.0.1', AF_INET, 0, 0, 'http', 5)), "\n";

    echo "failures:\n";
    var_dump(System::getaddrinfo('127.0.0.1', AF_INET, 1, 6, 'no-such-service'), last_error() === Apus\ERROR_DNSLOOKUP_RESOLVE_FAILED);
    var_dump(System::gethostbyname('2001:db8::1', AF_INET), last_error() === Apus\ERROR_DNSLOOKUP_RESOLVE_FAILED);
    var_dump(System::gethostbyname('a..b'), last_error() === Apus\ERROR_DNSLOOKUP_RESOLVE_FAILED);
    var_dump(System::gethostbyname('no-such-name.invalid', AF_INET, 0), last_error() === Apus\ERROR_DNSLOOKUP_RESOLVE_TIMEOUT);
    $id = go(function () {
        var_dump(System::getaddrinfo('no-such-name.invalid'), Apus\strerror(last_error()), Coroutine::isCanceled());
    });
    Coroutine::cancel($id);
    Coroutine::join([$id]);

    echo "many:\n";
    $results = batch(array_fill(0, 100, fn() => System::gethostbyname('localhost')));
    var_dump(array_count_values($results));

    echo "arguments:\n";
    $wrong = [
        fn() => System::gethostbyname(''),
        fn() => System::gethostbyname("a\0b"),
        fn() => System::gethostbyname('localhost', 1),
        fn() => System::gethostbyname('localhost', AF_INET, NAN),
        fn() => System::dnsLookup('localhost', 1, 99),
        fn() => System::getaddrinfo(''),
        fn() => System::getaddrinfo('localhost', AF_INET, 1, 6, "a\0b"),
        fn() => System::getaddrinfo('localhost', AF_INET, PHP_INT_MAX),
    ];
    foreach ($wrong as $call) {
        try {
            $call();
            echo "no exception\n";
        } catch (ValueError $e) {
            echo $e->getMessage(), "\n";
        }
    }
});
?>
--EXPECT--
string(9) "127.0.0.1"
string(9) "127.0.0.1"
array(1) {
  [0]=>
  string(9) "127.0.0.1"
}
string(9) "192.0.2.7"
string(11) "2001:db8::1"
string(3) "::1"
["127.0.0.1"]
["127.0.0.1"]
failures:
bool(false)
bool(true)
bool(false)
bool(true)
bool(false)
bool(true)
bool(false)
bool(true)
bool(false)
string(18) "Operation canceled"
bool(true)
many:
array(1) {
  ["127.0.0.1"]=>
  int(100)
}
arguments:
Apus\Coroutine\System::gethostbyname(): Argument #1 ($domain_name) cannot be empty
Apus\Coroutine\System::gethostbyname(): Argument #1 ($domain_name) must not contain any null bytes
Apus\Coroutine\System::gethostbyname(): Argument #2 ($type) must be AF_INET (2) or AF_INET6 (10), 1 given
Apus\Coroutine\System::gethostbyname(): Argument #3 ($timeout) must be a number of seconds (negative for no limit), NAN given
Apus\Coroutine\System::dnsLookup(): Argument #3 ($type) must be AF_INET (2) or AF_INET6 (10), 99 given
Apus\Coroutine\System::getaddrinfo(): Argument #1 ($domain) cannot be empty
Apus\Coroutine\System::getaddrinfo(): Argument #5 ($service) must not contain any null bytes
Apus\Coroutine\System::getaddrinfo(): Argument #3 ($socktype) must be a small number, 9223372036854775807 given
