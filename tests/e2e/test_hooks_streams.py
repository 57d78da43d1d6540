"""Streams and sockets between coroutines of one process, and descriptors that are closed, reused or shared."""

import re
import tempfile

from hooks import FOLDER, HookCase, servers


class Talk(HookCase):
    """Client and server in one process: without hooks, each would wait for the other for ever."""

    def test_a_stream_server_and_100_clients(self):
        printed = self.inside("""
        $server = stream_socket_server('tcp://127.0.0.1:0');
        $address = stream_socket_get_name($server, false);
        go(function () use ($server) {
            for ($n = 0; $n < 100; $n++) {
                $stream = stream_socket_accept($server, 30);
                go(function () use ($stream) {
                    while (($line = fgets($stream)) !== false) { fwrite($stream, strrev(trim($line)) . "\\n"); }
                });
            }
        });
        echo json_encode(array_unique(batch(array_map(fn ($n) => function () use ($n, $address) {
            $stream = stream_socket_client("tcp://$address", $code, $text, 30);
            for ($i = 0; $i < 5; $i++) {
                fwrite($stream, "client $n, line $i\\n");
                if (fgets($stream) !== strrev("client $n, line $i") . "\\n") { return "wrong"; }
            }
            return true;
        }, range(1, 100)))));
        """)
        self.assertEqual(printed, "[true]")

    def test_both_ends_of_a_tls_handshake(self):
        printed = self.inside("""
        $context = stream_context_create(['ssl' => ['local_cert' => getenv('CERT'), 'local_pk' => getenv('KEY')]]);
        $server = stream_socket_server('tls://127.0.0.1:0', $code, $text, STREAM_SERVER_BIND | STREAM_SERVER_LISTEN, $context);
        $address = stream_socket_get_name($server, false);
        go(function () use ($server) {
            for ($n = 0; $n < 20; $n++) {
                $stream = stream_socket_accept($server, 30);
                go(function () use ($stream) {
                    $data = stream_get_contents($stream, 100_000);
                    fwrite($stream, md5($data));
                    fclose($stream);
                });
            }
        });
        echo json_encode(array_unique(batch(array_map(fn ($n) => function () use ($n, $address) {
            $context = stream_context_create(['ssl' => ['cafile' => getenv('CERT'), 'peer_name' => 'localhost']]);
            $stream = stream_socket_client("tls://$address", $code, $text, 30, STREAM_CLIENT_CONNECT, $context);
            $data = str_repeat(chr(65 + $n), 100_000);
            for ($sent = 0; $sent < 100_000; $sent += fwrite($stream, substr($data, $sent)));
            return stream_get_contents($stream) === md5($data);
        }, range(1, 20)))));
        """, env=dict(zip(("CERT", "KEY"), map(str, servers.certificate()))), ini=[f"openssl.cafile={servers.certificate()[0]}"])
        self.assertEqual(printed, "[true]")

    def test_more_than_a_socket_holds(self):
        # Writing waits until the other end has read.
        printed = self.inside("""
        foreach (['stream', 'socket'] as $kind) {
            if ($kind === 'stream') {
                [$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
            } else {
                socket_create_pair(AF_UNIX, SOCK_STREAM, 0, $pair);
                [$a, $b] = $pair;
            }
            $data = random_bytes(3_000_000);
            [$sent, $got] = batch([
                function () use ($kind, $a, $data) {
                    for ($sent = 0; $sent < strlen($data); $sent += $n) {
                        $n = $kind === 'stream' ? fwrite($a, substr($data, $sent)) : socket_write($a, substr($data, $sent));
                    }
                    $kind === 'stream' ? stream_socket_shutdown($a, STREAM_SHUT_WR) : socket_shutdown($a, 1);
                    return $sent;
                },
                function () use ($kind, $b) {
                    for ($got = ''; ($part = $kind === 'stream' ? fread($b, 100_000) : socket_read($b, 100_000)) !== '' && $part !== false; $got .= $part);
                    return $got;
                },
            ]);
            echo $sent, $got === $data ? ' whole ' : ' broken ';
        }
        """)
        self.assertEqual(printed, "3000000 whole 3000000 whole ")

    def test_one_reads_while_another_writes(self):
        # Two directions of one connection are no conflict.
        printed = self.inside("""
        $c = lines();
        $reader = go(function () use ($c) { echo fgets($c); });
        go(function () use ($c) { fwrite($c, "echo both ways\\n"); });
        Coroutine::join([$reader]);
        $s = line_socket();
        $reader = go(function () use ($s) { echo socket_read($s, 100); });
        go(function () use ($s) { socket_write($s, "echo both ways\\n"); });
        Coroutine::join([$reader]);
        """, kinds=(servers.Slow,))
        self.assertEqual(printed, "both ways\nboth ways\n")

    def test_stream_select_serves_many(self):
        printed = self.inside("""
        $pairs = array_map(fn () => stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0), range(1, 100));
        foreach ($pairs as $n => [$a, $b]) {
            go(function () use ($n, $b) { usleep(1000 * (100 - $n)); fwrite($b, (string) $n); fclose($b); });
        }
        $open = array_column($pairs, 0);
        $order = [];
        while ($open) {
            $read = $open;
            $write = $except = null;
            if (!stream_select($read, $write, $except, 30)) { break; }
            foreach ($read as $n => $stream) {
                $data = fread($stream, 10);
                $data === '' ? $open = array_diff_key($open, [$n => 1]) : $order[] = (int) $data;
            }
        }
        sort($order);
        echo json_encode($order === range(0, 99));
        """)
        self.assertEqual(printed, "true")

    def test_the_sockets_extension_accepts_in_a_coroutine(self):
        printed = self.inside("""
        $server = socket_create_listen(0, 128);
        socket_getsockname($server, $host, $port);
        go(function () use ($server) {
            for ($n = 0; $n < 50; $n++) {
                $socket = socket_accept($server);
                go(function () use ($socket) { socket_write($socket, strtoupper(socket_read($socket, 100))); });
            }
        });
        echo json_encode(array_unique(batch(array_map(fn ($n) => function () use ($n, $port) {
            $socket = socket_create(AF_INET, SOCK_STREAM, SOL_TCP);
            socket_connect($socket, '127.0.0.1', $port);
            socket_write($socket, "client $n");
            return socket_read($socket, 100) === "CLIENT $n";
        }, range(1, 50)))));
        """)
        self.assertEqual(printed, "[true]")

    def test_a_child_that_is_fed_and_read_at_once(self):
        # More than the pipes hold: whoever writes waits for the child, which waits for whoever reads.
        printed = self.inside("""
        $process = proc_open(['cat'], [['pipe', 'r'], ['pipe', 'w']], $pipes);
        $data = random_bytes(3_000_000);
        [$sent, $got] = batch([
            function () use ($pipes, $data) {
                $sent = fwrite($pipes[0], $data);
                fclose($pipes[0]);
                return $sent;
            },
            fn () => stream_get_contents($pipes[1]),
        ]);
        echo $sent, $got === $data ? ' whole ' : ' broken ', proc_close($process), ' ', strlen(shell_exec('head -c 3000000 /dev/zero'));
        """, ini=["memory_limit=256M"])
        self.assertEqual(printed, "3000000 whole 0 3000000")

    def test_standard_input(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        printed = self.inside(f"$ticked = '{folder}/ticked';" + """
        $ticks = 0;
        $ticker = go(function () use (&$ticks, $ticked) {
            while (true) {
                usleep(1000);
                ++$ticks === 6 && touch($ticked);
            }
        });
        $line = fgets(STDIN);
        Coroutine::cancel($ticker, true);
        echo trim($line), $ticks > 5 ? ' ticked' : " only $ticks ticks";
        """, wrapper=("sh", "-c", f'(for n in $(seq 400); do [ -e {folder}/ticked ] && break; sleep 0.05; done; echo typed) | "$0" "$@"'))
        self.assertEqual(printed, "typed ticked")

    def test_udp_between_coroutines(self):
        printed = self.inside("""
        $server = stream_socket_server('udp://127.0.0.1:0', $code, $text, STREAM_SERVER_BIND);
        $address = stream_socket_get_name($server, false);
        go(function () use ($server) {
            for ($n = 0; $n < 20; $n++) {
                $data = stream_socket_recvfrom($server, 100, 0, $from);
                stream_socket_sendto($server, strrev($data), 0, $from);
            }
        });
        echo json_encode(array_unique(batch(array_map(fn ($n) => function () use ($n, $address) {
            $client = stream_socket_client("udp://$address");
            fwrite($client, "client $n");
            return fread($client, 100) === strrev("client $n");
        }, range(1, 20)))));
        """)
        self.assertEqual(printed, "[true]")


class Descriptors(HookCase):
    def test_a_reused_descriptor_never_wakes_the_wrong_coroutine(self):
        # The kernel gives the lowest free number: each turn reuses those of the turn before, while others wait on
        # theirs.
        printed = self.inside("""
        $wrong = 0;
        $kept = array_map(fn () => stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0), range(1, 10));
        $waiting = array_map(function ($n) use ($kept, &$wrong) {
            return go(function () use ($n, $kept, &$wrong) { $wrong += fgets($kept[$n][0]) !== "for $n\\n"; });
        }, array_keys($kept));
        for ($turn = 0; $turn < 200; $turn++) {
            [$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
            $reader = go(function () use ($a, $turn, &$wrong) {
                $wrong += fread($a, 100) !== "turn $turn";
            });
            if ($turn % 2) {
                Coroutine::cancel($reader);
                $wrong--;
                Coroutine::join([$reader]);
            } else {
                fwrite($b, "turn $turn");
                Coroutine::join([$reader]);
            }
            fclose($a);
            fclose($b);
        }
        foreach ($kept as $n => [$a, $b]) { fwrite($b, "for $n\\n"); }
        Coroutine::join($waiting, 20);
        echo $wrong, ' of ', $turn;
        """)
        self.assertEqual(printed, "0 of 200")

    def test_a_socket_closed_and_replaced_while_one_waits(self):
        # dup2 by the shell is out of reach of PHP; a child that lives on keeps the old socket open behind the number.
        printed = self.inside("""
        [$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        $holder = proc_open(['sleep', '20'], [['pipe', 'r'], $a, $b], $pipes);
        $seen = [];
        $first = go(function () use ($a, &$seen) { $seen['first'] = json_encode(@fread($a, 10)); });
        Coroutine::cancel($first);
        Coroutine::join([$first]);
        fclose($a);
        [$c, $d] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        $second = go(function () use ($c, &$seen) { $seen['second'] = fread($c, 10); });
        fwrite($b, 'old');
        Coroutine::sleep(0.02);
        $seen['before'] = isset($seen['second']);
        fwrite($d, 'new');
        Coroutine::join([$second], 20);
        proc_terminate($holder);
        proc_close($holder);
        echo json_encode($seen);
        """)
        self.assertRegex(printed, r'^\{"first":"(false|\\"\\")","before":false,"second":"new"\}$')

    def test_a_descriptor_that_lives_on_in_a_child(self):
        # Its end is announced while its number is a socket's here: nobody who waits for that may take it for theirs.
        printed = self.inside("""
        $writer = popen('exec sleep 0.3', 'r');
        $id = go(function () use ($writer) { @fread($writer, 1); });
        usleep(20_000);
        $holder = proc_open(['sleep', '20'], [], $pipes);
        Coroutine::cancel($id);
        Coroutine::join([$id]);
        $closer = go(function () use (&$writer) { pclose($writer); });
        usleep(20_000);
        $told = [];
        $pairs = array_map(fn () => stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0), range(0, 3));
        $readers = [];
        foreach ($pairs as $n => $pair) {
            foreach ($pair as $end => $stream) {
                $readers[] = go(function () use ($n, $end, $stream, &$told) { $told["$n $end"] = fgets($stream); });
            }
        }
        Coroutine::join([$closer]);
        usleep(50_000);
        echo count($told), ' ';
        foreach ($pairs as $n => $pair) {
            foreach ($pair as $end => $stream) { fwrite($stream, "to $n " . (1 - $end) . "\\n"); }
        }
        Coroutine::join($readers, 20);
        foreach ($told as $who => $line) { echo $line === "to $who\\n" ? '' : "$who got " . json_encode($line) . ' '; }
        echo count($told);
        proc_terminate($holder);
        """)
        self.assertEqual(printed, "0 8")

    def closed_while_reading(self, make, read, close):
        return self.inside(f"""
        [$a, $b] = {make};
        $told = [];
        $reader = go(function () use ($a, &$told) {{
            $told['reader'] = told(fn () => {read});
        }});
        $closer = go(function () use (&$a, &$told) {{
            $told['closer'] = told(fn () => {close});
        }});
        Coroutine::sleep(0.02);
        $told['ended'] = isset($told['reader']);
        isset($told['reader']) || Coroutine::cancel($reader);
        Coroutine::join([$reader, $closer], 10);
        // The number is free again: what comes now has to work.
        [$c, $d] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        fwrite($d, 'healthy');
        $told['after'] = fread($c, 100);
        echo json_encode($told);
        """)

    def test_a_stream_closed_while_another_reads(self):
        printed = self.closed_while_reading("stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0)", "fread($a, 10)", "fclose($a)")
        self.assertIn('"after":"healthy"', printed)
        # Either closing is refused with a word about both, or the reader is told at once; never does it read on what
        # came later.
        self.assertRegex(printed, r'ConflictException|"reader":"[^"]*(false|\\"\\")","closer":"true","ended":true')

    def test_a_socket_closed_while_another_reads(self):
        printed = self.closed_while_reading("(function () { socket_create_pair(AF_UNIX, SOCK_STREAM, 0, $p); return $p; })()", "socket_read($a, 10)", "socket_close($a)")
        self.assertIn('"after":"healthy"', printed)
        self.assertRegex(printed, r'ConflictException|"reader":"[^"]*(false|\\"\\")","closer":"null","ended":true')

    def test_connections_closed_and_dropped_while_another_uses_them(self):
        # Closing is refused with a word about both; dropping the last variable leaves the object to the call on it.
        printed = self.inside("""
        $waits = require getenv('WAITS');
        $close = [
            'mysqli' => fn ($c) => $c->close(), 'pgsql' => fn ($c) => pg_close($c), 'phpredis' => fn ($c) => $c->close(), 'memcached' => fn ($c) => $c->quit(),
            'stream' => fn ($c) => fclose($c), 'tls' => fn ($c) => fclose($c), 'socket' => fn ($c) => socket_close($c), 'curl kept' => fn ($c) => curl_reset($c), 'pdo_mysql' => null, 'pdo_pgsql' => null,
        ];
        foreach ($close as $name => $close) {
            $on = ($waits[$name]->make)();
            $id = go(function () use (&$on, $waits, $name, &$result) {
                $result = ($waits[$name]->call)($on, 0.1) === $waits[$name]->want;
            });
            try {
                $told = $close ? json_encode($close($on)) : 'dropped';
            } catch (ConflictException $e) {
                $told = 'refused';
            }
            $on = null;
            gc_collect_cycles();
            Coroutine::join([$id]);
            echo "$name $told ", json_encode($result), "\n";
        }
        """, kinds=(servers.MariaDB, servers.PostgreSQL, servers.Redis, servers.Slow), env={"WAITS": str(FOLDER / "waits.php")})
        told = dict(line.rsplit(" ", 2)[::2] for line in printed.splitlines())
        self.assertEqual(len(told), 10, printed)
        self.assertEqual(set(told.values()), {"true"}, printed)
        self.assertEqual(printed.count("refused"), 8, printed)

    def test_many_descriptors_at_once(self):
        # More than select() could ever watch.
        printed = self.inside("""
        $pairs = array_map(fn () => stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0), range(1, 1200));
        $got = 0;
        $ids = array_map(function ($pair) use (&$got) {
            return go(function () use ($pair, &$got) { $got += (int) fgets($pair[0]); });
        }, $pairs);
        foreach ($pairs as $n => $pair) { fwrite($pair[1], "$n\\n"); }
        Coroutine::join($ids, 30);
        echo $got;
        """, wrapper=("prlimit", "--nofile=4096:4096"))
        self.assertEqual(printed, str(sum(range(1200))))

    def test_a_child_process_of_a_waiting_coroutine(self):
        # fork() in a program whose coroutines wait: the child's waits are its own.
        printed = self.inside("""
        [$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        $waiting = go(function () use ($a) { echo fgets($a); });
        $out = shell_exec('sleep 0.05; echo of a child');
        fwrite($b, "of the pair\\n");
        Coroutine::join([$waiting]);
        echo $out;
        """)
        self.assertEqual(printed, "of the pair\nof a child\n")


class Together(HookCase):
    """What many may do with one stream."""

    def test_many_wait_for_the_same_server(self):
        printed = self.inside("""
        $server = stream_socket_server('tcp://127.0.0.1:0');
        $address = stream_socket_get_name($server, false);
        foreach (range(1, 5) as $n) {
            go(function () use ($address, $n) {
                usleep(1000 * $n);
                $c = stream_socket_client("tcp://$address");
                fwrite($c, "client $n");
                fread($c, 1);
            });
        }
        $got = batch(array_fill(0, 5, fn () => fread(stream_socket_accept($server, 20), 100)));
        sort($got);
        echo implode(', ', $got);
        """)
        self.assertEqual(printed, "client 1, client 2, client 3, client 4, client 5")

    def test_many_select_the_same_stream(self):
        printed = self.inside("""
        [$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        go(function () use ($b) { usleep(5000); fwrite($b, 'x'); });
        echo json_encode(batch(array_fill(0, 5, function () use ($a) {
            $read = [$a];
            $write = $except = null;
            return stream_select($read, $write, $except, 20);
        })));
        """)
        self.assertEqual(printed, "[1,1,1,1,1]")

    def test_asking_about_a_stream_that_another_reads(self):
        printed = self.inside("""
        $c = lines();
        $id = go(function () use ($c) { echo fgets($c); });
        echo json_encode([feof($c), stream_get_meta_data($c)['timed_out'], stream_set_timeout($c, 60), get_resource_type($c), stream_socket_get_name($c, true) !== '']), "\n";
        fwrite($c, "echo still here\n");
        Coroutine::join([$id]);
        $id = go(function () use ($c) { echo json_encode(fgets($c)); });
        stream_socket_shutdown($c, STREAM_SHUT_RDWR);
        Coroutine::join([$id], 20);
        """, kinds=(servers.Slow,))
        self.assertEqual(printed, '[false,false,true,"stream",true]\nstill here\nfalse')


class Errors(HookCase):
    def test_a_conflict_tells_what_each_does(self):
        printed = self.inside("""
        [$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        $first = go(function () use ($a) { fgets($a); });
        $second = go(function () use ($a) {
            try { fread($a, 1); } catch (ConflictException $e) { echo Coroutine::getCid(), ' ', $e->getMessage(); }
        });
        echo " ($first)";
        fwrite($b, "x\\n");
        """)
        match = re.match(r"(\d+) (.*) \((\d+)\)$", printed, re.S)
        self.assertTrue(match, printed)
        second, message, first = match.groups()
        self.assertRegex(message, rf"coroutine {first}\b")
        self.assertRegex(message, rf"coroutine {second}\b")

    def test_sigpipe_never_kills(self):
        printed = self.inside("""
        [$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        $writer = go(function () use ($a) {
            for ($n = 0; ($wrote = @fwrite($a, str_repeat('x', 100_000))) !== false && $n < 100; $n++);
            echo json_encode($wrote);
        });
        fclose($b);
        Coroutine::join([$writer], 10);
        """)
        self.assertEqual(printed, "false")
