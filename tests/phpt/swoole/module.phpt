--TEST--
With apus.swoole_compat there is a module swoole, with its version, settings, constants, functions and short names
--INI--
apus.swoole_compat=1
--FILE--
<?php
var_dump(extension_loaded('swoole'), phpversion('swoole'), SWOOLE_VERSION, SWOOLE_VERSION_ID, swoole_version());
var_dump(array_keys(ini_get_all('swoole')), ini_get('swoole.use_shortname'), ini_set('swoole.display_errors', 'Off'));
$module = new ReflectionExtension('swoole');
var_dump(in_array(Swoole\Atomic::class, $module->getClassNames()), count($module->getINIEntries()));
var_dump(isset($module->getFunctions()['swoole_cpu_num']), isset($module->getConstants()['SWOOLE_HOOK_ALL']));
var_dump((new ReflectionExtension('apus'))->getConstants() === array_filter(get_defined_constants(true)['apus']
    , fn ($name) => str_starts_with($name, 'Apus\\'), ARRAY_FILTER_USE_KEY));

var_dump(SWOOLE_BASE, SWOOLE_PROCESS, SWOOLE_SOCK_TCP, SWOOLE_ERROR_CO_CANNOT_CANCEL, SWOOLE_SSL, SWOOLE_HOOK_ALL);
var_dump(SWOOLE_SOCK_ASYNC, SWOOLE_TIMER_MIN_SEC, SWOOLE_EXTRA_VERSION, SWOOLE_USE_SHORTNAME, SIGTERM, AF_INET);
// The numbers that Apus itself gives are the same.
var_dump(Apus\ERROR_QUEUE_FULL === SWOOLE_ERROR_QUEUE_FULL, Apus\ERROR_TASK_TIMEOUT === SWOOLE_ERROR_TASK_TIMEOUT);
var_dump(swoole_strerror(SWOOLE_ERROR_SERVER_NO_IDLE_WORKER, 9), swoole_strerror(2));

go(function () {
    defer(function () { echo "deferred\n"; });
    $channel = new Chan();
    go(fn () => $channel->push('through the channel'));
    var_dump($channel instanceof Co\Channel, $channel->pop());
    swoole_timer_after(1, function (string $text) { echo "$text\n"; }, 'a timer');
});
swoole_event_wait();

var_dump(swoole_cpu_num() > 0, swoole_last_error(), swoole_async_set(['nobody_knows' => 1]));
var_dump(swoole_hashcode('abc'), swoole_hashcode('abc', 1), swoole_hashcode('abc', 2));
var_dump(swoole_substr_json_decode('head[1,2]tail', 4, 5), swoole_substr_json_decode('{"a":1}', 0, 0, true));
var_dump(
    swoole_substr_json_decode('abc', 3),
    swoole_substr_unserialize('xx' . serialize(['a']), 2),
    swoole_substr_unserialize('a', 5),
);
?>
--EXPECTF--
bool(true)
string(5) "6.2.1"
string(5) "6.2.1"
int(60201)
string(5) "6.2.1"
array(10) {
  [0]=>
  string(25) "swoole.blocking_detection"
  [1]=>
  string(25) "swoole.blocking_threshold"
  [2]=>
  string(21) "swoole.display_errors"
  [3]=>
  string(24) "swoole.enable_fiber_mock"
  [4]=>
  string(21) "swoole.enable_library"
  [5]=>
  string(34) "swoole.enable_preemptive_scheduler"
  [6]=>
  string(21) "swoole.leak_detection"
  [7]=>
  string(14) "swoole.profile"
  [8]=>
  string(25) "swoole.socket_buffer_size"
  [9]=>
  string(20) "swoole.use_shortname"
}
string(2) "On"
string(2) "On"
bool(true)
int(10)
bool(true)
bool(true)
bool(true)
int(1)
int(2)
int(1)
int(10015)
int(512)
int(2143287295)
bool(true)
float(0.001)
string(0) ""
bool(true)
int(15)
int(2)
bool(true)
bool(true)
string(21) "Server no idle worker"
string(25) "No such file or directory"
bool(true)
string(19) "through the channel"
deferred
a timer
bool(true)
int(0)
bool(true)
int(-9223372036661289845)
int(3977453403)
bool(false)
array(2) {
  [0]=>
  int(1)
  [1]=>
  int(2)
}
array(1) {
  ["a"]=>
  int(1)
}

Warning: Offset must be less than the length of the string in %s on line %d
NULL
array(1) {
  [0]=>
  string(1) "a"
}
bool(false)
