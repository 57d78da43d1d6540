--TEST--
Swoole\WebSocket\Frame::pack() and unpack() take opcodes that RFC 6455 reserves, and push() does not
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\WebSocket\Frame;

foreach ([3, 7, 11, 15] as $opcode) {
    $frame = Frame::unpack(Frame::pack('data', $opcode, SWOOLE_WEBSOCKET_FLAG_FIN | SWOOLE_WEBSOCKET_FLAG_MASK));
    var_dump([$frame->opcode, $frame->data, $frame->finish]);
}
$frame = new Frame();
[$frame->opcode, $frame->data, $frame->finish] = [5, str_repeat('x', 70_000), false];
$back = Frame::unpack((string) $frame);
var_dump($back->opcode, strlen($back->data), $back->finish, bin2hex(((string) $frame)[0]));
var_dump(@Frame::pack('data', 16), @Frame::pack('data', -1), Frame::unpack(Frame::pack('', 6))->opcode);
?>
--EXPECT--
array(3) {
  [0]=>
  int(3)
  [1]=>
  string(4) "data"
  [2]=>
  bool(true)
}
array(3) {
  [0]=>
  int(7)
  [1]=>
  string(4) "data"
  [2]=>
  bool(true)
}
array(3) {
  [0]=>
  int(11)
  [1]=>
  string(4) "data"
  [2]=>
  bool(true)
}
array(3) {
  [0]=>
  int(15)
  [1]=>
  string(4) "data"
  [2]=>
  bool(true)
}
int(5)
int(70000)
bool(false)
string(2) "05"
string(0) ""
string(0) ""
int(6)
