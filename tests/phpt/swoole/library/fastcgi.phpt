--TEST--
The PHP library: a client of FastCGI, against a server made of the same records
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Coroutine\FastCGI\Client;
use Swoole\FastCGI\FrameParser;
use Swoole\FastCGI\HttpRequest;
use Swoole\FastCGI\Record;

foreach ([['a' => 'b', 'long' => str_repeat('x', 300)], []] as $values) {
    $text = (string) new Record\Params($values);
    var_dump(strlen($text) % 8, FrameParser::hasFrame($text), FrameParser::hasFrame(substr($text, 0, -1)));
    var_dump(FrameParser::parseFrame($text)->getContentLength(), $text);
}
$text = new Record\Params(['name' => 'value']) . new Record\EndRequest(0, 3);
var_dump(FrameParser::parseFrame($text)->getValues(), FrameParser::parseFrame($text)->getAppStatus());
// Lengths that are not true.
foreach (["\x01\x04\x00\x01\x00\x02\x00\x00\x05\x05", "\x01\x04\x00\x01\x00\x01\x00\x00\xff", "\x01\x99\x00\x01\x00\x00\x00\x00", 'short'] as $wrong) {
    try {
        FrameParser::parseFrame($wrong);
    } catch (RuntimeException | DomainException $e) {
        echo $e->getMessage(), "\n";
    }
}

Co\run(function (): void {
    $server = stream_socket_server('tcp://127.0.0.1:0');
    $port = (int) substr(strrchr(stream_socket_get_name($server, false), ':'), 1);
    Apus\go(function () use ($server): void {
        while ($client = @stream_socket_accept($server)) {
            $buffer = $body = '';
            $params = [];
            do {
                while (!FrameParser::hasFrame($buffer)) {
                    $buffer .= fread($client, 8192);
                }
                $record = FrameParser::parseFrame($buffer);
                if ($record instanceof Record\Params) {
                    $params += $record->getValues();
                    $isEnd = $record->getContentLength() === 0 && $params['CONTENT_LENGTH'] === '0';
                } elseif ($record instanceof Record\Stdin) {
                    $body .= $record->getContentData();
                    $isEnd = $record->getContentLength() === 0;
                } else {
                    $isEnd = false;
                }
            } while (!$isEnd);
            if ($params['SCRIPT_NAME'] === '/stop.php') {
                fclose($server);
                break;
            }
            fwrite($client, new Record\Stdout("Status: 201 Made\r\nX-Method: {$params['REQUEST_METHOD']}\r\nSet-Cookie: a=1\r\n"));
            fwrite($client, new Record\Stderr('a warning'));
            fwrite($client, new Record\Stdout("Set-Cookie: b=2\r\n\r\n" . strlen($body) . ' ' . md5($body) . ' ' . $params['QUERY_STRING']));
            fwrite($client, new Record\Stdout('') . new Record\EndRequest());
            fclose($client);
        }
    });
    echo Client::call("127.0.0.1:{$port}", '/srv/index.php?x=1'), "\n";
    $body = str_repeat('0123456789', 20000);
    var_dump(Client::call("tcp://127.0.0.1:{$port}", '/srv/index.php', $body) === '200000 ' . md5($body) . ' ');
    $request = (new HttpRequest())->withScriptName('/a.php')->withBody(['k' => 'v'])->withMethod('PUT');
    $request->withHeader('X-A', 'b');
    $response = (new Client('127.0.0.1', $port))->execute($request, 5);
    var_dump($response->getStatusCode(), $response->getReasonPhrase());
    var_dump($response->getHeader('x-method'), $response->getSetCookieHeaderLines());
    var_dump($response->getError(), $request->getHeaders(), $request->getContentType());
    try {
        Client::call("127.0.0.1:{$port}", '/srv/stop.php', '', 5);
    } catch (Client\Exception $e) {
        echo $e->getMessage(), "\n";
    }
    try {
        Client::call("127.0.0.1:{$port}", '/srv/index.php');
    } catch (Client\Exception $e) {
        echo $e->getMessage(), "\n";
    }
});
?>
--EXPECT--
int(0)
bool(true)
bool(false)
int(313)
string(0) ""
int(0)
bool(true)
bool(false)
int(0)
string(0) ""
array(1) {
  ["name"]=>
  string(5) "value"
}
int(3)
Can not unpack data from the binary buffer
Can not unpack data from the binary buffer
Invalid FastCGI record type 153 received
Not enough data in the buffer to parse
0 d41d8cd98f00b204e9800998ecf8427e x=1
bool(true)
int(201)
string(4) "Made"
string(3) "PUT"
array(2) {
  [0]=>
  string(3) "a=1"
  [1]=>
  string(3) "b=2"
}
string(9) "a warning"
array(1) {
  ["X-A"]=>
  string(1) "b"
}
string(33) "application/x-www-form-urlencoded"
Connection reset by peer
Connection refused
