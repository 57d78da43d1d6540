"""One measurement: drive.py CONTENDER CASE COUNT RUN OUT MODULE. Starts the contender's server on one core, puts the
load on the other, and prints what the server's processes took: microseconds for one of what the case does, bytes for one
connection that is idle."""

import contextlib
import json
import os
import pathlib
import socket
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from harness import procs  # noqa: E402

LIMIT = 900
# Requests that h2load makes: so many connections, and streams on each; HTTP/1.1 where there are none.
H2LOAD = {"http1": (16, 0), "plain": (16, 0), "h2-1": (1, 1), "h2-32": (1, 32), "h2-100": (1, 100)}


def certificate(run):
    line = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    files = ["-keyout", run / "key.pem", "-out", run / "cert.pem"]
    subprocess.run([*line, *names, *files], check=True, capture_output=True)
    return str(run / "cert.pem"), str(run / "key.pem")


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def command(name, case, run, out, module, cert, key):
    """The server's command, and its port where it does not say it itself."""
    if name == "apus":
        pair = [] if case in ("plain", "idle-plain") else [cert, key]
        wanted = [name for name in os.environ.get("SWOOLE_MODULES", "").split(",") if name]
        modules = [word for name in (*wanted, module) for word in ("-d", f"extension={name}")]
        return ["php", "-n", *modules, str(HERE / "peers/server.php"), *pair], None
    if name == "node":
        return ["node", str(HERE / "peers/server.js"), cert, key, str(out / "ws-node")], None
    if name == "go":
        return ["env", "GOMAXPROCS=1", str(out / "tls-go"), cert, key], None
    port = free_port()
    if name == "swoole":
        wanted = [name for name in os.environ.get("SWOOLE_MODULES", "").split(",") if name]
        modules = [word for name in (*wanted, module) for word in ("-d", f"extension={name}")]
        return ["php", "-n", *modules, str(HERE / "peers/swoole.php"), str(port), cert, key], port
    if name == "nghttpd":
        files = run / "files"
        files.mkdir(exist_ok=True)
        (files / "index.html").write_text("hello")
        return ["nghttpd", "--address=127.0.0.1", "--htdocs", str(files), str(port), key, cert], port
    # Who is not root cannot name another user, and root's files are not for others to read.
    own = "user root;" if os.geteuid() == 0 else ""
    text = (HERE / "peers/nginx.conf").read_text().replace("@AS@", own)
    text = text.replace("@RUN@", str(run)).replace("@PORT@", str(port))
    (run / "nginx.conf").write_text(text)
    (run / "large").write_bytes(b"x" * (1 << 20))
    return ["/usr/sbin/nginx", "-c", str(run / "nginx.conf"), "-p", str(run)], port


@contextlib.contextmanager
def server(line, port, core, run):
    with open(run / "log", "wb") as log:
        process = subprocess.Popen(procs.pinned(core, line), stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        if port is None:
            said = process.stdout.readline()
            if not said.startswith("port "):
                sys.exit(f"the server did not start: {said}{(run / 'log').read_text()[-500:]}")
            port = int(said.split()[1])
        while True:
            with contextlib.suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port), 10):
                break
            if process.poll() is not None:
                sys.exit((run / "log").read_text()[-500:])
        yield process.pid, port
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()


def load(case, count, port, cert, out):
    """The command of the load, and what it prints where all went well."""
    if case not in H2LOAD:
        return [str(out / "tls-load"), case, str(count), str(port), cert], None
    connections, streams = H2LOAD[case]
    ways = ["-m", str(streams)] if streams else ["--h1"]
    scheme = "http" if case == "plain" else "https"
    line = ["h2load", "-n", str(count), "-c", str(connections), "-t", "1", *ways, f"{scheme}://127.0.0.1:{port}/"]
    return line, f"{count} succeeded, 0 failed, 0 errored"


def memory(pid):
    """Bytes of the tree, shared pages counted once."""
    return procs.memory_kib(procs.tree([pid]))[1] * 1024


def main(name, case, count, run, out, module):
    run, out, count = pathlib.Path(run), pathlib.Path(out), int(count)
    cores = sorted(os.sched_getaffinity(0))
    cert, key = certificate(run)
    line, port = command(name, case, run, out, module, cert, key)
    with server(line, port, cores[0], run) as (pid, port):

        def begin(times, **pipes):
            line, good = load(case, times, port, cert, out)
            return subprocess.Popen(procs.pinned(cores[-1], line), stdout=subprocess.PIPE, text=True, **pipes), good

        def loaded(times):
            began = time.monotonic()
            process, good = begin(times)
            with process:
                text = process.communicate(timeout=LIMIT)[0]
            # Five bytes are an answer of all.
            if process.returncode or (good and (good not in text or f"({times * 5}) data" not in text)):
                sys.exit(f"the load failed: {text}")
            return time.monotonic() - began

        if case.startswith("idle"):
            with begin(max(1, count // 10), stdin=subprocess.PIPE)[0] as first:
                first.stdout.readline()
                before = memory(pid)
                with begin(count, stdin=subprocess.PIPE)[0] as second:
                    if second.stdout.readline().strip() != "open":
                        sys.exit("the load failed")
                    figures = {"bytes": (memory(pid) - before) / count}
                    second.stdin.close()
                first.stdin.close()
        else:
            loaded(max(8, count // 20))
            before = procs.cpu_seconds(procs.tree([pid]))
            seconds = loaded(count)
            used = procs.cpu_seconds(procs.tree([pid])) - before
            figures = {"cpu_us": used / count * 1e6, "a_second_of_cpu": count / used, "seconds": seconds}
    print(json.dumps(figures))


if __name__ == "__main__":
    main(*sys.argv[1:])
