--TEST--
pg_connect() and pg_pconnect() in a coroutine take the arguments that they take outside
--EXTENSIONS--
pgsql
--FILE--
<?php
use function Apus\Coroutine\run;

function attempt(callable $do): string
{
    try {
        return var_export(@$do(), true);
    } catch (Error $e) {
        return get_class($e) . ': ' . $e->getMessage();
    }
}

function all(): array
{
    $nobody = 'host=127.0.0.1 port=1 connect_timeout=1';
    return array_map(attempt(...), [
        fn () => pg_connect(),
        fn () => pg_pconnect($nobody, 2, 3),
        fn () => pg_connect($nobody, 'two'),
        fn () => pg_pconnect([]),
        fn () => pg_pconnect(flags: 2),
        fn () => pg_connect($nobody, '2'),
        fn () => pg_pconnect(flags: 2, connection_string: $nobody),
    ]);
}

$outside = all();
run(function () use ($outside) {
    foreach (all() as $place => $result) {
        echo $result, $result === $outside[$place] ? '' : " (outside: $outside[$place])", "\n";
    }
});
?>
--EXPECT--
ArgumentCountError: pg_connect() expects at least 1 argument, 0 given
ArgumentCountError: pg_pconnect() expects at most 2 arguments, 3 given
TypeError: pg_connect(): Argument #2 ($flags) must be of type int, string given
TypeError: pg_pconnect(): Argument #1 ($connection_string) must be of type string, array given
ArgumentCountError: pg_pconnect(): Argument #1 ($connection_string) not passed
false
false
