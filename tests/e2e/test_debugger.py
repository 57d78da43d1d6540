"""A step debugger stops in a request's handler; handlers compiled by the tracing JIT."""

import concurrent.futures
import glob
import importlib.util
import sys
import unittest

from support import HERE, PATIENCE, Case

XDEBUG = glob.glob("/usr/lib/php/20220829/xdebug.so")
HANDLER = """
    $name = $request->get['name'] ?? 'nobody';
    Coroutine::sleep(0.01);
    $text = "hello $name"; // here
    $response->end($text);
"""


def dbgp():
    spec = importlib.util.spec_from_file_location("dbgp", HERE.parent / "lib" / "dbgp.py")
    loaded = importlib.util.module_from_spec(spec)
    # Its dataclasses look the module up there.
    sys.modules["dbgp"] = loaded
    spec.loader.exec_module(loaded)
    return loaded


@unittest.skipUnless(XDEBUG, "php8.2-xdebug is not installed")
class StepDebugger(Case):
    """Xdebug connects when the script starts, in the master; the worker inherits the connection."""

    def session(self, **options):
        debugger = self.enterContext(dbgp().Debugger(timeout=PATIENCE))
        pool = self.enterContext(concurrent.futures.ThreadPoolExecutor(2))
        settings = [s for s in debugger.php_settings() if s != "-d"]
        starting = pool.submit(self.serve, HANDLER, ini=[f"zend_extension={XDEBUG[0]}", *settings], jit=False, env={"XDEBUG_MODE": "debug"}, **options)
        session = self.enterContext(debugger.accept())
        return pool, session, starting

    def test_it_stops_in_a_handler(self):
        pool, session, starting = self.session()
        script = session.init.get("fileuri").removeprefix("file://")
        with open(script) as text:
            line = next(n for n, row in enumerate(text, 1) if "// here" in row)
        session.breakpoint(script, line)
        running = pool.submit(session.run)
        server = starting.result(PATIENCE)
        asking = pool.submit(server.get, "/?name=swift")
        stop = running.result(PATIENCE)
        self.assertEqual((stop.status, stop.file, stop.line), ("break", script, line))
        self.assertEqual(session.evaluate("$name").value, "swift")
        self.assertEqual(session.evaluate("$request->header['host']").value, "test")
        self.assertEqual(session.step_over().line, line + 1)
        self.assertEqual(session.evaluate("$text").value, "hello swift")
        running = pool.submit(session.run)
        self.assertEqual(asking.result(PATIENCE).body, b"hello swift")
        # And again, on the next request.
        asking = pool.submit(server.get, "/?name=again")
        self.assertEqual(running.result(PATIENCE).line, line)
        session.detach()
        self.assertEqual(asking.result(PATIENCE).body, b"hello again")
        self.assertEqual(server.get("/").status, 200)


class Jit(Case):
    def test_handlers_run_compiled(self):
        server = self.serve("""
        $sum = 0;
        for ($i = 0; $i < 20000; $i++) { $sum += strlen((string) ($request->header['host'] ?? '')) + $i % 3; }
        if ($path === '/sleep') { Coroutine::sleep(0.001); }
        $response->end($sum . ' ' . json_encode(opcache_get_status(false)['jit']['on']));""", jit=True)
        with server.connect() as client:
            answers = {client.request(path=path).body for path in ["/", "/sleep"] * 100}
        self.assertEqual(answers, {b"99999 true"})
        self.assertEqual(server.stop(), 0)
