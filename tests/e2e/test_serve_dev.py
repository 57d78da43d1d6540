"""`apus serve --dev`: changes are seen at once and pages load anew, errors are pages, a step debugger stops."""

import concurrent.futures
import glob
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import support
from serve_cases import Sites
from support import PATIENCE, command, module, php, until
from test_debugger import XDEBUG, dbgp
from test_demo import BROWSER, Browser

HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
FAILING = r"""<?php
function inner(string $secret, array $list)
{
    echo 'printed before';
    header('Content-Length: 5');
    throw new RuntimeException('of <b>mine</b> & more', 42, new LogicException('the cause'));
}
class Shop { public static function open($x) { inner('a <secret>', [1, 2, 3]); } }
setcookie('kept', '1');
Shop::open(null);
"""
ERRORS = {
    "exception.php": FAILING,
    "undefined.php": "<?php\nundefined_function();\n",
    "parse.php": "<?php\n$x = ;\n",
    "compile.php": "<?php\nfunction twice() {}\nif (true) { eval('function twice() {}'); }\n",
    "memory.php": "<?php\nfunction grow() { $all = []; while (true) { $all[] = str_repeat('x', 100000); } }\ngrow();\n",
    "user.php": "<?php\nfunction told() { trigger_error('my own words', E_USER_ERROR); }\ntold();\n",
    "hidden.php": "<?php ini_set('display_errors', '0'); throw new Exception('hidden');",
    "handled.php": "<?php set_exception_handler(function ($e) { http_response_code(418); echo 'handled ', $e->getMessage(); }); throw new Exception('x');",
    "late.php": "<?php echo str_repeat('x', 10000); ob_end_flush(); flush(); throw new Exception('too late');",
    "fine.php": "<?php try { throw new Exception('caught'); } catch (Exception) {} echo 'fine', PHP_EOL, $undefined;",
    "sub.php": "<?php include __DIR__ . '/parse.php';",
    "shutdown.php": "<?php register_shutdown_function(function () { echo '<!-- shut -->'; }); throw new Exception('then');",
}


class Development(Sites):
    def get(self, server, path, **headers):
        with server.connect() as client:
            fields = {name.replace("_", "-"): value for name, value in headers.items()}
            return client.request(path=path, headers={**HTML, **fields}, close=True)

    def dev(self, files, *args, **options):
        root = self.directory(files)
        return root, self.served(root, "--dev", **options)


class ErrorPage(Development):
    def test_an_exception_is_shown_with_code_calls_and_request(self):
        root, server = self.dev(ERRORS)
        answer = self.get(server, "/exception.php?question=of+mine", Cookie="biscuit=1")
        self.assertEqual((answer.status, answer.headers["content-type"]), (500, "text/html; charset=UTF-8"))
        page = answer.body.decode()
        self.assertIn("<h1>RuntimeException 42</h1>", page)
        self.assertIn("of &lt;b&gt;mine&lt;/b&gt; &amp; more", page)
        self.assertRegex(page, r'class="here"><th>6</th><td> +throw new RuntimeException')
        self.assertIn("<h2>Previous: LogicException</h2>", page)
        self.assertIn("inner(&#039;a &lt;secret&gt;&#039;, array(3))", page)
        self.assertIn("Shop::open(null)", page)
        self.assertRegex(page, r"question</th><td>of mine")
        self.assertRegex(page, r"biscuit</th><td>1")
        self.assertIn(f"{root}/exception.php:6", page)
        self.assertTrue(page.startswith("<!DOCTYPE html>"), page)
        self.assertNotIn("<b>mine", page)
        self.assertIn("kept=1", answer.headers["set-cookie"])

    def test_every_kind_of_error_has_its_page(self):
        _, server = self.dev(ERRORS)
        for name, kind, text, line in (
            ("undefined", "Error", "Call to undefined function undefined_function()", 2),
            ("parse", "Parse error", "syntax error, unexpected token", 2),
            ("sub", "ParseError", "syntax error, unexpected token", 2),
            ("compile", "Fatal error", "Cannot redeclare", 1),
            ("memory", "Fatal error", "Allowed memory size", 2),
            ("user", "Fatal error", "my own words", 2),
            ("shutdown", "Exception", "then", 1),
        ):
            # Twice: nothing of the first is left in the process.
            for _ in range(2):
                with self.subTest(name):
                    answer = self.get(server, f"/{name}.php")
                    page = answer.body.decode()
                    self.assertEqual(answer.status, 500)
                    self.assertIn(f"<h1>{kind}</h1>", page)
                    self.assertIn(text, page)
                    self.assertIn(f'class="here"><th>{line}</th>' if name != "compile" else "eval()", page)
        self.assertIn("grow()", self.get(server, "/memory.php").body.decode())
        self.assertIn("told()", self.get(server, "/user.php").body.decode())
        self.assertIn("<!-- shut -->", self.get(server, "/shutdown.php").body.decode())
        self.assertIn("my own words", server.log() + server.said())

    def test_what_a_program_does_about_its_errors_holds(self):
        _, server = self.dev(ERRORS)
        self.assertNotIn("hidden", self.get(server, "/hidden.php").body.decode())
        self.assertEqual(self.get(server, "/hidden.php").status, 500)
        handled = self.get(server, "/handled.php")
        self.assertEqual((handled.status, handled.body[:9]), (418, b"handled x"))
        late = self.get(server, "/late.php")
        self.assertEqual(late.status, 200)
        self.assertIn("Uncaught Exception: too late", late.body.decode())
        fine = self.get(server, "/fine.php").body.decode()
        self.assertTrue(fine.startswith("fine\n"))
        self.assertIn("Undefined variable $undefined", fine)

    def test_who_wants_no_html_has_text(self):
        root, server = self.dev(ERRORS)
        answer = server.get("/exception.php")
        self.assertEqual((answer.status, answer.headers["content-type"]), (500, "text/plain; charset=UTF-8"))
        text = answer.body.decode()
        self.assertIn(f"RuntimeException 42: of <b>mine</b> & more\n  at {root}/exception.php:6\n", text)
        self.assertIn("Previous: LogicException: the cause", text)

    def test_a_script_that_stays_goes_on(self):
        script = """<?php
            while (Apus\\handle_request(function () {
                if (isset($_GET['throw'])) { throw new DomainException('of a request'); }
                if (isset($_GET['fatal'])) { trigger_error('the end', E_USER_ERROR); }
                echo getmypid();
            }));"""
        root = self.directory({"worker.php": script})
        server = self.served(root, "--dev", settings={"script_worker": str(root / "worker.php")}, workers=1)
        process = server.get("/").body
        for _ in range(2):
            answer = self.get(server, "/?throw")
            self.assertEqual(answer.status, 500)
            self.assertIn("<h1>DomainException</h1>", answer.body.decode())
            self.assertEqual(server.get("/").body, process)
        self.assertIn("<h1>Fatal error</h1>", self.get(server, "/?fatal").body.decode())
        self.assertNotEqual(server.get("/").body, process)

    def test_without_dev_nothing_is_shown(self):
        server = self.served(self.directory(ERRORS), ini=("display_errors=0",))
        answer = self.get(server, "/exception.php")
        self.assertEqual((answer.status, b"mine" in answer.body), (500, False))


class Changes(Development):
    def test_changed_code_is_seen_at_once(self):
        root, server = self.dev({"index.php": "<?php echo 'v00'; include 'part.inc';", "part.inc": "<?php echo 'p00';"})
        for number in range(20):
            for name, letter in (("index.php", "v"), ("part.inc", "p")):
                text = (root / name).read_text()
                (root / name).write_text(re.sub(f"{letter}[0-9]+", f"{letter}{number:02}", text))
            self.assertEqual(server.get("/").body, f"v{number:02}p{number:02}".encode())

    def test_an_application_that_stays_is_booted_anew(self):
        files = {
            "public/worker.php": "<?php $value = require dirname(__DIR__) . '/config/value.php'; while (Apus\\handle_request(function () use ($value) { echo $value; }));",
            "config/value.php": "<?php return 1;",
            "composer.json": "{}",
            "var/cache/x.php": "<?php",
        }
        root = self.directory(files)
        server = self.served(root / "public", "--dev", settings={"script_worker": str(root / "public/worker.php")})
        self.assertEqual(server.get("/").body, b"1")
        (root / "config/value.php").write_text("<?php return 2;")
        until("the new value", lambda: server.get("/").body == b"2")
        self.assertIn("config/value.php has changed", server.log())
        # New code that does not boot leaves the old one.
        (root / "config/value.php").write_text("<?php retur 3;")
        until("it is told", lambda: "reload given up" in server.log())
        self.assertEqual(server.get("/").body, b"2")
        (root / "config/value.php").write_text("<?php return 4;")
        until("the mended value", lambda: server.get("/").body == b"4")

    def test_pages_listen_and_are_told(self):
        page = "<?php header('Content-Type: ' . ($_GET['kind'] ?? 'text/html')); echo $text = '<p>page</p>'; if (isset($_GET['flush'])) { ob_flush(); flush(); echo 'more'; }"
        fixed = "<?php ob_start(); echo '<p>page</p>'; header('Content-Length: ' . ob_get_length());"
        root, server = self.dev({"index.php": page, "fixed.php": fixed, "moved.php": "<?php header('Location: /');", "style.css": "a {}"})
        answer = self.get(server, "/", Sec_Fetch_Dest="document")
        source = re.fullmatch(rb'<p>page</p><script>.*new EventSource\("(/\.apus/refresh\?[0-9-]+)"\).*</script>\n', answer.body)
        self.assertTrue(source, answer.body)
        self.assertIn(b"more<script>", self.get(server, "/?flush").body)
        self.assertIn(b"</p><script>", self.get(server, "/fixed.php").body)
        for path, headers in (
            ("/?kind=application/json", {}), ("/", {"Sec_Fetch_Dest": "empty"}), ("/", {"X_Requested_With": "XMLHttpRequest"}),
        ):
            self.assertEqual(self.get(server, path, **headers).body, b"<p>page</p>")
        self.assertEqual(self.get(server, "/moved.php").body, b"")
        listening = self.enterContext(server.connect())
        listening.send(b"GET " + source[1] + b" HTTP/1.1\r\nHost: test\r\n\r\n")
        while b"retry: " not in listening.buffer:
            listening.more()
        (root / "style.css").write_text("a { color: red }")
        # Its worker leaves with the reload; a browser asks again.
        while not listening.buffer.endswith(b"0\r\n\r\n"):
            listening.more()
        if b"data: reloaded" not in listening.buffer:
            again = until("it is told", lambda: server.get(source[1].decode()).body)
            self.assertIn(b"data: reloaded", again)

    def test_a_setting_switches_it_off(self):
        _, server = self.dev({"index.php": "<?php echo 'page';"}, settings={"script_refresh": False})
        self.assertEqual(self.get(server, "/").body, b"page")
        self.assertEqual(self.get(server, "/.apus/refresh").status, 404)

    def test_the_terminal_shows_requests(self):
        _, server = self.dev({"index.php": "<?php echo 'page';"})
        server.get("/seen?x=1")
        until("a line", lambda: re.search(r"^404 GET /seen\?x=1 \d\.\d+s$", server.said(), re.M))


@unittest.skipUnless(BROWSER, "needs chromium")
class InABrowser(Development):
    TEXT = "document.body.textContent.split('(()')[0].trim()"

    def test_an_open_page_follows_the_program(self):
        root, server = self.dev({"index.php": "<?php include 'part.html'; echo '<p>one</p>';", "part.html": "<h1>part</h1>"})
        folder = tempfile.mkdtemp(prefix="apus-e2e-browser-")
        self.addCleanup(shutil.rmtree, folder, True)
        browser = Browser(folder)
        self.addCleanup(browser.close)
        browser.call("Page.navigate", url=server.url("/"))

        def holds(expression):
            try:
                return browser.run(f"document.readyState === 'complete' && {expression}")
            except AssertionError as error:
                # It is loaded anew meanwhile.
                if "navigated" not in str(error) and "context" not in str(error):
                    raise

        shows = lambda text: until(text, lambda: holds(f"{self.TEXT} === '{text}'"))  # noqa: E731
        shows("partone")
        (root / "index.php").write_text("<?php include 'part.html'; echo '<p>two</p>';")
        shows("parttwo")
        # An error is a page that follows, too.
        (root / "index.php").write_text("<?php throw new Exception('a mistake');")
        until("the error", lambda: holds("document.querySelector('h1')?.textContent === 'Exception'"))
        self.assertEqual(browser.run("document.querySelector('.message').textContent"), "a mistake")
        self.assertTrue(browser.run("document.querySelector('.here').textContent.includes('throw new Exception')"))
        (root / "part.html").write_text("<h1>mended </h1>")
        (root / "index.php").write_text("<?php include 'part.html'; echo '<p>three</p>';")
        shows("mended three")


class Addresses(Sites):
    def refused(self, *args):
        line = [command(), "serve", "--php", php(), "--extension", module(), str(self.directory({"index.php": ""})), *args]
        return subprocess.run(line, capture_output=True, text=True, timeout=PATIENCE)

    def test_others_do_not_see_it_unless_that_is_said(self):
        for host in ("0.0.0.0", "::", "192.0.2.1"):
            done = self.refused("--dev", "--host", host, "--port", "0")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("--dev-public", done.stderr)
        server = self.served(self.directory({"index.php": "<?php echo ini_get('display_errors');"}), "--dev-public", "--host", "0.0.0.0")
        server.address = f"127.0.0.1:{server.port}"
        self.assertEqual(server.get("/").body[:1], b"1")


@unittest.skipUnless(XDEBUG, "php8.2-xdebug is not installed")
class StepDebugger(Development):
    CODE = "<?php\n$name = $_GET['name'] ?? 'nobody';\n$text = \"hello $name\";\necho $text;\n"

    def debugged(self, files, **options):
        debugger = self.enterContext(dbgp().Debugger(timeout=PATIENCE))
        ini = [entry for entry in debugger.php_settings() if entry != "-d"]
        root = self.directory(files)
        return root, debugger, self.enterContext(support.Site(
            root, "--dev", ini=(f"zend_extension={XDEBUG[0]}", *ini, *options.pop("more", ())), env={"XDEBUG_MODE": "debug"}, **options
        ))

    def stops(self, debugger, asking, pool, script):
        session = self.enterContext(debugger.accept())
        session.breakpoint(script, 4)
        running = pool.submit(session.run)
        stop = running.result(PATIENCE)
        self.assertEqual((stop.status, stop.file, stop.line), ("break", str(script), 4))
        self.assertEqual(session.evaluate("$name").value, "you")
        self.assertEqual(session.evaluate("$text").value, "hello you")
        session.detach()
        self.assertEqual(asking.result(PATIENCE).body, b"hello you")

    def test_it_stops_in_a_script(self):
        root, debugger, server = self.debugged({"page.php": self.CODE})
        pool = self.enterContext(concurrent.futures.ThreadPoolExecutor(4))
        for _ in range(2):
            asking = pool.submit(server.get, "/page.php?name=you")
            self.stops(debugger, asking, pool, root / "page.php")

    def test_it_is_asked_for_by_a_cookie(self):
        root, debugger, server = self.debugged({"page.php": self.CODE}, more=("xdebug.start_with_request=trigger",))
        pool = self.enterContext(concurrent.futures.ThreadPoolExecutor(4))
        self.assertEqual(server.get("/page.php").body, b"hello nobody")
        asking = pool.submit(self.get, server, "/page.php?name=you", Cookie="XDEBUG_SESSION=1", Accept="*/*")
        self.stops(debugger, asking, pool, root / "page.php")

    def test_it_stops_in_a_script_that_stays(self):
        code = "<?php\nfunction answer() { $name = $_GET['name'] ?? 'nobody';\n$text = \"hello $name\";\necho $text; }\nwhile (Apus\\handle_request(answer(...)));"
        root = self.directory({"worker.php": code})
        debugger = self.enterContext(dbgp().Debugger(timeout=PATIENCE))
        ini = [entry for entry in debugger.php_settings() if entry != "-d"]
        settings = {"script_worker": str(root / "worker.php")}
        server = self.enterContext(support.Site(
            root, "--dev", ini=(f"zend_extension={XDEBUG[0]}", *ini, "xdebug.start_with_request=trigger"), env={"XDEBUG_MODE": "debug"},
            settings=settings, workers=1,
        ))
        pool = self.enterContext(concurrent.futures.ThreadPoolExecutor(4))
        self.assertEqual(server.get("/").body, b"hello nobody")
        asking = pool.submit(self.get, server, "/?name=you", Cookie="XDEBUG_SESSION=1", Accept="*/*")
        self.stops(debugger, asking, pool, root / "worker.php")

    def test_its_own_display_of_errors_gives_way_to_the_page(self):
        root = self.directory({"exception.php": FAILING, "undefined.php": ERRORS["undefined.php"]})
        ini = (f"zend_extension={XDEBUG[0]}",)
        server = self.enterContext(support.Site(root, "--dev", ini=ini, env={"XDEBUG_MODE": "develop"}))
        for _ in range(2):
            for path, kind in (("/exception.php", "RuntimeException 42"), ("/undefined.php", "Error")):
                answer = self.get(server, path)
                page = answer.body.decode()
                self.assertEqual((answer.status, page[:15]), (500, "<!DOCTYPE html>"))
                self.assertIn(f"<h1>{kind}</h1>", page)
                self.assertNotIn("xdebug-error", page)

    def test_the_profiler_writes_what_a_script_took(self):
        root = self.directory({"page.php": "<?php function slow() { return array_sum(range(1, 1000)); } echo slow();", "profile/x": ""})
        ini = (f"zend_extension={XDEBUG[0]}", f"xdebug.output_dir={root}/profile", "xdebug.use_compression=0")
        server = self.enterContext(support.Site(root, "--dev", ini=ini, env={"XDEBUG_MODE": "profile"}))
        self.assertEqual(server.get("/page.php").body, b"500500")
        files = until("a profile", lambda: glob.glob(f"{root}/profile/cachegrind.out.*"))
        until("it is whole", lambda: re.search(r"^fn=\(\d+\) slow$", pathlib.Path(files[0]).read_text(), re.M))
