"""Master and workers as the system sees them: signals, files, users, sockets handed over."""

import grp
import json
import os
import pathlib
import pwd
import select
import signal
import socket
import stat
import subprocess
import tempfile
import unittest

from support import PATIENCE, Case, Client, alive, until


def title(pid):
    return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0].decode()


def unix_get(path):
    sock = socket.socket(socket.AF_UNIX)
    sock.settimeout(PATIENCE)
    sock.connect(str(path))
    with Client(sock) as client:
        return client.request(close=True)


class Signals(Case):
    def pids(self, server):
        return sorted(server.workers())

    def test_term_stops_and_leaves_nothing(self):
        server = self.serve(settings={"worker_num": 2}, before="$server->set(['pid_file' => \"$folder/pid\"]);")
        self.assertEqual(int((server.folder / "pid").read_text()), server.pid)
        workers, control = server.workers(), pathlib.Path(server.ready["control"])
        self.assertTrue(stat.S_ISSOCK(control.stat().st_mode))
        self.assertEqual(stat.S_IMODE(control.stat().st_mode), 0o600)
        self.assertEqual(server.stop(signal.SIGTERM), 0)
        self.assertEqual([alive(pid) for pid in workers], [False, False])
        self.assertFalse((server.folder / "pid").exists())
        self.assertFalse(control.exists())

    def test_usr1_replaces_all_workers(self):
        server = self.serve("$response->end((string) getmypid());", settings={"worker_num": 3})
        old = set(server.workers())
        server.kill(signal.SIGUSR1)
        new = until("new workers", lambda: len(now := set(server.workers())) == 3 and not now & old and now)
        self.assertIn(int(server.get().body), new)

    def test_reload_brings_new_code(self):
        server = self.serve("$response->end(answer());", before="$server->on('workerstart', fn () => require \"$folder/code.php\"); file_put_contents(\"$folder/code.php\", '<?php function answer() { return \"old\"; }');", jit=True, ini=["opcache.revalidate_freq=0", "opcache.file_update_protection=0"])
        self.assertEqual(server.get().body, b"old")
        code = server.folder / "code.php"
        code.write_text('<?php function answer() { return "new"; }')
        # opcache tells versions apart by the second of the file's time.
        os.utime(code, (code.stat().st_mtime + 2,) * 2)
        self.assertTrue(server.control("reload wait")["ok"])
        self.assertEqual(server.get().body, b"new")

    def test_a_reload_is_over_when_no_old_worker_accepts(self):
        server = self.serve("$response->end((string) getmypid());")
        (old,) = server.workers()
        os.kill(old, signal.SIGSTOP)
        with socket.socket(socket.AF_UNIX) as control:
            control.settimeout(PATIENCE)
            control.connect(server.ready["control"])
            control.sendall(b"reload wait\n")
            until("the new one serves", lambda: any(one["pid"] != old and one["state"] == "serving" for one in server.status()["workers"]))
            self.assertEqual(select.select([control], [], [], 0)[0], [])
            os.kill(old, signal.SIGCONT)
            self.assertTrue(json.loads(control.makefile("rb").readline())["ok"])
        self.assertNotEqual(int(server.get().body), old)

    def test_usr2_changes_nothing(self):
        server = self.serve(settings={"worker_num": 2})
        old = self.pids(server)
        server.kill(signal.SIGUSR2)
        until("it is logged", lambda: "USR2" in server.log())
        self.assertEqual(self.pids(server), old)
        self.assertEqual(server.get().status, 200)

    def test_hup_opens_the_log_anew(self):
        server = self.serve("throw new LogicException('logged ' . $path);")
        server.get("/one")
        server.log_path.rename(server.folder / "log.1")
        old = set(server.workers())
        server.kill(signal.SIGHUP)
        until("new workers", lambda: len(now := set(server.workers())) == 1 and not now & old)
        server.get("/two")
        self.assertIn("logged /one", (server.folder / "log.1").read_text())
        self.assertIn("logged /two", until("the new log", server.log))

    def test_shutdown_and_reload_from_php(self):
        server = self.serve("$response->end(json_encode($path === '/reload' ? $server->reload() : ($path === '/stop' ? $server->shutdown() : getmypid())));")
        old = server.get().body
        self.assertEqual(server.get("/reload").body, b"true")
        until("a new worker", lambda: server.get().body != old)
        self.assertEqual(server.get("/stop").body, b"true")
        self.assertEqual(server.wait(), 0)

    def test_start_returns_in_the_master_only(self):
        script = """<?php
        $server = new Apus\\Http\\Server('127.0.0.1', 0);
        $server->set(['worker_num' => 3]);
        $server->on('request', fn ($q, $r) => $r->end('ok'));
        $result = $server->start();
        file_put_contents(__DIR__ . '/returned', getmypid() . ' ' . var_export($result, true) . "\\n", FILE_APPEND);
        exit(7);
        """
        server = self.serve(script=script)
        self.assertEqual(server.stop(), 7)
        self.assertEqual((server.folder / "returned").read_text(), f"{server.pid} true\n")


class Titles(Case):
    def test_processes_say_what_they_are(self):
        server = self.serve(settings={"process_title": "shop", "worker_num": 2})
        self.assertRegex(title(server.pid), "^shop: master .*server.php")
        self.assertEqual(sorted(title(pid)[:14] for pid in server.workers()), ["shop: worker 0", "shop: worker 1"])


class Daemon(Case):
    SCRIPT = """<?php
    $server = new Apus\\Http\\Server(%s);
    $server->set(%s + ['worker_num' => 2, 'daemonize' => true, 'pid_file' => __DIR__ . '/pid', 'log_file' => __DIR__ . '/log']);
    $server->on('request', fn ($q, $r) => $r->end((string) getmypid()));
    $server->start();
    """

    def launch(self, where="'127.0.0.1', 0", settings="[]"):
        server = self.serve(script=self.SCRIPT % (where, settings))
        self.addCleanup(lambda: alive(server.pid) and os.kill(server.pid, signal.SIGKILL))
        # The launcher returns, with 0, when the server serves.
        self.assertEqual(server.process.wait(PATIENCE), 0)
        return server

    def test_it_leaves_its_terminal_and_serves(self):
        server = self.launch()
        self.assertNotEqual(server.pid, server.process.pid)
        self.assertEqual(int((server.folder / "pid").read_text()), server.pid)
        fields = pathlib.Path(f"/proc/{server.pid}/stat").read_text().rsplit(")", 1)[1].split()
        # Of init, in a session of its own that it does not lead, without a terminal.
        self.assertNotEqual(int(fields[3]), os.getsid(0))
        self.assertNotEqual(int(fields[3]), server.pid)
        self.assertEqual(int(fields[4]), 0)
        self.assertEqual(os.readlink(f"/proc/{server.pid}/fd/0"), "/dev/null")
        self.assertEqual(os.readlink(f"/proc/{server.pid}/fd/2"), str(server.folder / "log"))
        self.assertIn(int(server.get().body), server.workers())
        workers = server.workers()
        os.kill(server.pid, signal.SIGTERM)
        until("it ends", lambda: not alive(server.pid))
        self.assertEqual([alive(pid) for pid in workers], [False, False])
        self.assertFalse((server.folder / "pid").exists())

    def test_a_second_one_with_the_same_pid_file_is_refused(self):
        server = self.launch()
        second = subprocess.run(
            [*server.process.args],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=PATIENCE,
            cwd=server.folder,
        )
        self.assertNotEqual(second.returncode, 0)
        self.assertIn(b"pid", second.stdout.lower())
        self.assertEqual(server.get().status, 200)
        os.kill(server.pid, signal.SIGTERM)
        until("it ends", lambda: not alive(server.pid))

    def test_a_stale_pid_file_is_taken_over(self):
        server = self.launch()
        os.kill(server.pid, signal.SIGKILL)
        until("it ends", lambda: not alive(server.pid))
        self.assertTrue((server.folder / "pid").exists())
        again = subprocess.run(
            [*server.process.args],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=PATIENCE,
            cwd=server.folder,
        )
        self.assertEqual((again.returncode, again.stdout), (0, b""))
        pid = int((server.folder / "pid").read_text())
        self.assertNotEqual(pid, server.pid)
        os.kill(pid, signal.SIGTERM)
        until("it ends", lambda: not alive(pid))

    def test_its_unix_socket_goes_with_it(self):
        server = self.launch("__DIR__ . '/http.sock', 0, Apus\\BASE, Apus\\SOCK_UNIX_STREAM")
        self.assertEqual(unix_get(server.folder / "http.sock").status, 200)
        os.kill(server.pid, signal.SIGTERM)
        until("it ends", lambda: not alive(server.pid))
        self.assertFalse((server.folder / "http.sock").exists())

    def test_what_keeps_it_from_starting_is_told_to_the_launcher(self):
        script = self.SCRIPT % ("'127.0.0.1', 0", "['user' => 'nobody-of-that-name']")
        with self.assertRaisesRegex(AssertionError, "nobody-of-that-name"):
            self.serve(script=script)


@unittest.skipUnless(os.geteuid() == 0, "needs root")
class Users(Case):
    def test_workers_drop_to_user_and_group(self):
        for settings in ({"user": "nobody"}, {"user": "nobody", "group": "daemon"}, {"user": "65534", "group": "1"}):
            with self.subTest(settings):
                server = self.serve("$response->end(file_get_contents('/proc/self/status'));", settings=settings)
                status = server.get().body.decode()
                fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
                group = grp.getgrnam("daemon").gr_gid if "group" in settings else pwd.getpwnam("nobody").pw_gid
                self.assertEqual(fields["Uid"].split(), [str(pwd.getpwnam("nobody").pw_uid)] * 4)
                self.assertEqual(fields["Gid"].split(), [str(group)] * 4)
                self.assertNotIn("0", fields["Groups"].split())
                # Reload must not need what was dropped.
                self.assertTrue(server.control("reload wait")["ok"])
                self.assertEqual(server.get().status, 200)
                self.assertEqual(server.stop(), 0)

    def test_an_unknown_user_is_refused(self):
        with self.assertRaisesRegex(AssertionError, "no-such-user"):
            self.serve(settings={"user": "no-such-user"})


class Sockets(Case):
    def test_ipv6(self):
        server = self.serve("$response->end($request->server['remote_addr'] . ' ' . json_encode($server->getClientInfo($request->fd)['remote_ip']));", listen="'::1', 0, Apus\\BASE, Apus\\SOCK_TCP6")
        with Client(socket.create_connection(("::1", server.port), timeout=PATIENCE)) as client:
            self.assertEqual(client.request().body, b'::1 "::1"')

    def test_ipv6_wildcard_takes_ipv4_too(self):
        server = self.serve("$response->end($request->server['remote_addr']);", listen="'::', 0, Apus\\BASE, Apus\\SOCK_TCP6")
        with Client(socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)) as client:
            self.assertEqual(client.request().body, b"127.0.0.1")

    def test_unix_socket(self):
        server = self.serve("$response->end(json_encode([$request->server['remote_addr'], $server->getClientInfo($request->fd)['remote_ip']]));", listen="__DIR__ . '/http.sock', 0, Apus\\BASE, Apus\\SOCK_UNIX_STREAM")
        path = server.folder / "http.sock"
        for _ in range(3):
            self.assertEqual(unix_get(path).body, b'["",""]')
        self.assertTrue(server.control("reload wait")["ok"])
        self.assertEqual(unix_get(path).status, 200)
        self.assertEqual(server.stop(), 0)
        self.assertFalse(path.exists())

    def test_a_stale_unix_socket_is_taken_over_and_a_live_one_is_not(self):
        server = self.serve(listen="__DIR__ . '/http.sock', 0, Apus\\BASE, Apus\\SOCK_UNIX_STREAM")
        path = server.folder / "http.sock"
        again = subprocess.run(server.process.args, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE)
        self.assertNotEqual(again.returncode, 0)
        self.assertIn(b"http.sock", again.stdout)
        self.assertEqual(unix_get(path).status, 200)
        for pid in (server.pid, *server.workers()):
            os.kill(pid, signal.SIGKILL)
        server.process.wait()
        self.assertTrue(path.exists())
        second = self.serve(listen=f"'{path}', 0, Apus\\BASE, Apus\\SOCK_UNIX_STREAM")
        self.assertEqual(unix_get(path).status, 200)
        self.assertEqual(second.stop(), 0)

    def test_systemd_socket_activation(self):
        with socket.socket() as listening:
            listening.bind(("127.0.0.1", 0))
            listening.listen(64)
            port = listening.getsockname()[1]
            # What was connected before the server was started is served, as systemd promises.
            early = Client(socket.create_connection(("127.0.0.1", port), timeout=PATIENCE))
            early.send(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            # systemd puts it at descriptor 3 and names the process; a shell does both here.
            inherited = listening.fileno()
            wrapper = ["/bin/bash", "-c", f'exec 3<&{inherited}; export LISTEN_FDS=1 LISTEN_PID=$$; exec "$@"', "activate"]
            server = self.serve("$response->end('activated');", listen=f"'127.0.0.1', {port}", pass_fds=(inherited,), wrapper=wrapper)
            self.assertEqual(early.answer().body, b"activated")
            self.assertEqual(server.get().body, b"activated")
            self.assertEqual(server.stop(), 0)

    def test_an_address_in_use_ends_the_script_with_a_clear_message(self):
        server = self.serve()
        with self.assertRaisesRegex(AssertionError, "Address already in use"):
            self.serve(listen=f"'127.0.0.1', {server.port}")

    def test_servers_share_a_port_when_all_say_so(self):
        handler = "$response->end((string) $server->master_pid);"
        first = self.serve(handler, settings={"enable_reuse_port": True})
        listen = f"'127.0.0.1', {first.port}"
        second = self.serve(handler, settings={"enable_reuse_port": True}, listen=listen)
        self.assertEqual(second.port, first.port)
        until("both answer", lambda: {int(first.get().body) for _ in range(20)} == {first.pid, second.pid})
        with self.assertRaisesRegex(AssertionError, "(?s)did not start.*holds it"):
            self.serve(handler, listen=listen)
        self.assertEqual(second.stop(), 0)
        self.assertEqual({int(first.get().body) for _ in range(20)}, {first.pid})

    def test_sd_notify(self):
        path = self.enterContext(tempfile.TemporaryDirectory()) + "/notify"
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
            notify.bind(path)
            notify.settimeout(PATIENCE)
            server = self.serve(env={"NOTIFY_SOCKET": path})
            seen = []

            def wait_for(word):
                while not any(word in text for text in seen):
                    seen.append(notify.recv(4096).decode())
            wait_for("READY=1")
            server.kill(signal.SIGUSR1)
            wait_for("RELOADING=1")
            server.stop()
            wait_for("STOPPING=1")


class Control(Case):
    def test_status_is_one_line_of_json(self):
        server = self.serve(settings={"worker_num": 2})
        for _ in range(5):
            server.get()
        status = until("the requests are counted", lambda: (s := server.status())["totals"]["requests"] >= 5 and s)
        self.assertEqual([worker["id"] for worker in status["workers"]], [0, 1])
        self.assertEqual(sorted(worker["pid"] for worker in status["workers"]), sorted(server.workers()))

    def test_an_unknown_order_is_an_error(self):
        server = self.serve()
        self.assertIn("error", server.control("dance"))
        self.assertEqual(server.get().status, 200)

    def test_stop(self):
        server = self.serve()
        self.assertTrue(server.control("stop")["ok"])
        self.assertEqual(server.wait(), 0)
