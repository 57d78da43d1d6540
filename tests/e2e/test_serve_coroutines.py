"""Coroutines in the scripts of `apus serve`: in those that run anew for each request, and in those that stay."""

import pathlib
import tempfile
import time

from support import Case, Site

CASES = r"""
use Apus\Coroutine;
use Apus\Coroutine\Channel;
use Apus\Timer;
use function Apus\go;

function answer(string $what): void
{
    switch ($what) {
        case 'several':
            $results = new Channel(50);
            for ($n = 0; $n < 50; $n++) {
                go(function () use ($n, $results) { $n % 2 ? Coroutine::sleep(0.2) : usleep(200_000); $results->push($n); });
            }
            go(function () use ($results) {
                for ($n = 0; $n < 50; $n++) { $all[] = $results->pop(); }
                sort($all);
                echo json_encode($all);
            });
            break;
        case 'run':
            Coroutine\run(function () use (&$said) {
                go(function () use (&$said) { Coroutine::sleep(0.01); $said .= 'second '; });
                $said .= 'first ';
            });
            echo $said, $_GET['x'], Coroutine::getCid();
            break;
        case 'unfinished':
            go(function () { Coroutine::sleep(0.2); header('X-Late: yes'); http_response_code(202); echo 'late'; });
            break;
        case 'stuck':
            go(function () { (new Channel(1))->pop(); });
            break;
        case 'exit':
            go(function () { Coroutine::sleep(0.02); echo 'slept'; });
            exit;
        case 'throw':
            go(function () { Coroutine::sleep(0.02); throw new DomainException('of a coroutine'); });
            break;
        case 'timer':
            Timer::tick(20, function (int $id) { echo 'tick'; Timer::clear($id); });
            break;
        case 'forever':
            Timer::tick(20, fn () => null);
            echo 'begun';
            break;
        case 'handle':
            go(function () {
                try { Apus\handle_request(fn () => null); } catch (Throwable $error) { echo $error::class, ' ', $error->getCode(), ': ', $error->getMessage(); }
            });
            break;
        default:
            echo json_encode([getmypid(), Coroutine::stats()['coroutine_num'] ?? 0, Coroutine::getCid()]);
    }
}
"""
INI = ("display_errors=1", "html_errors=0", "output_buffering=0")


class Coroutines(Case):
    """The same in both."""

    def start(self, end):
        root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="apus-go-"))).resolve()
        (root / "index.php").write_text("<?php" + CASES + end)
        settings = {"script_worker": str(root / "index.php")} if "handle_request(fn () => answer" in end else {}
        return self.enterContext(Site(root, workers=1, settings=settings, ini=INI))

    def classic(self):
        return self.start("answer($_GET['what'] ?? '');")

    def staying(self):
        return self.start("while (Apus\\handle_request(fn () => answer($_GET['what'] ?? '')));")

    def shared(self, server):
        ask = lambda what: server.get(f"/?what={what}&x=given")  # noqa: E731
        process, *rest = ask("").json()
        self.assertEqual(rest, [0, -1])
        for _ in range(2):
            began = time.monotonic()
            self.assertEqual(ask("several").json(), list(range(50)))
            # One after the other they would sleep for ten seconds.
            self.assertLess(time.monotonic() - began, 5)
            self.assertEqual(ask("run").body, b"first second given-1")
            late = ask("unfinished")
            self.assertEqual((late.status, late.headers.get("x-late"), late.body), (202, "yes", b"late"))
            self.assertEqual(ask("exit").body, b"slept")
            thrown = ask("throw").body.decode()
            self.assertRegex(thrown, "Uncaught DomainException: of a coroutine")
            self.assertIn("Coroutine\\Channel::pop()", ask("stuck").body.decode())
            # Nothing of it is left in the process, which goes on.
            self.assertEqual(ask("").json(), [process, 0, -1])

    def test_in_scripts_that_run_anew(self):
        server = self.classic()
        self.shared(server)
        self.assertEqual(server.get("/?what=timer").body, b"tick")

    def test_in_scripts_that_stay(self):
        server = self.staying()
        self.shared(server)

    def test_no_request_is_asked_for_in_a_coroutine(self):
        server = self.staying()
        told = server.get("/?what=handle").body.decode()
        self.assertEqual(told, "Apus\\Server\\Exception 104: handle_request() was called while a request is served")
        server = self.start("""
            Coroutine\\run(function () {
                try { Apus\\handle_request(fn () => answer('')); } catch (Throwable $error) { file_put_contents(__DIR__ . '/said', $error::class . $error->getMessage()); }
            });
            while (Apus\\handle_request(fn () => print file_get_contents(__DIR__ . '/said')));""")
        self.assertIn(b"Server\\Exceptionhandle_request() was called in a coroutine", server.get("/").body)

    def test_timers_end_with_the_request_of_a_script_that_stays(self):
        server = self.staying()
        self.assertEqual(server.get("/?what=forever").body, b"begun")
        self.assertEqual(server.get("/").json()[1:], [0, -1])
        self.assertIn("timers do not run in a script that stays", server.log())
