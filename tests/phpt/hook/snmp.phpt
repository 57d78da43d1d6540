--TEST--
SNMP: one coroutine after another asks, each gets its own answer, by functions and by objects
--EXTENSIONS--
snmp
--ENV--
MIBS=
--FILE--
<?php
use Apus\Coroutine;
use function Apus\Coroutine\{batch, run};
use function Apus\go;

run(function () {
    // An agent: the answer to each question is the question, with an empty text for the null that stands for the value.
    $agent = stream_socket_server('udp://127.0.0.1:0', $code, $text, STREAM_SERVER_BIND);
    $at = stream_socket_get_name($agent, false);
    $waiting = $most = 0;
    $id = go(function () use ($agent, &$waiting, &$most) {
        while (($question = stream_socket_recvfrom($agent, 2000, 0, $from)) !== false) {
            $most = max($most, ++$waiting);
            go(function () use ($agent, $question, $from, &$waiting) {
                Coroutine::sleep(0.005);
                $waiting--;
                $at = strpos($question, "\xa0");
                $question[$at] = "\xa2";
                stream_socket_sendto($agent, substr($question, 0, -2) . "\x04\x00", 0, $from);
            });
        }
    });
    $ask = fn (int $n) => function () use ($n, $at) {
        if ($n % 2) {
            return snmp2_get($at, "community$n", "1.3.6.1.2.1.1.$n.0", 5_000_000, 0);
        }
        $session = new SNMP(SNMP::VERSION_2c, $at, "community$n", 5_000_000, 0);
        return json_encode($session->get(["1.3.6.1.2.1.1.$n.0"]));
    };
    foreach (batch(array_map($ask, range(1, 4))) as $answer) {
        echo $answer, "\n";
    }
    echo "at most $most at once\n";
    Coroutine::cancel($id);
});
?>
--EXPECT--
""
{"iso.3.6.1.2.1.1.2.0":"\"\""}
""
{"iso.3.6.1.2.1.1.4.0":"\"\""}
at most 1 at once
