"""The sections, in their order: what each runs, and when it is part of a run."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Callable, NamedTuple

from . import counts, phpt

TESTS = Path(__file__).resolve().parent.parent
ROOT = TESTS.parent
# What of the tests PHP has a part in: they run on its other versions, too.
ON_EVERY_PHP = ("phpt", "phpt-jit", "ceilings", "e2e", "conformance")


class Section(NamedTuple):
    name: str
    about: str
    run: Callable
    # Whether it tests the module: with one that is given (APUS_SO) only such sections run, unless --only names them.
    module: bool = True
    # Whether words choose among its tests; with words only such sections run, unless --only names them.
    words: bool = False
    # Takes long: runs with --long or --only.
    long: bool = False


def component(session, name, command):
    """Parts of Rust's toolchain that a minimal one lacks."""
    if subprocess.run(["cargo", command, "--version"], capture_output=True, check=False).returncode:
        session.show(["rustup", "component", "add", name])


def formatting(session):
    component(session, "rustfmt", "fmt")
    session.command(None, counts.one, ["cargo", "fmt", "--all", "--check", "--", "--color", "never"])


def lints(session):
    component(session, "clippy", "clippy")
    session.command(None, counts.one, ["cargo", "clippy", "--workspace", "--all-targets", "--keep-going", "--", "-D", "warnings"])


def readme(session):
    if (ROOT / "bench/results/latest.md").exists():
        session.command(None, counts.one, ["tools/bench-table", "--check"])


def units(folder, top):
    """The command that runs Python's unittests below a folder."""
    return sys.executable, "-B", "-m", "unittest", "discover", "-s", str(ROOT / folder), "-t", str(ROOT / top)


def build(session):
    """The module and the command, once a run; built again, nothing is compiled."""
    session.build()
    session.build_again()


def plain(counter, *command):
    """A section that is one command."""
    return lambda session: session.command(None, counter, command)


def tested(counter, *command, **more):
    """The same, with the module under test."""
    return lambda session: session.command(None, counter, command, env=session.environment(**more))


def asan(session):
    """The module is built anew, with AddressSanitizer."""
    made = subprocess.run(["tools/asan-module"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if made.returncode:
        raise phpt.Unable("tools/asan-module failed")
    env = session.environment(APUS_SO=made.stdout.strip())
    session.command(None, counts.last, ["tests/lib/watched.py", "--asan"], env=env)


def release(session):
    """What is installed: the compiler has moved more there than in the build that the other sections test."""
    if session.command("build", counts.one, ["tools/release"]).code:
        return
    module = str(session.target / "pgo" / "libapus.so")
    env = {**os.environ, "APUS_SO": module, "APUS_EXTENSION": module}
    session.command(None, counts.last, ["tests/run", "--only", "phpt", "--only", "e2e"], env=env)


def kills(session):
    env = session.environment(APUS_KILLS=os.environ.get("APUS_KILLS", "5000"))
    session.command(None, counts.last, ["tests/e2e/run", "test_memory_kill"], env=env)


def share(session):
    session.command(None, counts.last, ["tests/e2e/run", "-j1", "test_workers_share"], env=session.environment(APUS_LONG="1"))


def attacks(session):
    env = session.environment(APUS_ATTACK_SECONDS=os.environ.get("APUS_ATTACK_SECONDS", "60"))
    session.command(None, counts.last, ["tests/e2e/run", "-j1", "test_http2_attacks", "test_tls_attacks"], env=env)


def differential(session):
    if sources := os.environ.get("DIFFERENTIAL"):
        session.command(None, counts.last, ["tests/differential/run", sources], env=session.environment())


def sapi(session):
    if sources := os.environ.get("DIFFERENTIAL"):
        session.command(None, counts.last, ["tests/sapi/run", sources], env=session.environment())


def others(session):
    """The other versions of PHP. The command is the same; the module is built with their headers."""
    for version in session.fetched():
        made = session.command(f"root {version}", counts.one, ["tools/root", "make", version])
        if made.code:
            continue
        path = subprocess.run(["tools/root", "make", version], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
        target = session.target_of(version)
        module = target / session.folder / "libapus.so"
        module.unlink(missing_ok=True)
        env = {**os.environ, "APUS_PHP_CONFIG": path.strip() + ".php-config", "CARGO_TARGET_DIR": str(target)}
        session.command(f"build {version}", counts.one, ["cargo", "build", "--profile", session.profile, "-p", "apus-php"], env=env)
        if module.exists():
            session.inside(version, module, ON_EVERY_PHP)


def training(session):
    env = session.environment()
    session.command(None, counts.one, ["tools/train", env["APUS_SO"], env.get("APUS", "apus")], env=env)


def e2e(session):
    session.command(None, counts.last, ["tests/e2e/run", *session.words], env=session.environment())


SECTIONS = (
    Section("format", "cargo fmt", formatting, module=False),
    Section("lints", "clippy without a warning", lints, module=False),
    Section("rules", "the rules of the tree", plain(counts.last, "php", "-n", "tools/checks/run.php"), module=False),
    Section("readme", "README.md holds what was measured", readme, module=False),
    Section("rust", "the tests of the crates", plain(counts.cargo, "cargo", "test", "--workspace", "--no-fail-fast"), module=False),
    Section("build", "the module and the command", build, module=False),
    Section("examples", "examples/, and what `apus new` writes", tested(counts.last, "php", "-n", "tools/tests/examples.php"), module=False),
    Section("toolchain", "how make gets Rust", plain(counts.unittests, sys.executable, "-B", "tools/tests/toolchain.py"), module=False),
    Section("samples", "the PHP blocks of README.md and docs/", tested(counts.last, "php", "-n", "tools/tests/samples.php"), module=False),
    Section("training", "what `make release` learns from", training),
    Section("bench", "the harness of the benchmarks", plain(counts.unittests, *units("bench", "bench")), module=False),
    Section("runner", "this runner", plain(counts.unittests, *units("tests/runner", "tests")), module=False),
    Section("phpt", "tests/phpt, by PHP's own runner", lambda s: phpt.run(s, "phpt"), words=True),
    Section("phpt-jit", "the same with opcache and the tracing JIT", lambda s: phpt.run(s, "phpt", phpt.jit()), words=True),
    # Memory and time are measured: one at a time.
    Section("ceilings", "memory and instructions, one test at a time", lambda s: phpt.run(s, "ceilings", jobs=1), words=True),
    Section("sanitize", "under valgrind: hooks, guards, fatal errors, the random test", tested(counts.last, "tests/sanitize")),
    Section("xdebug", "beside Xdebug", tested(counts.unittests, *units("tests/xdebug", "tests"))),
    Section("e2e", "end to end; with --only, words choose", e2e),
    Section("conformance", "Autobahn's WebSocket cases", tested(counts.last, "tests/conformance/autobahn")),
    Section("h2spec", "h2spec, strict, in clear and over TLS", tested(counts.last, "tests/conformance/h2spec")),
    Section("others", f"the PHP versions of TEST_PHP, each in a root of its own: {', '.join(ON_EVERY_PHP)}", others, module=False),
    Section("valgrind", "all phpt of coroutines, the engine and the hooks", tested(counts.last, "tests/sanitize", SANITIZE="all"), long=True),
    Section("release", "make release, and phpt and e2e with what it builds", release, module=False, long=True),
    Section("asan", "all phpt with AddressSanitizer", asan, long=True),
    Section("kills", "APUS_KILLS kills (5000) for each structure in shared memory", kills, long=True),
    Section("share", "how 4, 16 and 64 workers share connections", share, long=True),
    Section("attacks", "each attack on HTTP/2 and TLS for APUS_ATTACK_SECONDS (60)", attacks, long=True),
    Section("traffic", "WordPress behind apus serve with reloads and kills for TRAFFIC_SECONDS (3600)", tested(counts.last, "tests/soak/traffic.py"), long=True),
    Section("everything", "HTTP, WebSocket, tasks, tables, queues, queries at once, with reloads and kills, for EVERYTHING_SECONDS (3600)", tested(counts.last, "tests/soak/everything.py"), long=True),
    Section("requests", "ten million requests to one worker, whose memory stays the same", tested(counts.last, "tests/soak/requests.py"), long=True),
    Section("testssl", "testssl.sh on a server with defaults", tested(counts.last, "tests/conformance/testssl"), long=True),
    Section("sapi", "PHP's own tests of requests under apus serve and php-fpm; DIFFERENTIAL names PHP's sources", sapi, long=True),
    Section("differential", "PHP's own tests with and without Apus; DIFFERENTIAL names PHP's sources", differential, long=True),
)


def choose(only, words, built, long):
    """Names of the sections of a run, in their order."""
    if only:
        return [section.name for section in SECTIONS if section.name in only]
    return [
        section.name
        for section in SECTIONS
        if section.long == long and (section.module or not built) and (section.words or not words)
    ]
