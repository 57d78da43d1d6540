--TEST--
WebSocket\Frame and CloseFrame: pack(), unpack(), __toString(), the limits of RFC 6455
--FILE--
<?php
use Apus\WebSocket\{CloseFrame, Frame};

$frame = new Frame;
var_dump($frame);
$frame->data = 'Hello';
echo bin2hex($frame), "\n";
echo bin2hex(Frame::pack('Hello', Apus\WEBSOCKET_OPCODE_BINARY)), "\n";
echo bin2hex(Frame::pack('Hel', Apus\WEBSOCKET_OPCODE_TEXT, 0)), "\n";
echo bin2hex(Frame::pack('', Apus\WEBSOCKET_OPCODE_PING)), "\n";
echo bin2hex(substr(Frame::pack(str_repeat('x', 126)), 0, 4)), ' ',
    bin2hex(substr(Frame::pack(str_repeat('x', 65536)), 0, 10)), "\n";
echo bin2hex(Frame::pack('shut', Apus\WEBSOCKET_OPCODE_CLOSE)), "\n";

$close = new CloseFrame;
$close->code = 3000;
$close->reason = 'bye';
echo bin2hex($close), ' ', bin2hex(Frame::pack($close)), "\n";
var_dump(Frame::unpack((string) $close));

// Masked, compressed, both, and by a key that differs each time.
$flags = Apus\WEBSOCKET_FLAG_FIN | Apus\WEBSOCKET_FLAG_MASK | Apus\WEBSOCKET_FLAG_COMPRESS;
$text = str_repeat('again and ', 50);
foreach ([$flags, Apus\WEBSOCKET_FLAG_FIN, Apus\WEBSOCKET_FLAG_FIN | Apus\WEBSOCKET_FLAG_MASK] as $set) {
    $packed = Frame::pack($text, 1, $set);
    $frame = Frame::unpack($packed);
    var_dump($frame->data === $text, $frame->flags, $frame->opcode, $frame->finish, strlen($packed) < 100);
}
var_dump(Frame::pack('x', 1, 33) === Frame::pack('x', 1, 33));
var_dump(Frame::unpack("\x01\x01x")->finish);

echo "not frames:\n";
foreach (['', "\x81", "\x81\x05Hell", "\x83\x00", "\xb1\x00", "\x89\x7e\x00\x7e", "\xc1\x04\xff\xff\xff\xff", "\x81\xff" . str_repeat("\xff", 12)] as $bytes) {
    echo json_encode(Frame::unpack($bytes)), ' ';
}
echo "\nrefused:\n";
$close->code = 1005;
echo bin2hex($close), "\n";
$refused = [
    fn() => Frame::pack('x', 3),
    fn() => Frame::pack('x', -1),
    fn() => Frame::pack("\xff"),
    fn() => Frame::pack(str_repeat('x', 126), Apus\WEBSOCKET_OPCODE_PING),
    fn() => Frame::pack(new stdClass),
    function () use ($close) { $close->code = 1006; return (string) $close; },
    function () use ($close) { $close->code = 1000; $close->reason = str_repeat('x', 124); return (string) $close; },
    function () use ($close) { $close->reason = "\xff"; return (string) $close; },
];
foreach ($refused as $call) {
    try {
        $call();
        echo "accepted\n";
    } catch (Throwable $e) {
        echo get_class($e), ' ', $e->getCode(), ': ', $e->getMessage(), "\n";
    }
}
?>
--EXPECT--
object(Apus\WebSocket\Frame)#1 (5) {
  ["fd"]=>
  int(0)
  ["data"]=>
  string(0) ""
  ["opcode"]=>
  int(1)
  ["flags"]=>
  int(1)
  ["finish"]=>
  bool(true)
}
810548656c6c6f
820548656c6c6f
010348656c
8900
817e007e 817f0000000000010000
880603e873687574
88050bb8627965 88050bb8627965
object(Apus\WebSocket\CloseFrame)#3 (7) {
  ["fd"]=>
  int(0)
  ["data"]=>
  string(0) ""
  ["opcode"]=>
  int(8)
  ["flags"]=>
  int(1)
  ["finish"]=>
  bool(true)
  ["code"]=>
  int(3000)
  ["reason"]=>
  string(3) "bye"
}
bool(true)
int(39)
int(1)
bool(true)
bool(true)
bool(true)
int(1)
int(1)
bool(true)
bool(false)
bool(true)
int(33)
int(1)
bool(true)
bool(false)
bool(false)
bool(false)
not frames:
false false false false false false false false 
refused:
8800
Apus\Client\Exception 302: 3 is no opcode of WebSocket: use one of the constants Apus\WEBSOCKET_OPCODE_*
Apus\Client\Exception 302: -1 is no opcode of WebSocket: use one of the constants Apus\WEBSOCKET_OPCODE_*
Apus\Client\Exception 302: a text message must be UTF-8: send other bytes with WEBSOCKET_OPCODE_BINARY
Apus\Client\Exception 302: a control frame carries 125 bytes at most (RFC 6455 section 5.5)
TypeError 0: Apus\WebSocket\Frame::pack(): Argument #1 ($data) must be of type string or Apus\WebSocket\Frame, stdClass given
Apus\Client\Exception 302: 1006 may not stand in a close frame: use 1000 to 1003, 1007 to 1014 or 3000 to 4999
Apus\Client\Exception 302: the reason of a close frame has 123 bytes at most
Apus\Client\Exception 302: the reason of a close frame must be UTF-8
