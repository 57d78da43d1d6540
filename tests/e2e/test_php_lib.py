"""The PHP files of php/lib: what event loops wait with. Their drivers pass the suites of the loops' own repositories."""

import json

import support
from hooks import HookCase

LIB = json.dumps(str(support.HERE.parent.parent / "php" / "lib" / "src"))
PROGRAM = """<?php
require %s . '/Loop/Poll.php';
$program = function (): void {
    $poll = new Apus\\Loop\\Poll();
    $called = [];
    $call = function (string $name) use (&$called): Closure {
        return function () use ($name, &$called): void { $called[] = $name; };
    };
    $turn = function (?float $seconds) use ($poll, &$called): string {
        $called = [];
        foreach ($poll->wait($seconds) as $one) {
            $one();
        }
        sort($called);
        return implode(' ', $called);
    };
    [$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    [$c, $d] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    $poll->read($a, $call('a'));
    $poll->read($c, $call('c'));
    $out = [$turn(0.0), $turn(0.01)];
    fwrite($b, 'x');
    fwrite($d, 'x');
    // Both at once, and again as long as they are not read.
    array_push($out, $turn(null), $turn(0.0), $turn(null));
    fread($a, 1);
    $out[] = $turn(5.0);
    $poll->unread($c);
    $poll->write($a, $call('write'));
    $out[] = $turn(5.0);
    $poll->unwrite($a);
    // A stream that is closed is not watched any more; another one may have its number.
    fclose($c);
    fclose($d);
    fclose($b);
    $out[] = $turn(5.0);
    fclose($a);
    $out[] = $turn(0.01);
    // Files are always ready.
    $file = fopen(__FILE__, 'r');
    $poll->read($file, $call('file'));
    $out[] = $turn(null);
    $poll->unread($file);
    $poll->signal(SIGUSR1, $call('signal'));
    posix_kill(getmypid(), SIGUSR1);
    $out[] = $turn(5.0);
    $poll->unsignal(SIGUSR1);
    $pairs = [];
    $count = 0;
    for ($at = 0; $at < 600; $at++) {
        $pairs[] = $pair = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        $poll->read($pair[0], function () use ($pair, &$count): void { $count += strlen(fread($pair[0], 1)); });
    }
    foreach ($pairs as [, $to]) {
        fwrite($to, 'x');
    }
    while ($count < 600) {
        $turn(5.0);
    }
    $out[] = $count;
    // What is still watched keeps neither the coroutine's run() nor the script going.
    echo json_encode($out), "\\n";
};
$program();
Apus\\Coroutine\\run($program);
"""
TOLD = ["", "", "a c", "a c", "a c", "c", "write", "a", "", "file", "signal", 600]


class PhpLib(HookCase):
    def test_poll(self):
        path = self.scratch() / "poll.php"
        path.write_text(PROGRAM % LIB)
        told = [json.loads(line) for line in self.php(path, patience=60).splitlines()]
        self.assertEqual(told, [TOLD, TOLD])
