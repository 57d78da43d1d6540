"""Nothing changes: results, warnings, errors and their numbers are those of plain PHP, outside coroutines and in them,
byte for byte."""

from hooks import OUTSIDE, PLAIN, HookCase, servers

# An address that nothing listens on, with a name for it in what is printed.
REFUSED = "$refused = (int) getenv('REFUSED'); $nowhere = '127.0.0.1';"


class Same(HookCase):
    def told(self, body, *kinds, **options):
        """Runs the lines of `name => call` in each mode; one line of output each."""
        free = {"REFUSED": str(servers.free_port())}
        printed = self.same(f"{REFUSED}\n{body}", kinds=(servers.Slow, *kinds), env=free, **options)
        return printed.splitlines()

    def lines(self, calls, *kinds, before="", **options):
        lines = "\n".join(f"echo told(function () use (&$c, $refused, $nowhere) {{ {call} }}), \"\\n\";" for call in calls)
        told = self.told(f"{before}\n{lines}", *kinds, **options)
        self.assertEqual(len(told), len(calls), told)
        return told


class MySQL(Same):
    def test_pdo_mysql(self):
        told = self.lines([
            "new PDO(\"mysql:host=$nowhere;port=$refused\", 'a', 'b');",
            "new PDO('mysql:unix_socket=/nonexistent/socket', 'a', 'b');",
            "new PDO('mysql:host=127.0.0.1;port=' . at('MARIADB_PORT'), 'tester', 'wrong');",
            "pdo_mysql([], 'no_such');",
            "$c = pdo_mysql(); return $c->query('SELEC 1');",
            "return $c->query('SELECT * FROM no_such_table');",
            "return $c->exec('CREATE TEMPORARY TABLE t (id INT PRIMARY KEY, v TEXT)');",
            "return [$c->exec(\"INSERT INTO t VALUES (1, 'é'), (2, NULL)\"), $c->query('SELECT * FROM t')->fetchAll(PDO::FETCH_ASSOC)];",
            "return $c->exec('INSERT INTO t VALUES (1, 1)');",
            "return $c->query('SELECT 1, 2.5, NULL, \"x\"')->fetch(PDO::FETCH_NUM);",
            "$c->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_WARNING); return [$c->query('SELEC 2'), $c->errorInfo()];",
            "$c->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_SILENT); return [$c->query('SELEC 3'), $c->errorCode()];",
        ], servers.MariaDB)
        self.assertIn("Connection refused", told[0])
        self.assertIn("Access denied", told[2])
        self.assertIn("1064", told[4])

    def test_a_server_that_goes_away(self):
        told = self.lines([
            "$c = pdo_mysql(); $id = $c->query('SELECT CONNECTION_ID()')->fetchColumn(); pdo_mysql()->exec(\"KILL $id\"); return $c->query('SELECT 1');",
            "return $c->query('SELECT 1');",
            "$c = my_sqli(); my_sqli()->query('KILL ' . $c->thread_id); return [$c->query('SELECT 1'), $c->errno, $c->error];",
            "return [$c->query('SELECT 1'), $c->errno, $c->error];",
        ], servers.MariaDB)
        self.assertIn("2006", told[0])

    def test_mysqli(self):
        told = self.lines([
            "return [new mysqli($nowhere, 'a', 'b', 'c', $refused), mysqli_connect_errno(), mysqli_connect_error()][1];",
            "mysqli_report(MYSQLI_REPORT_ERROR | MYSQLI_REPORT_STRICT); new mysqli($nowhere, 'tester', 'wrong', 'test', (int) at('MARIADB_PORT'));",
            "$c = my_sqli(); return [$c->query('SELEC 1'), $c->errno, $c->error, $c->sqlstate];",
            "return [$c->multi_query('SELECT 1; SELECT 2'), $c->store_result()->fetch_all(), $c->next_result(), $c->store_result()->fetch_all()];",
            "return [$c->real_query('SELECT 5'), $c->use_result()->fetch_row(), $c->ping(), $c->stat() !== ''];",
            "return [$c->begin_transaction(), $c->rollback(), $c->autocommit(true), $c->select_db('no_such'), $c->error];",
            "return [$c->change_user('tester', 'wrong', 'test'), $c->errno, $c->error];",
        ], servers.MariaDB)
        self.assertIn("Connection refused", told[0])

    def test_a_read_times_out(self):
        told = self.lines([
            "mysqli_report(MYSQLI_REPORT_OFF); $c = mysqli_init(); $c->options(MYSQLI_OPT_READ_TIMEOUT, 1); $c->real_connect($nowhere, 'tester', 's3cret', 'test', (int) at('MARIADB_PORT')); $begin = hrtime(true);"
            "$result = $c->query('SELECT SLEEP(20)'); $seconds = since($begin); return [$result, $c->errno, $c->error, $seconds > 0.9 && $seconds < 5];",
        ], servers.MariaDB)
        self.assertIn("true]", told[0])


class PostgreSQL(Same):
    def test_pdo_pgsql(self):
        told = self.lines([
            "new PDO(\"pgsql:host=$nowhere;port=$refused;dbname=test;user=a\");",
            "new PDO('pgsql:host=/nonexistent;dbname=test;user=a');",
            "new PDO('pgsql:host=127.0.0.1;port=' . at('POSTGRESQL_PORT') . ';dbname=test', 'tester', 'wrong');",
            "return (new PDO('pgsql:host=127.0.0.1;port=' . at('POSTGRESQL_PORT') . ';dbname=test', 'tester', 's3cret'))->query('SELECT current_user')->fetchColumn();",
            "pdo_pgsql(';dbname=no_such');",
            "$c = pdo_pgsql(); return $c->query('SELEC 1');",
            "return $c->query('SELECT 1/0');",
            "return $c->query(\"SELECT 1, 2.5, NULL, 'x', true\")->fetch(PDO::FETCH_NUM);",
            "$s = $c->prepare('SELECT ?::int + 1'); $s->execute([41]); return $s->fetchColumn();",
            "$id = $c->query('SELECT pg_backend_pid()')->fetchColumn(); pdo_pgsql()->query(\"SELECT pg_terminate_backend($id, 5000)\"); return $c->query('SELECT 1');",
            "return $c->query('SELECT 1');",
        ], servers.PostgreSQL)
        self.assertIn("Connection refused", told[0])
        self.assertIn("password authentication failed", told[2])
        self.assertIn("terminating connection", told[9])

    def test_pgsql(self):
        told = self.lines([
            "return pg_connect(\"host=$nowhere port=$refused dbname=test user=a\");",
            "$c = my_pgsql(); return [pg_query($c, 'SELEC 1'), pg_last_error($c)];",
            "return pg_fetch_all(pg_query_params($c, 'SELECT $1::int AS n, $2::text AS t', [7, 'seven']));",
            "return [pg_prepare($c, 'p', 'SELECT $1::int * 2') !== false, pg_fetch_result(pg_execute($c, 'p', [21]), 0, 0)];",
            "return [pg_ping($c), pg_connection_busy($c), pg_transaction_status($c), pg_get_notify($c), pg_parameter_status($c, 'server_encoding')];",
            "return [pg_send_query($c, 'SELECT 1; SELECT 2'), pg_fetch_all(pg_get_result($c)), pg_fetch_all(pg_get_result($c)), pg_get_result($c)];",
            "pg_query(my_pgsql(), 'SELECT pg_terminate_backend(' . pg_get_pid($c) . ', 5000)'); return [pg_query($c, 'SELECT 1'), pg_connection_status($c)];",
        ], servers.PostgreSQL)
        self.assertIn("Connection refused", told[0])


class Stores(Same):
    def test_phpredis(self):
        told = self.lines([
            "$c = new Redis(); return $c->connect($nowhere, $refused);",
            "$c = new Redis(); return $c->connect('/nonexistent/socket');",
            "$c = phpredis(); return $c->auth(['tester', 'wrong']);",
            "return [$c->set(KEY, \"a\\0b\"), $c->get(KEY), $c->get('no such'), $c->incr(KEY)];",
            "return [$c->getLastError(), $c->rawCommand('NO.SUCH'), $c->getLastError()];",
            "return $c->multi()->set(KEY, 1)->incr(KEY)->get(KEY)->exec();",
            "$c->setOption(Redis::OPT_READ_TIMEOUT, 0.2); $begin = hrtime(true); try { $c->rawCommand('BLPOP', 'nothing', '20'); } finally { $in_time = since($begin); echo json_encode($in_time > 0.15 && $in_time < 3), ' '; }",
            "$c = phpredis(); $c->setOption(Redis::OPT_MAX_RETRIES, 0); $id = $c->rawCommand('CLIENT', 'ID'); phpredis()->rawCommand('CLIENT', 'KILL', 'ID', (string) $id); return $c->get(KEY);",
        ], servers.Redis)
        self.assertIn("Connection refused", told[0])
        self.assertRegex(told[6], "^true RedisException")

    def test_predis(self):
        told = self.lines([
            "require 'Predis/autoload.php'; (new Predis\\Client(['host' => $nowhere, 'port' => $refused]))->ping();",
            "$c = predis(); return [(string) $c->set(KEY, 'x'), $c->get(KEY), $c->get('no such')];",
            "return $c->incr(KEY);",
            "$c = new Predis\\Client(['host' => $nowhere, 'port' => (int) at('REDIS_PORT'), 'read_write_timeout' => 0.2]); return $c->blpop(['nothing'], 20);",
            "return [$c->isConnected(), $c->getConnection()->getParameters()->read_write_timeout];",
        ], servers.Redis)
        self.assertIn("Connection refused", told[0])

    def test_memcached(self):
        told = self.lines([
            "$c = new Memcached(); $c->addServer($nowhere, $refused); return [$c->get('a'), $c->getResultCode(), $c->getResultMessage()];",
            "$c = memcached(); return [$c->set(KEY, ['x' => 1.5]), $c->get(KEY), array_values($c->getMulti([KEY, 'no such'])), $c->getResultCode()];",
            "return [$c->add(KEY, 1), $c->getResultCode(), $c->increment(KEY . 'n', 2, 5), $c->increment(KEY . 'n', 2, 5), $c->delete(KEY . 'n'), $c->delete(KEY . 'n'), $c->getResultMessage()];",
            "$c = memcached('SLOW_LINES'); $c->setOption(Memcached::OPT_POLL_TIMEOUT, 150); $c->setOption(Memcached::OPT_RECV_TIMEOUT, 150000); $begin = hrtime(true); $r = $c->get('sleep:20'); return [$r, $c->getResultMessage(), since($begin) < 5];",
        ], servers.Memcached)
        self.assertIn("true]", told[3])

    def test_sqlite(self):
        told = self.lines([
            "$f = scratch(); $c = new PDO(\"sqlite:$f\"); $c->exec('CREATE TABLE t (x)'); $c->exec('BEGIN EXCLUSIVE'); $d = new PDO(\"sqlite:$f\"); $d->setAttribute(PDO::ATTR_TIMEOUT, 1); $begin = hrtime(true);"
            "try { $d->query('SELECT 1 FROM t'); } finally { echo json_encode(since($begin) > 0.9 && since($begin) < 4), ' '; }",
            "$d = new SQLite3(':memory:'); return [$d->exec('CREATE TABLE t (x)'), @$d->exec('CREAT'), $d->lastErrorCode(), $d->lastErrorMsg(), $d->querySingle('SELECT 1+1')];",
            "return new PDO('sqlite:/nonexistent/x');",
        ])
        self.assertIn("database is locked", told[0])


class Web(Same):
    def test_curl(self):
        # Which of its two looks at the clock finds a connection too late is chance: each has words of its own.
        ask = "$h = %s; curl_setopt_array($h, [%s]); $r = curl_exec($h); return [$r, curl_errno($h), preg_replace(['/after \\d+ m(illi)?s(econds)?/', '/Failed to connect to [\\d.]+ port \\d+ (after some time): Timeout was reached/'], ['after some time', 'Connection timeout $1'], curl_error($h)), curl_getinfo($h, CURLINFO_RESPONSE_CODE)];"
        told = self.lines([
            ask % ("curl_init(\"http://127.0.0.1:$refused/\")", ""),
            ask % ("curl('/status/404')", ""),
            ask % ("curl('/cut')", ""),
            ask % ("curl('/reset')", ""),
            ask % ("curl('/never')", "CURLOPT_TIMEOUT_MS => 150"),
            ask % ("curl_init('http://127.0.0.1:' . at('SLOW_FULL'))", "CURLOPT_CONNECTTIMEOUT_MS => 150"),
            ask % ("curl('/echo', true)", "CURLOPT_CAINFO => '/etc/hostname'"),
            ask % ("curl('/bytes/300000', true)", "CURLOPT_RETURNTRANSFER => true, CURLOPT_WRITEFUNCTION => fn ($h, $d) => strlen($d)"),
            ask % ("curl('/redirect')", "CURLOPT_FOLLOWLOCATION => true, CURLOPT_HTTPHEADER => ['Accept: x'], CURLOPT_USERAGENT => 'u', CURLOPT_POSTFIELDS => str_repeat('p', 70000), CURLOPT_NOBODY => true"),
            ask % ("curl_init('no-such-scheme://a')", ""),
        ])
        self.assertIn("Operation timed out", told[4])

    def test_curl_multi(self):
        self.lines([
            "$m = curl_multi_init(); $hs = [curl('/bytes/10'), curl('/reset'), curl_init(\"http://127.0.0.1:$refused/\"), curl('/echo', true)]; foreach ($hs as $h) curl_multi_add_handle($m, $h);"
            "do { $code = curl_multi_exec($m, $running); $running && curl_multi_select($m); } while ($running && $code === CURLM_OK);"
            "for ($out = []; $i = curl_multi_info_read($m);) $out[array_search($i['handle'], $hs, true)] = $i['result']; ksort($out); return [$out, curl_multi_getcontent($hs[0])];",
            "$m = curl_multi_init(); $begin = hrtime(true); return [curl_multi_select($m, 0.05), since($begin) < 3];",
        ])

    def test_http_streams(self):
        told = self.lines([
            "return file_get_contents(\"http://127.0.0.1:$refused/\");",
            "return file_get_contents('http://127.0.0.1:' . at('SLOW_PORT') . '/status/404');",
            "return [file_get_contents('http://127.0.0.1:' . at('SLOW_PORT') . '/status/404', false, stream_context_create(['http' => ['ignore_errors' => true]])), preg_grep('/^X-/', $http_response_header, PREG_GREP_INVERT)];",
            "return file_get_contents('http://127.0.0.1:' . at('SLOW_PORT') . '/cut');",
            "return file_get_contents('http://127.0.0.1:' . at('SLOW_PORT') . '/reset');",
            "return file_get_contents('https://127.0.0.1:' . at('SLOW_HTTPS') . '/echo');",
            "return file_get_contents('https://localhost:' . at('SLOW_HTTPS') . '/bytes/20', false, https_context());",
            "return strlen(file_get_contents('https://localhost:' . at('SLOW_HTTPS') . '/bytes/500000', false, https_context()));",
            "$f = fopen('http://127.0.0.1:' . at('SLOW_PORT') . '/never', 'r', false, stream_context_create(['http' => ['timeout' => 0.15]])); return $f;",
            "ini_set('default_socket_timeout', '1'); $begin = hrtime(true); $r = file_get_contents('http://127.0.0.1:' . at('SLOW_PORT') . '/never'); return [$r, since($begin) > 0.9 && since($begin) < 5];",
        ])
        self.assertIn("Connection refused", told[0])
        self.assertIn("true]", told[9])


class Streams(Same):
    def test_clients(self):
        told = self.lines([
            "$r = stream_socket_client(\"tcp://127.0.0.1:$refused\", $code, $text, 5); return [$r, $code, $text];",
            "$r = fsockopen('127.0.0.1', $refused, $code, $text, 5); return [$r, $code, $text];",
            "$r = fsockopen('unix:///nonexistent/socket', -1, $code, $text); return [$r, $code, $text];",
            "$begin = hrtime(true); $r = stream_socket_client('tcp://127.0.0.1:' . at('SLOW_FULL'), $code, $text, 0.2); return [$r, $code, $text, since($begin) > 0.15 && since($begin) < 3];",
            "$c = lines(); fwrite($c, \"echo hello\\n\"); return [fgets($c), feof($c), stream_get_meta_data($c)];",
            "fwrite($c, \"half\\n\"); stream_set_timeout($c, 0, 150000); $begin = hrtime(true); return [fgets($c), stream_get_meta_data($c)['timed_out'], since($begin) > 0.1 && since($begin) < 3];",
            "return [fread($c, 10), stream_get_meta_data($c)['timed_out'], feof($c)];",
            "fwrite($c, \"close\\n\"); stream_set_timeout($c, 60); return [fread($c, 10), feof($c), stream_get_meta_data($c)['eof']];",
            "$c = lines(); fwrite($c, \"reset\\n\"); return [fread($c, 10), feof($c)];",
            "$c = lines(); fwrite($c, \"bytes 200000\\n\"); return [strlen(stream_get_contents($c, 200000)), md5(fwrite($c, \"echo x\\n\") . fgets($c))];",
            "$c = lines(); stream_set_blocking($c, false); return [fread($c, 10), fgets($c), feof($c), stream_get_meta_data($c)['blocked']];",
            "$c = lines(); return [stream_socket_shutdown($c, STREAM_SHUT_WR), fread($c, 10), feof($c)];",
            "$c = lines(); fclose($c); return fread($c, 1);",
            "return stream_socket_client('nonsense://x');",
        ])
        self.assertIn("Connection refused", told[0])

    def test_broken_pipe(self):
        told = self.lines([
            "[$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0); fclose($b); return [fwrite($a, 'x'), fwrite($a, 'y'), fread($a, 1), feof($a)];",
            "$p = popen('exec true', 'w'); for ($n = 0; $n < 1000 && ($w = @fwrite($p, str_repeat('x', 70000))) !== false; $n++); return [$w, pclose($p)];",
        ])
        self.assertIn("Broken pipe", told[0])

    def test_tls(self):
        told = self.lines([
            "$c = stream_socket_client('tls://127.0.0.1:' . at('SLOW_TLS'), $code, $text, 10); return [$c, $code, $text];",
            "$c = lines('tls', 'SLOW_TLS'); fwrite($c, \"echo over tls\\n\"); return [fgets($c), stream_get_meta_data($c)['stream_type']];",
            "fwrite($c, \"bytes 300000\\n\"); return strlen(stream_get_contents($c, 300000));",
            "stream_set_timeout($c, 0, 150000); return [fread($c, 10), stream_get_meta_data($c)['timed_out']];",
            "stream_set_blocking($c, false); return [fread($c, 10), feof($c)];",
            "$begin = hrtime(true); $r = stream_socket_client('tls://127.0.0.1:' . at('SLOW_LINES'), $code, $text, 0.3); return [$r, $code, $text, since($begin) < 3];",
            "$c = lines(); return [stream_socket_enable_crypto($c, true, STREAM_CRYPTO_METHOD_TLS_CLIENT)];",
        ])
        self.assertIn("certificate verify failed", told[0])

    def test_select_and_servers(self):
        told = self.lines([
            "$s = stream_socket_server('tcp://127.0.0.1:0'); $begin = hrtime(true); return [stream_socket_accept($s, 0.15), since($begin) > 0.1 && since($begin) < 3];",
            "$s = stream_socket_server('tcp://127.0.0.1:0'); $c = stream_socket_client('tcp://' . stream_socket_get_name($s, false)); $a = stream_socket_accept($s, 5); fwrite($c, 'hi'); return [fread($a, 2), fwrite($a, 'ho'), fread($c, 2)];",
            "return stream_socket_server('tcp://127.0.0.1:' . at('SLOW_LINES'));",
            "[$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0); $r = [$a]; $w = $e = null; $begin = hrtime(true); return [stream_select($r, $w, $e, 0, 100000), $r, since($begin) > 0.09];",
            "[$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0); fwrite($b, 'x'); $r = ['k' => $a, 'l' => $b]; $w = [$a]; $e = [$a]; return [stream_select($r, $w, $e, 5), array_keys($r), array_keys($w), array_keys($e)];",
            "$r = $w = $e = []; return stream_select($r, $w, $e, 0);",
            "$u = stream_socket_server('udp://127.0.0.1:0', $code, $text, STREAM_SERVER_BIND); $c = stream_socket_client('udp://' . stream_socket_get_name($u, false)); fwrite($c, 'data'); return [stream_socket_recvfrom($u, 10, 0, $from), strtok($from, ':')];",
            "$f = fopen('php://temp', 'w+'); fwrite($f, 'abc'); rewind($f); return [fread($f, 10), file_get_contents(__FILE__, false, null, 0, 5), file_put_contents(scratch(), 'x')];",
        ])
        self.assertIn("Address already in use", told[2])

    def test_sockets(self):
        told = self.lines([
            "$s = socket_create(AF_INET, SOCK_STREAM, SOL_TCP); return [socket_connect($s, '127.0.0.1', $refused), socket_last_error($s), socket_strerror(socket_last_error($s))];",
            "$c = line_socket(); socket_set_option($c, SOL_SOCKET, SO_RCVTIMEO, ['sec' => 0, 'usec' => 150000]); $begin = hrtime(true); return [socket_read($c, 10), socket_last_error($c), since($begin) > 0.1 && since($begin) < 3];",
            "return [socket_get_option($c, SOL_SOCKET, SO_RCVTIMEO), socket_recv($c, $data, 10, MSG_DONTWAIT), socket_last_error($c)];",
            "return [socket_write($c, \"echo sockets\\n\"), socket_recv($c, $data, 8, MSG_WAITALL), $data, socket_recv($c, $data, 2, MSG_PEEK), $data, socket_read($c, 100)];",
            "socket_set_nonblock($c); return [socket_read($c, 10), socket_last_error($c), socket_set_block($c)];",
            "socket_write($c, \"reset\\n\"); return [socket_read($c, 10), socket_last_error($c)];",
            "socket_create_pair(AF_UNIX, SOCK_STREAM, 0, $p); socket_close($p[1]); return [socket_write($p[0], 'x'), socket_last_error($p[0])];",
            "$s = socket_create(AF_INET, SOCK_STREAM, SOL_TCP); socket_set_option($s, SOL_SOCKET, SO_SNDTIMEO, ['sec' => 0, 'usec' => 150000]); $begin = hrtime(true); return [socket_connect($s, '127.0.0.1', (int) at('SLOW_FULL')), socket_last_error($s), since($begin) < 3];",
            "$s = socket_create_listen(0); socket_set_option($s, SOL_SOCKET, SO_RCVTIMEO, ['sec' => 0, 'usec' => 150000]); return [socket_accept($s), socket_last_error($s)];",
            "$r = [$s]; $w = $e = null; return [socket_select($r, $w, $e, 0, 50000), $r];",
            "$u = socket_create(AF_INET, SOCK_DGRAM, SOL_UDP); socket_bind($u, '127.0.0.1'); socket_getsockname($u, $host, $port); return [socket_sendto($u, 'me', 2, 0, $host, $port), socket_recvfrom($u, $data, 10, 0, $a, $b), $data, $a, $b === $port];",
            "$u = socket_create(AF_UNIX, SOCK_STREAM, 0); return [socket_connect($u, '/nonexistent/socket'), socket_last_error($u)];",
        ])
        self.assertIn("Connection refused", told[0])


class Processes(Same):
    def test_programs(self):
        told = self.lines([
            "return [exec('echo a; echo b; exit 3', $lines, $code), $lines, $code];",
            "return [shell_exec('exit 1'), shell_exec('echo x'), `printf y`];",
            "return [exec('no-such-program-here 2>&1', $lines, $code), $code];",
            "ob_start(); $r = [system('echo s; exit 2', $code), $code]; return [ob_get_clean(), $r];",
            "ob_start(); $r = [passthru('printf \"a\\0b\"; kill -9 $$', $code), $code]; return [ob_get_clean(), $r];",
            "$p = popen('cat >/dev/null; exit 7', 'w'); return [fwrite($p, 'x'), pclose($p)];",
            "$p = popen('kill -15 $$', 'r'); return [fread($p, 5), pclose($p)];",
            "$p = proc_open('exit 9', [], $pipes); return proc_close($p);",
            "$p = proc_open(['cat'], [['pipe', 'r'], ['pipe', 'w'], ['pipe', 'w']], $pipes); fwrite($pipes[0], str_repeat('z', 40000)); fclose($pipes[0]); return [strlen(stream_get_contents($pipes[1])), stream_get_contents($pipes[2]), proc_close($p)];",
            "$p = proc_open(['sleep', '20'], [], $pipes); $s = proc_get_status($p); $s['pid'] = $s['pid'] > 0; proc_terminate($p); return [$s, proc_close($p)];",
            "$p = proc_open(['sleep', '20'], [], $pipes); proc_terminate($p, 9); return proc_close($p);",
            "return [pcntl_waitpid(-1, $status), pcntl_get_last_error(), pcntl_waitpid(1, $status), pcntl_get_last_error()];",
            # The program waits: proc_get_status() would take its end.
            "$p = proc_open('read line; exit 6', [['pipe', 'r']], $pipes); $pid = proc_get_status($p)['pid']; fclose($pipes[0]); return [pcntl_waitpid($pid, $status) === $pid, pcntl_wexitstatus($status), proc_close($p)];",
            "$p = proc_open(['sleep', '20'], [], $pipes); $pid = proc_get_status($p)['pid']; return [pcntl_waitpid($pid, $status, WNOHANG), posix_kill($pid, 15), pcntl_wait($status) === $pid, pcntl_wtermsig($status)];",
        ])
        self.assertIn("[\"b\",[\"a\",\"b\"],3]", told[0])

    def test_mail_files_and_time(self):
        told = self.lines([
            "$f = scratch(); putenv(\"MAILBOX=$f\"); return [mail('to@localhost', 'About', \"Line\\n\", 'From: me@localhost'), file_get_contents($f)];",
            "return mail(\"bad\\0to\", 's', 't');",
            "$f = scratch(); $a = fopen($f, 'r'); $b = fopen($f, 'r'); return [flock($a, LOCK_EX), flock($b, LOCK_EX | LOCK_NB, $would), $would, flock($a, LOCK_UN), flock($b, LOCK_SH | LOCK_NB, $would), $would];",
            "$f = scratch('abc'); $h = fopen($f, 'r+'); return [fread($h, 2), ftell($h), fwrite($h, 'X'), rewind($h), fread($h, 9), feof($h), ftruncate($h, 1), fsync($h), fdatasync($h), fstat($h)['size'], filesize($f)];",
            "return [usleep(1000), sleep(0), time_nanosleep(0, 1000000), time_sleep_until(microtime(true) + 0.01)];",
            "return time_sleep_until(microtime(true) - 1);",
            "return sleep(-1);",
            "return time_nanosleep(0, 1000000000);",
        ])
        self.assertIn("Subject: About", told[0])

    def test_fork_outside_coroutines(self):
        body = "$pid = pcntl_fork(); if (!$pid) { pcntl_exec('/bin/sh', ['-c', 'exit 6']); } echo json_encode([pcntl_waitpid($pid, $status) === $pid, pcntl_wexitstatus($status)]);"
        self.assertEqual({self.php(self.program(body), mode=mode) for mode in (PLAIN, OUTSIDE)}, {"[true,6]"})
        told = self.inside("echo told(fn () => pcntl_fork());")
        self.assertIn("call it before run()", told)

    def test_signals_end_a_sleep(self):
        body = "pcntl_async_signals(true); pcntl_signal(SIGALRM, function () { echo 'rang '; }); pcntl_alarm(1); $left = sleep(10); echo $left >= 8 ? 'early' : $left;"
        self.assertEqual({self.php(self.program(body), mode=mode) for mode in (PLAIN, OUTSIDE)}, {"rang early"})

    def test_signals_are_handled_while_all_coroutines_wait(self):
        printed = self.inside("""
        pcntl_async_signals(true);
        $begin = hrtime(true);
        pcntl_signal(SIGALRM, function () use ($begin) { echo since($begin) < 2.5 ? 'in time ' : 'late '; });
        pcntl_alarm(1);
        $left = sleep(3);
        echo $left + since($begin) > 2.9 ? 'whole' : 'short';
        """)
        self.assertEqual(printed, "in time whole")

    def test_names_that_need_no_network(self):
        told = self.lines([
            "return [gethostbyname('localhost'), gethostbynamel('localhost'), gethostbyname('127.0.0.1'), gethostbyname('')];",
            "return gethostbyname(str_repeat('x', 300));",
            "return count(socket_addrinfo_lookup('localhost', '80', ['ai_socktype' => SOCK_STREAM, 'ai_family' => AF_INET]));",
            "$s = fsockopen('localhost', (int) at('SLOW_LINES')); fwrite($s, \"echo hi\\n\"); return fgets($s);",
        ])
        self.assertIn("127.0.0.1", told[0])
