--TEST--
cpu_num(), get_local_ip(), get_local_mac(), strerror(), errno(), last_error(), clear_error(), set_process_name()
--FILE--
<?php
use Apus\Coroutine\System;
use function Apus\{clear_error, cpu_num, errno, get_local_ip, get_local_mac, last_error, set_process_name, strerror};

var_dump(cpu_num() === (int) shell_exec('nproc'));

foreach (get_local_ip() as $interface => $address) {
    if ($interface === 'lo' || !filter_var($address, FILTER_VALIDATE_IP, FILTER_FLAG_IPV4)) {
        echo "wrong: $interface $address\n";
    }
}
foreach (get_local_ip(10) as $interface => $address) {
    if ($interface === 'lo' || !filter_var($address, FILTER_VALIDATE_IP, FILTER_FLAG_IPV6)) {
        echo "wrong: $interface $address\n";
    }
}
foreach (get_local_mac() as $interface => $address) {
    if (strtolower($address) !== trim(file_get_contents("/sys/class/net/$interface/address"))) {
        echo "wrong: $interface $address\n";
    }
}
try {
    get_local_ip(1);
} catch (ValueError $e) {
    echo $e->getMessage(), "\n";
}

var_dump(
    strerror(2),
    strerror(110),
    strerror(-2, Apus\STRERROR_GAI),
    strerror(1, Apus\STRERROR_DNS),
    strerror(711),
    strerror(712, Apus\STRERROR_APUS),
);
try {
    strerror(1, 5);
} catch (ValueError $e) {
    echo $e->getMessage(), "\n";
}
var_dump(strerror(PHP_INT_MAX));

var_dump(last_error());
Apus\Coroutine\run(fn() => System::readFile('/no/such/file'));
var_dump(last_error());
clear_error();
var_dump(last_error(), is_int(errno()));

var_dump(set_process_name('apus: a test'), rtrim(file_get_contents('/proc/self/cmdline'), "\0 "));
foreach (['', "a\0b"] as $wrong) {
    try {
        set_process_name($wrong);
    } catch (ValueError $e) {
        echo $e->getMessage(), "\n";
    }
}
?>
--EXPECT--
bool(true)
Apus\get_local_ip(): Argument #1 ($family) must be AF_INET (2) or AF_INET6 (10), 1 given
string(25) "No such file or directory"
string(20) "Connection timed out"
string(25) "Name or service not known"
string(12) "Unknown host"
string(42) "the name has no address, or does not exist"
string(31) "the name servers did not answer"
Apus\strerror(): Argument #2 ($error_type) must be one of the STRERROR constants, 5 given
string(16) "Unknown error -1"
int(0)
int(2)
int(0)
bool(true)
bool(true)
string(12) "apus: a test"
Apus\set_process_name(): Argument #1 ($process_name) cannot be empty
Apus\set_process_name(): Argument #1 ($process_name) must not contain any null bytes
