"""Where hooks work and where not: flags, the setting, servers, and programs that never make a coroutine."""

import json
import os
import subprocess
import time

from concurrent.futures import ThreadPoolExecutor

from support import jit_settings, until

import hooks
from hooks import FOLDER, HookCase, servers

# Whether something else ran while a call waited.
PROBE = """
function lets_others_run(callable $call): bool
{
    $ran = false;
    $id = go(function () use (&$ran) { Coroutine::sleep(0.002); $ran = true; });
    $call();
    $during = $ran;
    Coroutine::join([$id]);
    return $during;
}
"""


class Flags(HookCase):
    def probe(self, body, before="", **options):
        return self.php(self.program(f"use Apus\\Runtime;\n{PROBE}\n{before}\nrun(function () {{\n{body}\n}});\n"), **options)

    def test_on_by_default_and_off_on_demand(self):
        printed = self.probe("""
        $sleep = fn () => usleep(20000);
        var_dump(lets_others_run($sleep), Runtime::getHookFlags() === (Apus\\HOOK_ALL & ~Apus\\HOOK_FILE));
        var_dump(Runtime::enableCoroutine(0), Runtime::getHookFlags(), lets_others_run($sleep));
        var_dump(Runtime::enableCoroutine(Apus\\HOOK_ALL), lets_others_run($sleep));
        var_dump(Runtime::enableCoroutine(), Runtime::getHookFlags() === Apus\\HOOK_ALL);
        """)
        self.assertEqual(printed, "bool(true)\nbool(true)\nbool(true)\nint(0)\nbool(false)\nbool(true)\nbool(true)\nbool(true)\nbool(true)\n")

    def test_each_kind_has_its_flag(self):
        printed = self.probe("""
        $c = lines();
        $ask = function () use ($c) { fwrite($c, "sleep 0.1\\n"); fgets($c); };
        [$p, $q] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        stream_set_timeout($p, 0, 100_000);
        $calls = [
            'HOOK_SLEEP' => fn () => usleep(100_000),
            'HOOK_TCP' => $ask,
            'HOOK_UNIX' => fn () => fread($p, 1),
            'HOOK_PROC' => fn () => proc_close(proc_open(['sleep', '0.1'], [], $pipes)),
        ];
        foreach ($calls as $name => $call) {
            $flag = constant("Apus\\\\$name");
            Runtime::enableCoroutine($flag);
            $with = lets_others_run($call);
            Runtime::enableCoroutine(Apus\\HOOK_ALL & ~$flag);
            $without = lets_others_run($call);
            echo "$name ", json_encode([$with, $without]), "\\n";
        }
        """, kinds=(servers.Slow,))
        self.assertEqual(printed, "HOOK_SLEEP [true,false]\nHOOK_TCP [true,false]\nHOOK_UNIX [true,false]\nHOOK_PROC [true,false]\n")

    def test_the_setting_hook_flags(self):
        printed = self.probe("var_dump(lets_others_run(fn () => usleep(20000)), Runtime::getHookFlags());", before="Coroutine::set(['hook_flags' => 0]);")
        self.assertEqual(printed, "bool(false)\nint(0)\n")
        printed = self.probe("var_dump(lets_others_run(fn () => usleep(20000)));", before="Coroutine::set(['hook_flags' => Apus\\HOOK_SLEEP]);")
        self.assertEqual(printed, "bool(true)\n")

    def test_files_on_threads_when_asked_for(self):
        body = """
        Runtime::enableCoroutine(Apus\\HOOK_ALL);
        $names = array_map(fn ($n) => scratch(), range(1, 20));
        echo json_encode(array_unique(batch(array_map(fn ($name) => function () use ($name) {
            $data = random_bytes(200_000);
            $file = fopen($name, 'w+');
            $steps = [fwrite($file, $data), fflush($file), fsync($file), fdatasync($file), rewind($file), fread($file, 8192) === substr($data, 0, 8192), ftell($file), fseek($file, -10, SEEK_END), fread($file, 100) === substr($data, -10), feof($file), ftruncate($file, 100), fclose($file)];
            return json_encode($steps) . filesize($name) . (file_get_contents($name) === substr($data, 0, 100)) . file_put_contents($name, 'more', FILE_APPEND | LOCK_EX) . file_get_contents($name, false, null, 100);
        }, $names)))), "\\n";
        posix_mkfifo($fifo = $names[0] . '.fifo', 0600);
        [$read, $written] = batch([fn () => file_get_contents($fifo), fn () => file_put_contents($fifo, 'through a fifo')]);
        echo $read, $written;
        """
        printed = self.probe(body)
        self.assertEqual(printed, '["[200000,true,true,true,true,true,8192,0,true,true,true,true]10014more"]\nthrough a fifo14')

    def test_after_run_calls_block_again(self):
        printed = self.php(self.program("""
        run(fn () => usleep(1000));
        $begin = hrtime(true);
        usleep(20000);
        sleep(0);
        echo since($begin) >= 0.02 ? 'slept' : 'did not sleep', ' ', file_get_contents('http://127.0.0.1:' . at('SLOW_PORT') . '/sleep/0.01'), ' ', exec('echo executed');
        """), kinds=(servers.Slow,))
        self.assertEqual(printed, "slept slept 0.01 executed")


class Everywhere(HookCase):
    def test_the_function_table_is_untouched(self):
        # Hooks work below PHP: no function is replaced, none disabled.
        body = "$f = get_defined_functions()['internal']; echo count(array_filter($f, fn ($n) => !str_starts_with($n, 'apus\\\\'))), ' ', md5(implode(',', array_filter($f, fn ($n) => !str_starts_with($n, 'apus\\\\'))));"
        self.same(body)

    def test_in_a_users_fiber_inside_a_coroutine(self):
        printed = self.inside("""
        $begin = hrtime(true);
        $results = batch(array_map(fn ($n) => function () use ($n) {
            $fiber = new Fiber(function () use ($n) {
                usleep(50_000);
                $got = file_get_contents('http://127.0.0.1:' . at('SLOW_PORT') . '/sleep/0.05');
                return Fiber::suspend($n) . $got;
            });
            $given = $fiber->start();
            $fiber->resume("resumed $given ");
            return $fiber->getReturn();
        }, range(1, 20)));
        echo $results[0], ' ', $results[19], ' ', since($begin) < 1.5 ? 'at once' : 'one by one';
        """, kinds=(servers.Slow,))
        self.assertEqual(printed, "resumed 1 slept 0.05 resumed 20 slept 0.05 at once")

    def test_in_a_generator_a_callback_and_a_destructor(self):
        printed = self.inside("""
        $numbers = (function () { foreach (range(1, 3) as $n) { usleep(1000); yield $n; } })();
        echo implode(iterator_to_array($numbers)), ' ';
        echo implode(array_map(function ($n) { usleep(1000); return $n * 2; }, [1, 2])), ' ';
        $sorted = [3, 1, 2];
        usort($sorted, function ($a, $b) { usleep(100); return $a <=> $b; });
        echo implode($sorted), ' ', preg_replace_callback('/./', function ($m) { usleep(100); return strtoupper($m[0]); }, 'abc'), ' ';
        (function () { $x = new class { function __destruct() { usleep(1000); echo 'gone '; } }; })();
        ob_start(function ($text) { return strtoupper($text); });
        echo 'buffered';
        usleep(1000);
        ob_end_flush();
        """)
        self.assertEqual(printed, "123 24 123 ABC gone BUFFERED")

    def test_c_code_that_goes_deep(self):
        # What PHP's own stack, and a Fiber's, have room for.
        printed = self.inside("""
        for ($nested = 1, $n = 0; $n < 600; $n++) { $nested = [$nested]; }
        for ($list = null, $n = 0; $n < 5_000; $n++) { $node = new stdClass(); $node->next = $list; $list = $node; }
        unset($node, $list);
        echo strlen(serialize($nested)), ' ', strlen(print_r($nested, true)) > 600, ' ', $nested == unserialize(serialize($nested));
        """)
        self.assertEqual(printed, "6004 1 1")

    def test_at_shutdown(self):
        # Shutdown functions and destructors run when no coroutine is left: plain calls again.
        printed = self.php(self.program("""
        register_shutdown_function(function () { usleep(1000); echo file_get_contents('http://127.0.0.1:' . at('SLOW_PORT') . '/sleep/0.01'), ' '; });
        $kept = new class { public $c; function __destruct() { usleep(1000); echo $this->c->query('SELECT 7')->fetchColumn(); } };
        run(function () use ($kept) { $kept->c = pdo_mysql(); $kept->c->query('SELECT SLEEP(0.01)')->fetchAll(); });
        """), kinds=(servers.MariaDB, servers.Slow))
        self.assertEqual(printed, "slept 0.01 7")

    def test_exit_while_others_wait(self):
        printed = self.inside("""
        go(function () { try { sleep(60); } finally { echo 'finally '; } });
        go(function () { pdo_mysql()->query('SELECT SLEEP(60)'); });
        go(function () { file_get_contents('http://127.0.0.1:' . at('SLOW_PORT') . '/never'); });
        usleep(20_000);
        echo 'leaving ';
        exit(0);
        """, kinds=(servers.MariaDB, servers.Slow))
        self.assertTrue(printed.startswith("leaving"), printed)

    def test_include_and_autoload_over_waits(self):
        # An autoloader that waits, asked for the same class by two coroutines, loads it once.
        printed = self.inside("""
        $loads = 0;
        spl_autoload_register(function ($class) use (&$loads) {
            $loads++;
            usleep(5000);
            eval("class $class { const X = 'loaded'; }");
        });
        echo json_encode(batch([fn () => Late::X, fn () => Late::X, fn () => class_exists('Late')])), " $loads";
        """)
        self.assertEqual(printed, '["loaded","loaded",true] 1')


class Loaded(HookCase):
    def test_jit_and_opcache(self):
        jit = [setting for setting in jit_settings() if setting != "-d"]
        told = self.json(
            FOLDER / "together.php",
            "pdo_mysql",
            50,
            kinds=(servers.MariaDB, servers.Slow),
            ini=[] if os.environ.get("APUS_E2E_JIT") == "1" else jit,
        )
        self.assertEqual((told["count"], told["wrongs"]), (50, 0))
        self.assertLess(told["seconds"], 2.5)

    def test_an_extension_loaded_after_the_module(self):
        # Its libraries come after the hooks were put in: they are redirected, too.
        settings, _ = hooks.extensions()
        mysql = [setting for setting in settings if "mysqlnd" in setting or "=pdo" in setting or "pdo_mysql" in setting or "curl" in setting]
        code = self.program("""
        run(function () {
            $begin = hrtime(true);
            $results = batch([...array_fill(0, 10, fn () => pdo_mysql()->query('SELECT SLEEP(0.1)')->fetchColumn()), ...array_fill(0, 10, fn () => curl_exec(curl('/sleep/0.1')))]);
            echo json_encode(array_count_values($results)), since($begin) < 1.2 ? ' at once' : ' one by one';
        });
        """)
        order = [part for setting in mysql for part in ("-d", setting)]
        command = [hooks.support.php(), "-n", "-d", f"extension={hooks.support.module()}", *order, str(code)]
        printed = subprocess.run(
            command,
            capture_output=True,
            text=True,
            env={**os.environ, **hooks.environment(servers.MariaDB, servers.Slow)},
            timeout=60,
        )
        self.assertEqual(printed.stdout, '{"0":10,"slept 0.1":10} at once', printed.stderr)


class InAServer(HookCase):
    def test_handlers_wait_together(self):
        environment = hooks.environment(servers.MariaDB, servers.Redis, servers.Slow)
        settings, _ = hooks.extensions()
        server = self.serve("""
        switch ($path) {
            case '/usleep': usleep(100_000); $out = 'slept'; break;
            case '/mysql': $out = pdo_mysql()->query("SELECT SLEEP(0.1), 'rows'")->fetchColumn(1); break;
            case '/redis': $out = json_encode(phpredis()->rawCommand('BLPOP', 'nothing', '0.1')); break;
            case '/http': $out = file_get_contents('http://127.0.0.1:' . at('SLOW_PORT') . '/sleep/0.1'); break;
            case '/exec': $out = exec('sleep 0.1; echo done'); break;
        }
        $response->end((string) $out);
        """, before=f"require {json.dumps(str(FOLDER / 'common.php'))};", ini=[s for s in settings if s != "-d"], env=environment)
        wanted = {"/usleep": b"slept", "/mysql": b"rows", "/redis": b"[]", "/http": b"slept 0.1", "/exec": b"done"}
        begin = time.monotonic()
        with ThreadPoolExecutor(50) as pool:
            answers = list(pool.map(lambda path: (path, server.get(path).body), list(wanted) * 20))
        seconds = time.monotonic() - begin
        print(f"     100 requests that wait 0.1 s, one worker: {seconds:.3f} s", flush=True)
        self.assertEqual([pair for pair in answers if wanted[pair[0]] != pair[1]], [])
        # One after the other: 10 s.
        self.assertLess(seconds, 5)

    def test_a_call_that_blocks_all_is_reported_by_its_name(self):
        server = self.serve("""
        if ($path === '/block') {
            Apus\\Runtime::enableCoroutine(0);
            usleep(150_000);
            Apus\\Runtime::enableCoroutine();
        }
        $response->end((string) $server->stats()['loop_blocked_count']);
        """, settings={"blocked_loop_warn": 0.05})
        server.get("/block")
        until("it is counted", lambda: int(server.get("/").body) > 0)
        until("it is reported", lambda: "blocked_loop_warn" in server.log())
        self.assertRegex(server.log(), r"(?s)kept its worker busy for .*usleep\(")

    def test_a_lost_server_is_an_exception_not_the_end(self):
        with servers.MariaDB() as database:
            settings, _ = hooks.extensions()
            server = self.serve("""
            try { $out = pdo_mysql()->query('SELECT 5')->fetchColumn(); } catch (PDOException $e) { $out = $e->getCode(); }
            $response->end((string) $out);
            """, before=f"require {json.dumps(str(FOLDER / 'common.php'))};", ini=[s for s in settings if s != "-d"], env=database.environment())
            self.assertEqual(server.get().body, b"5")
            database.kill()
            self.assertEqual(server.get().body, b"2002")
            database.start()
            self.assertEqual(server.get().body, b"5")
