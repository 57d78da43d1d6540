"""A fatal error in a worker, wherever it comes from: its request fails, the others finish, the worker is replaced, and
nothing crashes."""

from support import Case, alive, until

CLASSES = """
final class Bad { public function __destruct() { trigger_error('in a destructor', E_USER_ERROR); } }
final class Text { public function __toString(): string { trigger_error('in __toString()', E_USER_ERROR); return ''; } }
"""

HANDLER = """
switch ($path) {
    case '/wait':
        touch("$folder/waiting");
        while (!file_exists("$folder/go")) { Coroutine::sleep(0.005); }
        ob_start();
        echo 'captured';
        $text = ob_get_clean();
        $list = [3, 1, 2];
        usort($list, fn($a, $b) => $a <=> $b);
        $response->end('finished ' . getmypid() . ' ' . $text . ' ' . unserialize(serialize('values')) . ' ' . implode($list));
        return;
    case '/destructor':
        $bad = new Bad;
        Apus\\go(function () use ($bad) { Coroutine::sleep(0.001); });
        unset($bad);
        $response->end('ok');
        return;
    case '/convert':
        $response->end(new Text);
        return;
    case '/output':
        ob_start(function ($text) { ob_start(); return $text; });
        echo 'x';
        ob_end_flush();
        return;
    case '/buffer':
        ob_start();
        echo 'left open';
        trigger_error('raised', E_USER_ERROR);
        return;
    case '/state':
        $list = [3, 1, 2];
        usort($list, function ($a, $b) { unserialize(serialize(new Sleepless)); return 0; });
        return;
    case '/silence':
        @trigger_error('raised', E_USER_ERROR);
        return;
    case '/throw':
        throw new Exception('thrown');
    case '/timer':
        Apus\\Timer::after(1, function () { trigger_error('raised', E_USER_ERROR); });
        break;
    case '/tick-memory':
        ini_set('memory_limit', '32M');
        Apus\\Timer::after(1, function () { str_repeat('x', 64_000_000); });
        break;
}
$response->end((string) getmypid());
"""

SLEEPLESS = "final class Sleepless { public function __serialize(): array { trigger_error('raised', E_USER_ERROR); return []; } }"


class FatalErrors(Case):
    BEFORE = CLASSES + SLEEPLESS

    def check(self, path, expected=500, handler=HANDLER, before="", **settings):
        server = self.serve(handler, before=self.BEFORE + before, settings=settings)
        old = int(server.get("/").body)
        if settings.get("enable_coroutine", True):
            from test_faults import in_thread

            thread, out = in_thread(lambda: server.get("/wait"))
            until("one waits", lambda: (server.folder / "waiting").exists())
        self.assertEqual(server.get(path).status, expected)
        new = until("a new worker", lambda: (pid := int(server.get("/").body)) != old and pid)
        if settings.get("enable_coroutine", True):
            (server.folder / "go").touch()
            thread.join()
            self.assertEqual([(a.status, a.body) for a in out], [(200, b"finished %d captured values 123" % old)])
        until("the old worker has left", lambda: not alive(old))
        self.assertEqual(int(server.get("/").body), new)
        self.assertEqual(server.stop(), 0)
        self.assertNotIn("SIG", server.log())
        return server

    def test_in_a_destructor_that_runs_on_the_loop(self):
        self.check("/destructor", 200)

    def test_while_an_argument_is_converted(self):
        self.check("/convert")

    def test_in_an_output_handler(self):
        self.check("/output")

    def test_with_an_output_buffer_open(self):
        self.check("/buffer")

    def test_in_a_comparison_and_in_serialize(self):
        self.check("/state")

    def test_in_a_timer(self):
        self.check("/timer", 200)

    def test_the_memory_limit_in_a_timer(self):
        self.check("/tick-memory", 200)

    def test_in_the_exception_handler(self):
        self.check("/throw", before="set_exception_handler(function () { trigger_error('in the handler', E_USER_ERROR); });")

    def test_the_memory_limit_in_the_exception_handler(self):
        self.check("/throw", before="set_exception_handler(function () { ini_set('memory_limit', '32M'); str_repeat('x', 64_000_000); });")

    def test_without_coroutines(self):
        for path in ("/convert", "/output", "/buffer", "/state", "/silence"):
            with self.subTest(path):
                self.check(path, enable_coroutine=False)
