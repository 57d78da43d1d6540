--TEST--
A Swoole\Http\Request that a program makes itself has nothing but nulls, until the program sets them
--INI--
apus.swoole_compat=1
--FILE--
<?php
class Fake extends Swoole\Http\Request
{
    public function __construct()
    {
    }
}

foreach ([new Swoole\Http\Request(), new Fake()] as $request) {
    $request->get = ['a' => 1];
    var_dump(isset($request->header), $request->header['host'] ?? 'none', $request->server);
    echo json_encode([$request->get, $request->post, $request->cookie, $request->files]), "\n";
}
?>
--EXPECT--
bool(false)
string(4) "none"
NULL
[{"a":1},null,null,null]
bool(false)
string(4) "none"
NULL
[{"a":1},null,null,null]
