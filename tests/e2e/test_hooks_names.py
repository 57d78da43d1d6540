"""Names of hosts: asked by many coroutines at once, of a slow name server in a network namespace of its own
(fixtures/hooks/names.py)."""

import functools
import json
import subprocess
import sys
import unittest

from hooks import FOLDER, HookCase

NAMES = ["unshare", "--user", "--map-root-user", "--mount", "--net", sys.executable, "-B", str(FOLDER / "names.py")]


@functools.lru_cache(1)
def namespaces():
    """Why there are no namespaces here; empty when there are."""
    try:
        tried = subprocess.run([*NAMES, "getent", "hosts", "sleep-0.test"], capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return "" if tried.stdout.startswith("127.0.0.5") else f"{tried.stdout}{tried.stderr}exit code {tried.returncode}"


class Names(HookCase):
    def setUp(self):
        if why := namespaces():
            raise unittest.SkipTest(f"no network namespace of its own here: {why.strip().splitlines()[-1]}")

    def many(self, call, want, count=100):
        printed = self.inside(f"""
        $begin = hrtime(true);
        $results = batch(array_map(fn ($n) => fn () => {call}, range(1, {count})));
        $seconds = since($begin);
        echo json_encode([array_values(array_unique($results, SORT_REGULAR)), round($seconds, 3)]);
        """, wrapper=NAMES)
        results, seconds = json.loads(printed)
        print(f"     {count} x {call}: {seconds:.3f} s in place of {count / 10:.0f} s", flush=True)
        self.assertEqual(results, [want])
        # One after the other: 0.1 s each.
        self.assertLess(seconds, count * 0.1 * 0.3)

    def test_gethostbyname(self):
        self.many("gethostbyname(\"sleep-100-$n.test\")", "127.0.0.5")

    def test_gethostbynamel(self):
        self.many("gethostbynamel(\"sleep-100-$n.test\")", ["127.0.0.5"])

    def test_dns_get_record(self):
        self.many("dns_get_record(\"sleep-100-$n.test\", DNS_A)[0]['ip']", "127.0.0.5")

    def test_checkdnsrr(self):
        self.many("checkdnsrr(\"sleep-100-$n.test\", 'A')", True)

    def test_getaddrinfo(self):
        self.many("count(socket_addrinfo_lookup(\"sleep-100-$n.test\", '80', ['ai_family' => AF_INET, 'ai_socktype' => SOCK_STREAM]))", 1)

    def test_connecting_by_name(self):
        printed = self.inside("""
        $server = stream_socket_server('tcp://127.0.0.5:0');
        $port = (int) substr(strrchr(stream_socket_get_name($server, false), ':'), 1);
        go(function () use ($server) {
            for ($n = 0; $n < 60; $n++) {
                $stream = stream_socket_accept($server, 20);
                go(function () use ($stream) {
                    stream_get_line($stream, 8192, "\\r\\n\\r\\n");
                    fwrite($stream, "HTTP/1.0 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok");
                    fclose($stream);
                });
            }
        });
        $begin = hrtime(true);
        $results = batch(array_map(fn ($n) => function () use ($n, $port) {
            $name = "sleep-100-$n.test";
            switch ($n % 3) {
                case 0: return file_get_contents("http://$name:$port/");
                case 1:
                    $c = curl_init("http://$name:$port/");
                    curl_setopt($c, CURLOPT_RETURNTRANSFER, true);
                    return curl_exec($c);
                default:
                    $s = fsockopen($name, $port, $code, $text, 20);
                    fwrite($s, "GET / HTTP/1.0\\r\\n\\r\\n");
                    return substr(stream_get_contents($s), -2);
            }
        }, range(1, 60)));
        echo json_encode(array_count_values($results)), since($begin) < 2 ? ' at once' : ' one by one';
        """, wrapper=NAMES)
        self.assertEqual(printed, '{"ok":60} at once')

    def test_the_same_as_plain_php(self):
        calls = [
            "gethostbyname('many.test')", "gethostbynamel('many.test')", "gethostbyname('missing.test')", "gethostbynamel('missing.test')", "gethostbyaddr('127.0.0.9')",
            "gethostbyaddr('127.0.0.8')", "gethostbyaddr('nonsense')", "dns_get_record('many.test', DNS_MX)", "dns_get_record('many.test', DNS_TXT)", "dns_get_record('many.test', DNS_AAAA)",
            "dns_get_record('missing.test', DNS_A)", "[dns_get_mx('many.test', $hosts, $weights), $hosts, $weights]", "checkdnsrr('missing.test', 'MX')",
            "file_get_contents('http://missing.test/')", "[fsockopen('missing.test', 80, $code, $text), $code, $text]", "[stream_socket_client('tls://missing.test:80', $code, $text), $code, $text]",
            "new PDO('mysql:host=missing.test', 'a', 'b')", "new PDO('pgsql:host=missing.test user=a')", "(new Redis)->connect('missing.test')",
            "[socket_connect($s = socket_create(AF_INET, SOCK_STREAM, SOL_TCP), 'missing.test', 80), socket_last_error($s)]",
            "[curl_exec($c = curl_init('http://missing.test/')), curl_errno($c), curl_error($c)]", "[($m = new Memcached)->addServer('missing.test', 80), $m->get('a'), $m->getResultMessage()]",
            "mysqli_report(MYSQLI_REPORT_OFF) && [new mysqli('missing.test'), mysqli_connect_errno(), mysqli_connect_error()][1]", "gethostbyname('silent.test')",
            "gethostbyname('localhost')", "socket_addrinfo_lookup('missing.test')",
        ]
        printed = self.same("\n".join(f"echo told(fn () => {call}), \"\\n\";" for call in calls), wrapper=NAMES)
        self.assertEqual(len(printed.splitlines()), len(calls), printed)
        self.assertIn("Name or service not known", printed)

    def test_cancel(self):
        printed = self.inside("""
        foreach (['gethostbyname', 'gethostbynamel', fn ($name) => dns_get_record($name, DNS_A), fn ($name) => @file_get_contents("http://$name/")] as $call) {
            foreach ([false, true] as $throw) {
                $begin = hrtime(true);
                $id = go(function () use ($call) {
                    try { echo json_encode(@$call('sleep-4000.test')), ' '; } catch (CanceledException $e) { echo 'canceled '; }
                });
                Coroutine::cancel($id, $throw);
                Coroutine::join([$id]);
                echo since($begin) < 2 ? '' : 'late ';
            }
        }
        echo gethostbyname('sleep-1.test');
        """, wrapper=NAMES)
        self.assertEqual(printed, '"sleep-4000.test" canceled false canceled false canceled false canceled 127.0.0.5')
