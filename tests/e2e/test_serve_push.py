"""WebSockets of `apus serve`: pages decide who may open one, and send to all of them by Apus\\Push."""

import json
import os
import select
import shutil
import signal
import tempfile
import unittest

from serve_cases import Sites
from support import Server, until
from test_demo import BROWSER, Browser
from websocket_cases import BINARY, PING, TEXT, Refused, WebSocket, http2, servers

# The front controller of both kinds: what it does is in the query.
INDEX = r"""
function answer(): void
{
    parse_str($_SERVER['QUERY_STRING'], $asked);
    $path = strtok($_SERVER['REQUEST_URI'], '?');
    if ($path === '/live') {
        if (isset($asked['status'])) {
            http_response_code((int) $asked['status']);
            header('X-Why: asked for');
            echo 'not you';
            return;
        }
        if (isset($asked['raw'])) {
            echo $asked['raw'];
            return;
        }
        if (isset($asked['die'])) {
            posix_kill(getmypid(), SIGKILL);
        }
        setcookie('seen', 'yes');
        header('X-Other: no');
        echo json_encode(['user' => $asked['user'] ?? null, 'topics' => $asked['topics'] ?? []]);
        return;
    }
    try {
        echo json_encode(match ($path) {
            '/publish' => Apus\Push::publish($asked['topic'], file_get_contents('php://input')),
            '/several' => array_map(fn ($n) => Apus\Push::publish('news', "message $n"), range(1, (int) $asked['count'])),
            '/binary' => Apus\Push::publish('news', "\xff\x00", Apus\WEBSOCKET_OPCODE_BINARY),
            '/user' => Apus\Push::sendToUser($asked['user'], file_get_contents('php://input')),
            '/online' => [Apus\Push::isOnline($asked['user']), Apus\Push::subscribers('news')],
            '/disconnect' => Apus\Push::disconnect($asked['user'], 4001, 'logged out'),
            '/wrong' => Apus\Push::publish('', 'x'),
            '/coroutines' => coroutines(),
            '/child' => child(),
        });
    } catch (Throwable $error) {
        echo json_encode([$error::class, $error->getMessage()]);
    }
}

function coroutines(): int
{
    $sent = 0;
    Apus\Coroutine\run(function () use (&$sent) {
        for ($n = 0; $n < 20; $n++) {
            Apus\go(function () use (&$sent) { usleep(1000); $sent += Apus\Push::sendToUser('anna', 'of a coroutine'); });
        }
    });
    return $sent;
}

function child(): array
{
    $pid = pcntl_fork();
    if ($pid === 0) {
        try {
            Apus\Push::publish('news', 'of a child');
        } catch (Apus\Server\Exception) {
            exit(7);
        }
        exit(1);
    }
    pcntl_waitpid($pid, $status);
    return [pcntl_wexitstatus($status), Apus\Push::publish('news', 'of the parent')];
}
"""
CLASSIC = "<?php" + INDEX + "answer();"
STAYING = "<?php" + INDEX + "while (Apus\\handle_request('answer'));"
HERE = {"Host": "test", "Origin": "https://test"}


class Pushing(Sites):
    """Of a directory whose front controller answers everything."""

    script, worker = CLASSIC, False

    def start(self, fronts=2, **settings):
        root = self.directory({"index.php": self.script, ".htaccess": "RewriteEngine On\nRewriteRule . /index.php [L]\n"})
        stays = {"script_worker": str(root / "index.php")} if self.worker else {}
        settings = {"worker_num": fronts, "script_websocket": "/live", "max_wait_time": 3, **stays, **settings}
        return self.served(root, settings=settings, ini=("display_errors=1", "html_errors=0"))

    def open(self, server, query="", **options):
        return self.enterContext(WebSocket.connect(server.port, f"/live?{query}", **options))

    def on_both(self, server, query="topics[]=news"):
        """WebSockets on both fronts."""
        clients = []

        def spread():
            clients.append(self.open(server, query))
            fronts = self.serving(server, "worker")
            return len(fronts) > 1 and all(front["connections"] for front in fronts)

        until("both have some", spread)
        return clients

    def serving(self, server, role):
        return [worker for worker in server.status()["workers"] if (worker["role"], worker["state"]) == (role, "serving")]

    def post(self, server, path, body=b""):
        with server.connect() as client:
            return client.request("POST", path, body=body, close=True).json()


class OfPages(Pushing):
    def test_a_page_reaches_the_subscribers_of_all_fronts(self):
        server = self.start()
        clients = self.on_both(server)
        other = self.open(server, "topics[]=weather")
        self.assertEqual(self.post(server, "/publish?topic=news", b"it is here"), True)
        self.assertEqual(self.post(server, "/publish?topic=nobody", b"lost"), True)
        self.assertEqual([client.text() for client in clients], ["it is here"] * len(clients))
        self.assertEqual(self.post(server, "/binary"), True)
        self.assertEqual({client.message() for client in clients}, {(BINARY, b"\xff\x00")})
        self.assertEqual(self.post(server, "/publish?topic=weather", b"rain"), True)
        self.assertEqual(other.text(), "rain")

    def test_messages_of_one_page_come_in_their_order_and_large_ones_whole(self):
        server = self.start(package_max_length="4M")
        clients = self.on_both(server)
        self.assertEqual(self.post(server, "/several?count=200"), [True] * 200)
        large = os.urandom(750_000).hex().encode()
        self.assertEqual(self.post(server, "/publish?topic=news", large), True)
        for client in clients:
            self.assertEqual([client.text() for _ in range(200)], [f"message {n}" for n in range(1, 201)])
            self.assertEqual(client.message(), (TEXT, large))

    def test_users_are_reached_known_and_disconnected(self):
        server = self.start()
        clients = self.on_both(server, "user=anna&topics[]=news")
        visitor = self.open(server, "topics[]=news")
        count = len(clients)
        self.assertEqual(self.post(server, "/online?user=anna"), [True, count + 1])
        self.assertEqual(self.post(server, "/online?user=berta"), [False, count + 1])
        self.assertEqual(self.post(server, "/user?user=anna", b"for you"), count)
        self.assertEqual(self.post(server, "/user?user=berta", b"for you"), 0)
        self.assertEqual([client.text() for client in clients], ["for you"] * count)
        self.assertEqual(self.post(server, "/coroutines"), 20 * count)
        for client in clients:
            self.assertEqual([client.text() for _ in range(20)], ["of a coroutine"] * 20)
        self.assertEqual(self.post(server, "/disconnect?user=anna"), count)
        self.assertEqual([client.closed() for client in clients], [(4001, "logged out")] * count)
        until("they are gone", lambda: self.post(server, "/online?user=anna") == [False, 1])
        self.assertEqual(self.post(server, "/publish?topic=news", b"still here"), True)
        self.assertEqual(visitor.text(), "still here")

    def test_what_the_call_does_where_it_makes_no_sense(self):
        server = self.start()
        kind, text = self.post(server, "/wrong")
        self.assertEqual(kind, "ValueError", text)
        client = self.open(server, "topics[]=news")
        if not self.worker:
            self.assertEqual(self.post(server, "/child"), [7, True])
            self.assertEqual(client.text(), "of the parent")
        closed = self.start(script_websocket="")
        kind, text = self.post(closed, "/publish?topic=news", b"x")
        self.assertEqual(kind, "Apus\\Server\\Exception")
        self.assertIn("script_websocket", text)
        with self.assertRaises(Refused):
            self.open(closed)

    def test_a_reload_and_the_death_of_processes_cut_nobody_else(self):
        server = self.start()
        clients = self.on_both(server)
        self.assertTrue(server.control("reload wait")["ok"])
        # The old fronts told them, and closed; their browsers come again, to the new ones.
        self.assertEqual({client.closed()[0] for client in clients}, {1001})
        clients = self.on_both(server)
        script = self.serving(server, "script")[0]["pid"]
        os.kill(script, signal.SIGKILL)
        until("it is replaced", lambda: script not in server.workers())
        self.assertEqual(self.post(server, "/publish?topic=news", b"after it"), True)
        self.assertEqual([client.text() for client in clients], ["after it"] * len(clients))
        front = self.serving(server, "worker")[0]["pid"]
        os.kill(front, signal.SIGKILL)
        until("it is replaced", lambda: front not in server.workers())
        until("both serve", lambda: len(self.serving(server, "worker")) == 2)
        self.assertEqual(self.post(server, "/publish?topic=news", b"the end"), True)
        heard = [self.heard(client) for client in clients]
        self.assertIn("the end", heard)
        self.assertIn(None, heard)

    def heard(self, client):
        """What a client was told; nothing where its front is gone."""
        try:
            return client.text()
        except (EOFError, ConnectionResetError):
            return None


class OfScriptsThatStay(OfPages):
    script, worker = STAYING, True


class Handshakes(Pushing):
    def test_the_script_decides_by_an_ordinary_request(self):
        server = self.start()
        client = self.open(server, "user=anna", headers=HERE)
        self.assertIn("seen=yes", client.fields["set-cookie"])
        self.assertNotIn("x-other", client.fields)
        for status in (403, 302, 404):
            with self.assertRaises(Refused) as refused:
                self.open(server, f"status={status}")
            answer = refused.exception
            self.assertEqual((answer.status, answer.fields["x-why"], answer.body), (status, "asked for", b"not you"))
        # The same path is a page for everybody else.
        self.assertEqual(server.get("/live?user=berta").json(), {"user": "berta", "topics": []})

    def test_an_answer_that_names_nobody_lets_nobody_in(self):
        server = self.start()
        for raw in ("", "<html>", "[]", '{"topic":["a"]}', '{"user":""}'):
            with self.assertRaises(Refused) as refused:
                self.open(server, f"raw={raw}")
            self.assertEqual(refused.exception.status, 500, raw)
        with self.assertRaises(Refused) as refused:
            self.open(server, "die=1")
        self.assertEqual(refused.exception.status, 502)
        self.assertIn('/index.php is to answer a WebSocket handshake with {"user": …, "topics": […]}', server.log())
        self.open(server, 'raw={"topics":["news",7]}')
        self.assertEqual(self.post(server, "/online?user=x"), [False, 1])

    def test_pages_of_other_sites_do_not_come_in(self):
        server = self.start()
        for origin in ("https://evil.example", "null", "https://test.evil.example"):
            with self.assertRaises(Refused) as refused:
                self.open(server, origin=origin)
            self.assertEqual(refused.exception.status, 403)
        named = self.start(websocket_origins="https://app.example")
        self.open(named, origin="https://app.example")
        with self.assertRaises(Refused):
            self.open(named, headers=HERE)

    def test_other_paths_take_none(self):
        server = self.start()
        for path in ("/", "/live/", "/LIVE", "/other"):
            with self.assertRaises(Refused) as refused:
                WebSocket.connect(server.port, path)
            self.assertEqual(refused.exception.status, 404, path)
        with self.assertRaises(Refused) as refused:
            self.open(server, without=("Sec-WebSocket-Key",))
        self.assertEqual(refused.exception.status, 400)
        for wrong in ("live", "/live?x=1", "/li ve"):
            with self.assertRaisesRegex(AssertionError, "write the path"):
                self.start(script_websocket=wrong)

    def test_what_clients_send_is_dropped_within_the_limits(self):
        server = self.start(fronts=1, package_max_length="64K")
        client = self.open(server, "topics[]=news")
        for _ in range(1000):
            client.say("hello" * 100)
        client.send(PING, b"there?")
        self.assertEqual(client.pong(), b"there?")
        self.assertEqual(self.post(server, "/publish?topic=news", b"heard"), True)
        self.assertEqual(client.text(), "heard")
        client.say("x" * 70_000)
        self.assertEqual(client.closed()[0], 1009)

    def test_a_host_has_a_path_of_its_own(self):
        root = self.directory({"index.php": "<?php echo json_encode(['user' => $_SERVER['SERVER_NAME'], 'topics' => ['news']]);",
                               ".htaccess": "RewriteEngine On\nRewriteRule . /index.php [L]\n"})
        more = f'[[host]]\nnames = ["b.example"]\ndocument_root = {json.dumps(str(root))}\nscript_websocket = "/b"'
        server = self.served(root, more=more, settings={"worker_num": 1})
        self.enterContext(WebSocket.connect(server.port, "/b", headers={"Host": "b.example"}))
        for path, host in (("/b", "test"), ("/live", "b.example")):
            with self.assertRaises(Refused):
                WebSocket.connect(server.port, path, headers={"Host": host})


@unittest.skipUnless(http2.h2, "needs python3-h2")
class OverHttp2(Pushing):
    def test_streams_of_a_connection_are_subscribers_of_their_own(self):
        server = self.start(open_http2_protocol=True)
        connection = http2.Connection(server.port)
        self.addCleanup(connection.close)
        held = [http2.join(0, f"/live?topics[]=news&user={user}", connection=connection, headers=HERE) for user in ("anna", "bert")]
        beside = self.open(server, "topics[]=news")
        self.assertEqual(self.post(server, "/online?user=bert"), [True, 3])
        self.assertEqual(self.post(server, "/publish?topic=news", b"it is here"), True)
        self.assertEqual([client.text() for client in (*held, beside)], ["it is here"] * 3)
        self.assertEqual(self.post(server, "/user?user=anna", b"for you"), 1)
        self.assertEqual(held[0].text(), "for you")
        large = os.urandom(300_000).hex().encode()
        self.assertEqual(self.post(server, "/publish?topic=news", large), True)
        self.assertEqual([client.message() for client in (*held, beside)], [(TEXT, large)] * 3)
        self.assertEqual(self.post(server, "/disconnect?user=anna"), 1)
        self.assertEqual(held[0].closed(), (4001, "logged out"))
        self.assertEqual(self.post(server, "/publish?topic=news", b"and on"), True)
        self.assertEqual([client.text() for client in (held[1], beside)], ["and on"] * 2)

    def test_a_script_refuses_a_stream_as_it_would_a_connection(self):
        server = self.start(fronts=1, open_http2_protocol=True)
        connection = http2.Connection(server.port)
        self.addCleanup(connection.close)
        with self.assertRaises(Refused) as refused:
            http2.join(0, "/live?status=403", connection=connection, headers=HERE)
        self.assertEqual(refused.exception.status, 403)
        client = http2.join(0, "/live?topics[]=news", connection=connection, headers=HERE)
        self.assertEqual(self.post(server, "/publish?topic=news", b"let in"), True)
        self.assertEqual(client.text(), "let in")


class AcrossMachines(Pushing):
    """Several servers that meet at a broker: a page of one reaches the clients of all."""

    def test_pages_reach_the_clients_of_all_servers(self):
        for kind, broker in (("redis", servers.Redis), ("nats", servers.Nats)):
            with self.subTest(kind), broker() as running:
                self.across(f"{kind}://127.0.0.1:{running.port}")

    def across(self, broker):
        found = [self.start(broker=broker, log_file="") for _ in range(2)]
        for server in found:
            until("the fronts are connected", lambda server=server: server.said().count(": connected") >= 2)
        clients = [self.open(server, f"topics[]=news&user={user}") for server, user in zip(found, ("anna", "bert"), strict=True)]
        until("both know both", lambda: all(self.post(server, f"/online?user={user}") == [True, 2] for server in found for user in ("anna", "bert")))

        for server in found:
            self.reach(server, clients)
        for at, server in enumerate(found):
            self.assertEqual(self.post(server, "/publish?topic=news", f"of {at}".encode()), True)
            self.assertEqual([self.next_word(client) for client in clients], [f"of {at}"] * 2)
            self.assertEqual([self.post(server, f"/user?user={user}", b"yours") for user in ("anna", "bert", "carl")], [1, 1, 0])
            self.assertEqual([self.next_word(client) for client in clients], ["yours"] * 2)

    def reach(self, server, clients):
        """What is published before the broker knows of a subscription is lost to that."""
        left = {client.sock: client for client in clients}

        def all_heard():
            self.post(server, "/publish?topic=news", b"probe")
            for sock in select.select(list(left), [], [], 0.05)[0]:
                self.assertEqual(left.pop(sock).text(), "probe")
            return not left
        until("a probe reaches all", all_heard)

    @staticmethod
    def next_word(client):
        """What comes next, probes left out."""
        while (word := client.text()) == "probe":
            pass
        return word


class Elsewhere(Sites):
    def test_workers_of_a_server_publish_as_the_server_does(self):
        server = self.enterContext(Server("try { $response->end(json_encode(Apus\\Push::publish('news', 'x'))); } catch (Throwable $e) { $response->end($e->getMessage()); }"))
        self.assertEqual(server.get().body, b"true")


@unittest.skipUnless(BROWSER, "needs chromium")
class InABrowser(Pushing):
    PAGE = """<?php if ($_SERVER['REQUEST_METHOD'] === 'POST') { exit(json_encode(Apus\\Push::publish('news', $_POST['text']))); } ?>
<!doctype html><ul id="news"></ul><script>
const live = new WebSocket(`ws://${location.host}/live.php`);
live.onmessage = event => news.append(Object.assign(document.createElement('li'), { textContent: event.data }));
</script>"""

    def test_the_news_of_one_page_are_seen_on_another(self):
        root = self.directory({"index.php": self.PAGE, "live.php": "<?php echo json_encode(['topics' => ['news']]);"})
        server = self.served(root, "--websocket", "/live.php")
        folder = tempfile.mkdtemp(prefix="apus-e2e-browser-")
        self.addCleanup(shutil.rmtree, folder, True)
        browser = Browser(folder)
        self.addCleanup(browser.close)
        browser.call("Page.navigate", url=server.url("/"))
        browser.until("document.readyState === 'complete' && live.readyState === 1")
        answer = browser.run("fetch('/', { method: 'POST', body: new URLSearchParams({ text: 'read all about it' }) }).then(r => r.json())")
        self.assertIs(answer, True)
        browser.until("news.textContent === 'read all about it'")
