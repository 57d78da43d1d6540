"""The server's figures at `metrics_address`: their form, what they count, and that they are told when all are busy."""

import json
import os
import pathlib
import re
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import unittest
import urllib.parse
import urllib.request

from support import PATIENCE, ROOT, Case, Client, Server, needs, until

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))

import servers  # noqa: E402

OPEN = "application/openmetrics-text; version=1.0.0"


class Metrics(Case):
    def server(self, *args, settings=None, **more):
        server = Server(*args, settings={"metrics_address": "127.0.0.1:0", **(settings or {})}, **more)
        self.addCleanup(server.__exit__)
        return server

    @staticmethod
    def address(server):
        line = next(line for line in server.log().splitlines() if "figures on " in line)
        host, port = line.split("figures on ")[1].split(": ")[0].rsplit(":", 1)
        return host, int(port)

    def page(self, server, path="/metrics", accept=None):
        with Client(socket.create_connection(self.address(server), timeout=PATIENCE)) as client:
            more = f"Accept: {accept}\r\n" if accept else ""
            client.send(f"GET {path} HTTP/1.1\r\nHost: x\r\n{more}\r\n".encode())
            return client.answer()

    def figures(self, server):
        """Samples by name and labels, as they are written."""
        page = self.page(server)
        self.assertEqual(page.status, 200)
        lines = [line for line in page.body.decode().splitlines() if not line.startswith("#")]
        return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}

    def figure(self, server, name, value):
        """Waits until a figure has a value: some are as old as the last tick of their process."""
        return until(f"{name} is {value}", lambda: self.figures(server).get(name) == value or None)


class Told(Metrics):
    def test_both_forms(self):
        server = self.server()
        server.get("/")
        plain, page = self.page(server), self.page(server, accept=OPEN)
        self.assertEqual(plain.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8")
        self.assertEqual(page.headers["content-type"], "application/openmetrics-text; version=1.0.0; charset=utf-8")
        self.assertTrue(page.body.endswith(b"\n# EOF\n"))
        self.assertIn(b"# TYPE apus_http_requests counter\n", page.body)
        self.assertIn(b"# TYPE apus_http_requests_total counter\n", plain.body)
        self.assertEqual(self.page(server, "/other").status, 404)
        # Workers tell their totals a few times a second.
        status = until("the request is told", lambda: (now := self.page(server, "/status").json())["totals"]["requests"] and now)
        self.assertEqual((status["state"], status["totals"]["requests"]), ("serving", 1))

    def test_promtool_finds_no_fault(self):
        server = self.server(settings={"task_worker_num": 1}, before="$server->on('task', fn () => 1);")
        server.get("/")
        checked = subprocess.run(
            [needs("promtool"), "check", "metrics"], input=self.page(server).body, capture_output=True, check=False
        )
        self.assertEqual((checked.returncode, checked.stdout + checked.stderr), (0, b""))

    def test_every_figure_that_the_documents_name_is_told(self):
        before = "$server->on('task', fn () => 1); $t = new Apus\\Table(64); $t->column('n', Apus\\Table::TYPE_INT); $t->create(); $server->host('a.test', []);"
        server = self.server(settings={"task_worker_num": 1}, before=before)
        server.get("/")
        self.figure(server, 'apus_http_requests_total{method="GET",code="200"}', 1)
        lines = self.page(server).body.decode().splitlines()
        told = {re.match(r"\w+", line)[0] for line in lines if not line.startswith("#")}
        docs = ROOT / "docs"
        queries = json.dumps(json.loads((docs / "grafana-dashboard.json").read_text()))
        named = {*re.findall(r"\bapus_\w+", queries), *re.findall(r"`(apus_\w+)", (docs / "metrics.md").read_text())}
        self.assertGreater(len(named), 40)
        histograms = {name.removesuffix("_count") for name in told if name.endswith("_count")}
        self.assertEqual(sorted(named - told - histograms), [])
        # Which way round it is told without being described.
        described = {re.sub("_(bucket|sum|count)$", "", name) for name in told}
        self.assertEqual(sorted(described - named), [])

    def test_requests_are_counted_by_method_and_code(self):
        server = self.server("$response->status((int) substr($path, 1)); $response->end('x');")
        for method, status in [("GET", 200), ("GET", 200), ("POST", 404), ("HEAD", 299), ("BREW", 418)]:
            server.connect().request(method, f"/{status}", close=True)
        server.raw(b"GET / HTTP/1.1\r\n\r\n")
        self.figure(server, "apus_http_requests_refused_total", 1)
        figures = self.figures(server)
        counted = {name: value for name, value in figures.items() if name.startswith("apus_http_requests_total")}
        self.assertEqual(
            counted,
            {
                'apus_http_requests_total{method="GET",code="200"}': 2,
                'apus_http_requests_total{method="HEAD",code="2xx"}': 1,
                'apus_http_requests_total{method="POST",code="404"}': 1,
                'apus_http_requests_total{method="other",code="4xx"}': 1,
            },
        )
        self.assertEqual(figures["apus_http_request_duration_seconds_count"], 5)
        self.assertEqual(figures['apus_http_request_duration_seconds_bucket{le="+Inf"}'], 5)
        self.assertGreater(figures["apus_http_request_duration_seconds_sum"], 0)
        self.figure(server, "apus_connections_accepted_total", 6)
        self.figure(server, "apus_connections_open", 0)

    def test_requests_are_counted_by_host(self):
        before = """
$server->host('one.test, *.one.test', [], fn ($request, $response) => $response->end('1'));
$server->host('two.test', [], function ($request, $response) { $response->status(404); $response->end('2'); });
"""
        server = self.server(before=before, settings={"worker_num": 2, "open_http2_protocol": True})
        asked = ["one.test", "a.one.test", "ONE.test:80", "two.test", "three.test", "four.test"]
        for name in asked[:-1]:
            server.raw(f"GET / HTTP/1.1\r\nHost: {name}\r\nConnection: close\r\n\r\n".encode())
        curl = [needs("curl"), "-s", "--http2-prior-knowledge", "--resolve", f"four.test:{server.port}:127.0.0.1"]
        subprocess.run([*curl, f"http://four.test:{server.port}/"], capture_output=True, check=True)
        for name in ["one.test", "two.test"]:
            resolve = ["--resolve", f"{name}:{server.port}:127.0.0.1"]
            subprocess.run([*curl, *resolve, f"http://{name}:{server.port}/"], capture_output=True, check=True)
        server.control("reload wait")
        self.figure(server, 'apus_http_host_request_duration_seconds_count{host="other"}', 2)
        self.figure(server, 'apus_http_host_request_duration_seconds_count{host="one.test"}', 4)
        self.figure(server, 'apus_http_host_request_duration_seconds_count{host="two.test"}', 2)
        figures = self.figures(server)
        counted = {
            name: value
            for name, value in figures.items()
            if name.startswith(("apus_http_host_requests_total", "apus_http_host_request_duration_seconds_count")) and value
        }
        self.assertEqual(
            counted,
            {
                'apus_http_host_requests_total{host="one.test",code="2xx"}': 4,
                'apus_http_host_requests_total{host="two.test",code="4xx"}': 2,
                'apus_http_host_requests_total{host="other",code="2xx"}': 2,
                'apus_http_host_request_duration_seconds_count{host="one.test"}': 4,
                'apus_http_host_request_duration_seconds_count{host="two.test"}': 2,
                'apus_http_host_request_duration_seconds_count{host="other"}': 2,
            },
        )
        self.assertGreater(figures['apus_http_host_request_duration_seconds_sum{host="one.test"}'], 0)

    def test_counters_outlive_their_processes(self):
        server = self.server("if ($path === '/die') { Apus\\Process::kill(getmypid(), 9); } $response->end('x');")
        for _ in range(3):
            server.get("/")
        with self.assertRaises(EOFError):
            server.get("/die")
        self.figure(server, "apus_worker_crashes_total", 1)
        until("the next worker serves", lambda: self.figures(server)["apus_workers_serving"] == 1)
        server.get("/")
        server.control("reload wait")
        figures = self.figures(server)
        self.assertEqual(figures['apus_http_requests_total{method="GET",code="200"}'], 4)
        self.assertEqual(figures["apus_http_request_duration_seconds_count"], 4)
        self.assertEqual(figures["apus_reloads_total"], 1)

    def test_workers_that_are_busy(self):
        server = self.server("touch($folder . '/busy'); while (!file_exists($folder . '/go')) { clearstatcache(); } $response->end('x');")
        with server.connect() as client:
            client.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            until("the worker is busy", (server.folder / "busy").exists)
            late = 'apus_worker_loop_late_seconds{role="worker",worker="0"}'
            until("the loop is late", lambda: self.figures(server)[late] > 0.5)
            self.assertEqual(self.figures(server)["apus_http_requests_active"], 1)
            (server.folder / "go").touch()
            self.assertEqual(client.answer().status, 200)
        until("the loop is no longer late", lambda: self.figures(server)[late] < 0.5)

    def test_pools_and_tables(self):
        before = """
$table = new Apus\\Table(64);
$table->column('n', Apus\\Table::TYPE_INT);
$table->create();
$table->set('a', ['n' => 1]);
"""
        server = self.server(
            """
            static $pool;
            $pool ??= new Apus\\ConnectionPool(fn () => new stdClass, 1);
            $held = $pool->get();
            try { $pool->get(0.01); } catch (Throwable) {}
            file_put_contents($folder . '/held', '');
            while (!file_exists($folder . '/go')) { clearstatcache(); Coroutine::sleep(0.01); }
            $pool->put($held);
            $response->end('x');""",
            before=before,
        )
        with server.connect() as client:
            client.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            self.figure(server, "apus_pool_connections_used", 1)
            self.figure(server, "apus_pool_exhausted_total", 1)
            (server.folder / "go").touch()
            self.assertEqual(client.answer().status, 200)
        self.figure(server, "apus_pool_connections_idle", 1)
        figures = self.figures(server)
        rows = next(value for name, value in figures.items() if name.startswith('apus_table_rows{table="0",made='))
        self.assertEqual((rows, figures["apus_pool_connections_created_total"]), (1, 1))

    def test_tls(self):
        cert, key = servers.certificate()
        server = self.server(settings={"ssl_cert_file": str(cert), "ssl_key_file": str(key)})
        context = ssl.create_default_context(cafile=cert)
        context.check_hostname = False
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        session = None
        for _ in range(3):
            with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as sock:
                with context.wrap_socket(sock, session=session) as tls:
                    tls.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                    while tls.recv(4096):
                        pass
                    session = tls.session
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as sock:
            sock.sendall(bytes(64))
            while sock.recv(4096):
                pass
        self.figure(server, 'apus_tls_handshakes_total{kind="full"}', 1)
        self.figure(server, 'apus_tls_handshakes_total{kind="resumed"}', 2)
        self.figure(server, "apus_tls_handshakes_failed_total", 1)


OWN = """
use Apus\\Metrics\\{Counter, Gauge, Histogram};
$orders = new Counter('orders_total', 'Orders taken.', ['country'], 2);
$waiting = new Gauge('jobs_waiting', 'Jobs that wait.');
$took = new Histogram('query_seconds', 'How long queries took.', ['table'], [0.1, 1]);
"""
COUNTING = """
global $orders, $waiting, $took;
$orders->add(1, $request->get['country']);
$waiting->add(0.5);
$took->observe(0.25, 'users');
if ($path === '/die') { Apus\\Process::kill(getmypid(), 9); }
$late = '';
try { new Apus\\Metrics\\Counter('late'); } catch (Apus\\Metrics\\Exception $late) { $late = $late->getCode() === $late::LATE; }
$same = (new Apus\\Metrics\\Counter('orders', 'Orders taken.', ['country'], 2))->get('DE');
$response->end(json_encode([getmypid(), $late, $same]));
"""


class Own(Metrics):
    """`Apus\\Metrics`: what the program counts itself."""

    def test_all_workers_count_one_value_that_outlives_them(self):
        server = self.server(COUNTING, before=OWN, settings={"worker_num": 2})

        def both(path):
            """Asks until two workers have answered: how many answers there were."""
            seen, asked = set(), 0
            while len(seen) < 2:
                pid, late, _ = server.get(path).json()
                self.assertTrue(late)
                asked += 1
                seen.add(pid)
            return asked, seen

        asked, first = both("/?country=DE")
        server.control("reload wait")
        again, second = both("/?country=DE")
        self.assertFalse(first & second)
        with self.assertRaises(EOFError):
            server.get("/die?country=FR")
        self.figure(server, "apus_worker_crashes_total", 1)
        more, _ = both("/?country=other+countries")
        figures = self.figures(server)
        self.assertEqual(figures['orders_total{country="DE"}'], asked + again)
        self.assertEqual(figures['orders_total{country="FR"}'], 1)
        self.assertEqual(figures['orders_total{country="other"}'], more)
        self.assertNotIn("late_total", figures)
        total = asked + again + more + 1
        self.assertEqual(figures["jobs_waiting"], total / 2)
        self.assertEqual(figures['query_seconds_bucket{table="users",le="0.1"}'], 0)
        self.assertEqual(figures['query_seconds_bucket{table="users",le="1"}'], total)
        self.assertEqual(figures['query_seconds_count{table="users"}'], total)
        self.assertEqual(server.get("/?country=DE").json()[2], asked + again + 1)
        self.assertEqual(server.log().count("metric orders has 2 series"), 1)

    def test_they_are_in_the_state_of_the_server(self):
        server = self.server(COUNTING, before=OWN)
        server.get("/?country=DE")
        expected = [
            {"name": "orders", "type": "counter", "series": [{"labels": {"country": "DE"}, "value": 1.0}]},
            {"name": "jobs_waiting", "type": "gauge", "series": [{"labels": {}, "value": 0.5}]},
            {"name": "query_seconds", "type": "histogram", "series": [{"labels": {"table": "users"}, "count": 1, "sum": 0.25}]},
        ]
        self.assertEqual(self.page(server, "/status").json()["metrics"], expected)

    def test_promtool_finds_no_fault(self):
        server = self.server(COUNTING, before=OWN)
        server.get("/?country=%22%0A%5C%FF")
        text = self.page(server).body
        self.assertIn('orders_total{country="\\"\\n\\\\\ufffd"} 1\n'.encode(), text)
        checked = subprocess.run([needs("promtool"), "check", "metrics"], input=text, capture_output=True, check=False)
        self.assertEqual((checked.returncode, checked.stdout + checked.stderr), (0, b""))


class Listening(Metrics):
    def test_a_unix_socket(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="apus-e2e-metrics-"))
        self.addCleanup(shutil.rmtree, folder, True)
        path = folder / "s"
        server = self.server(settings={"metrics_address": f"unix:{path}"})
        with socket.socket(socket.AF_UNIX) as sock:
            sock.settimeout(PATIENCE)
            sock.connect(str(path))
            sock.sendall(b"GET /status HTTP/1.1\r\n\r\n")
            self.assertEqual(Client(sock).answer().json()["pid"], server.pid)
        server.control("reload wait")
        self.assertTrue(path.exists())
        self.assertEqual(server.stop(), 0)
        self.assertFalse(path.exists())

    def test_addresses_that_cannot_be(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            for address, said in [("9100", "metrics_address"), (f"127.0.0.1:{taken.getsockname()[1]}", "cannot listen")]:
                with self.assertRaisesRegex(AssertionError, said):
                    self.server(settings={"metrics_address": address})

    def test_clients_that_say_nothing_hold_nobody_up(self):
        server = self.server()
        crowd = [socket.create_connection(self.address(server), timeout=PATIENCE) for _ in range(100)]
        for sock in crowd[:50]:
            sock.sendall(b"GET /metrics HTTP/1.1\r\nX: " + b"x" * 1000)
        self.assertEqual(self.page(server).status, 200)
        self.assertEqual(server.get("/").status, 200)
        descriptors = len(os.listdir(f"/proc/{server.pid}/fd"))
        self.assertLess(descriptors, 32 + 60)
        for sock in crowd:
            sock.close()


class Prometheus(Metrics):
    def prometheus(self, server):
        """What asks a Prometheus that scrapes the server: the samples of an expression; `None` while it does not answer."""
        program = needs("prometheus")
        folder = pathlib.Path(tempfile.mkdtemp(prefix="apus-e2e-prometheus-"))
        self.addCleanup(shutil.rmtree, folder, True)
        host, port = self.address(server)
        (folder / "p.yml").write_text(
            f"scrape_configs: [{{job_name: apus, scrape_interval: 200ms, scrape_timeout: 200ms, static_configs: [{{targets: ['{host}:{port}']}}]}}]\n"
        )
        with socket.create_server(("127.0.0.1", 0)) as free:
            own = free.getsockname()[1]
        process = subprocess.Popen(
            [program, f"--config.file={folder}/p.yml", f"--storage.tsdb.path={folder}/data", f"--web.listen-address=127.0.0.1:{own}"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)

        def ask(query):
            url = f"http://127.0.0.1:{own}/api/v1/query?" + urllib.parse.urlencode({"query": query})
            try:
                with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
                    return [float(one["value"][1]) for one in json.load(answer)["data"]["result"]]
            except OSError:
                return None

        return ask

    def test_a_real_one(self):
        server = self.server(COUNTING, before=OWN)
        ask = self.prometheus(server)
        for _ in range(5):
            server.get("/?country=DE")
        until("Prometheus has it", lambda: ask('apus_http_requests_total{method="GET",code="200"}') == [5], PATIENCE * 2)
        self.assertEqual(ask("up"), [1])
        self.assertEqual(ask("apus_http_request_duration_seconds_count"), [5])
        self.assertEqual(ask('orders_total{country="DE"}'), [5])
        self.assertEqual(ask("histogram_quantile(0.5, query_seconds_bucket)"), [0.55])

    def test_every_expression_of_the_dashboard_has_data_under_load(self):
        cert, key = servers.certificate()
        settings = {"task_worker_num": 1, "open_http2_protocol": True, "ssl_cert_file": str(cert), "ssl_key_file": str(key)}
        handler = """
            static $pool;
            $pool ??= new Apus\\ConnectionPool(fn () => new stdClass, 4);
            $held = $pool->get();
            Coroutine::sleep(0.001);
            $pool->put($held);
            $server->task('x');
            $response->status($path === '/fail' ? 503 : 200);
            $response->end('x');
        """
        server = self.server(handler, settings=settings, before="$server->on('task', fn () => 1);")
        ask = self.prometheus(server)
        context = ssl.create_default_context(cafile=cert)
        context.check_hostname = False
        sock = context.wrap_socket(socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE))
        self.addCleanup(sock.close)
        client = Client(sock)

        def load():
            for path in ("/", "/", "/", "/fail"):
                client.request(path=path)

        def data(query):
            load()
            return [value for value in ask(query) or [] if value == value]

        dashboard = json.loads((ROOT / "docs" / "grafana-dashboard.json").read_text())
        asked = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]
        self.assertGreater(len(asked), 25)
        for query in asked:
            self.assertIn('instance=~"$instance"', query)
            # As Grafana puts them in.
            query = query.replace("$__rate_interval", "1m").replace("$instance", ".*")
            self.assertNotIn("$", query)
            until(f"there is data of {query}", lambda query=query: data(query), PATIENCE * 2)
        for variable in dashboard["templating"]["list"]:
            if variable["type"] == "query":
                name, label = re.fullmatch(r"label_values\((\w+), (\w+)\)", variable["query"]["query"]).groups()
                self.assertEqual(ask(f"count by ({label}) ({name})"), [1])
        # They tell what was done, and not only that there is something.
        window = "[1m]"
        share = until("failures are told", lambda: data(f'sum(rate(apus_http_requests_total{{code=~"5.."}}{window})) / sum(rate(apus_http_requests_total{window}))'))
        self.assertAlmostEqual(share[0], 0.25, delta=0.1)
        # Workers hand over once a second what they count for themselves.
        for name in ("apus_tasks_total", "apus_sent_bytes_total"):
            query = f"sum(rate({name}{window}))"
            until(f"{name} grows", lambda query=query: (data(query) or [0])[0] > 0, PATIENCE * 2)


if __name__ == "__main__":
    unittest.main()
