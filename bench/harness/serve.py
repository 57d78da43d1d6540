"""PHP applications unchanged: `apus serve` beside nginx with php-fpm, Apache with mod_php and FrankenPHP, the same
directories, number of processes, and Debian's settings of PHP for each."""

import http.client
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from .contenders import Contender, environment
from .db import mariadb
from .document import Aim, Document
from .measure import Bench, Cores, Ports
from .programs import Column, Tables, cell
from .scenarios import Target
from .suite import Step, Suite, warn_of_busy
from .verify import WrongAnswer

PACKAGE = Path("/usr/share/wordpress")
PROCESSES = 8
# Every process has to have compiled, or found in opcache, what an answer needs.
WARM_UP_SECONDS = 2.0
CONFIG = """<?php
define('DB_NAME', '{name}'); define('DB_USER', '{user}'); define('DB_PASSWORD', '{password}');
define('DB_HOST', 'localhost:{socket}'); define('DB_CHARSET', 'utf8mb4'); define('DB_COLLATE', '');
foreach (['AUTH', 'SECURE_AUTH', 'LOGGED_IN', 'NONCE'] as $key) {{
    define($key . '_KEY', "key $key"); define($key . '_SALT', "salt $key");
}}
define('WP_HOME', 'http://localhost'); define('WP_SITEURL', 'http://localhost');
define('DISABLE_WP_CRON', true); define('WP_HTTP_BLOCK_EXTERNAL', true); define('AUTOMATIC_UPDATER_DISABLED', true);
$table_prefix = 'wp_';
if (!defined('ABSPATH')) {{ define('ABSPATH', __DIR__ . '/'); }}
require_once ABSPATH . 'wp-settings.php';
"""

_COLUMNS = (
    Column("cpu_us", "CPU us", 1, 1),
    Column("rps", "requests/s"),
    Column("p50_us", "p50 ms", 1000, 2),
    Column("p99_us", "p99 ms", 1000, 2),
    Column("pss_kib", "memory MB", 1024, 0),
    Column("failed", "failed"),
)


CLASSIC = ("apus", "fpm", "fpm-kept", "apache", "frankenphp")
# What has no script for each path.
STAYING = ("apus-worker", "apus-handler", "floor-handover", "frankenphp-worker")
# One that has been there, whose session is read and written.
VISITOR = (f"Cookie: visitor={'a' * 40}",)
# Debian's packages, and the applications of the tests.
FIXTURES = Path(__file__).resolve().parent.parent.parent / "tests/e2e/fixtures"
FRAMEWORKS = {"laravel": Path("/usr/share/php/Illuminate/autoload.php"), "symfony": Path("/usr/share/php/Symfony/Bundle/FrameworkBundle/autoload.php")}


@dataclass(frozen=True)
class Case:
    name: str
    title: str
    site: str
    target: Target
    # What an answer has in it.
    says: bytes
    # Answers 200 whatever it is asked by.
    ready: str = "/"
    columns: tuple[Column, ...] = _COLUMNS
    contenders: tuple[str, ...] = CLASSIC
    # Where answers come late, measured at least so long.
    seconds: float = 0


CASES = (
    Case("hello", "Hello world, 64 connections", "scripts", Target("/", 64), b"Hello, World!", contenders=(*CLASSIC, *STAYING)),
    Case("hello-8", "Hello world, 8 connections", "scripts", Target("/", 8), b"Hello, World!", contenders=(*CLASSIC, *STAYING)),
    Case("page", "A page of 70 KB (phpinfo), 64 connections", "scripts", Target("/page.php", 64), b"PHP Version"),
    Case("wordpress", "WordPress, the front page, 16 connections", "wordpress", Target("/", 16, ("Host: localhost",)), b"Post 3", "/wp-admin/install.php"),
    # Apache does not run as root, whose session it would be.
    Case("laravel", "Laravel 8, a page with a session, 16 connections", "laravel", Target("/told/w", 16, VISITOR), b'"word":"w"', "/told/w", contenders=("apus", "fpm", "fpm-kept", "frankenphp", "apus-worker")),
    Case("symfony", "Symfony 5.4, a page, 16 connections", "symfony", Target("/told/w", 16), b'"word":"w"', "/told/w", contenders=(*CLASSIC, "apus-worker")),
    # A script of 10 ms and 256 clients: without a bound the last one waits for 2.5 s.
    Case("overload", "Twice and more what it can do: 10 ms of CPU a request, 256 connections", "scripts", Target("/busy.php", 256), b"done", contenders=("apus-bounded", "fpm", "apache", "frankenphp"), seconds=10),
)


class ServeResults(Document):
    def times(self, case: str, contender: str) -> str:
        ratio = None if contender == "fpm" else self.ratio(case, "cpu_us", contender, "fpm")
        return "" if ratio is None else f"{ratio:.2f}"

    def milliseconds(self, case: str, contender: str, key: str) -> float | None:
        value = self.value(case, contender, key)
        return None if value is None else value / 1000

    def noise(self, case: str, contender: str) -> str:
        """What others took of the server's core."""
        return self.share(case, contender, "foreign_load")

    def aims(self) -> list[Aim]:
        return [
            Aim("CPU of a hello world, us, at most", self.value("hello", "apus", "cpu_us"), 35),
            Aim("CPU of a script that stays / processes that hand a word over, at most", self.ratio("hello", "cpu_us", "apus-worker", "floor-handover"), 2),
            Aim("CPU, WordPress: Apus / nginx + php-fpm, at most", self.ratio("wordpress", "cpu_us", "apus", "fpm"), 1),
            Aim("CPU, Laravel: Apus / nginx + php-fpm, at most", self.ratio("laravel", "cpu_us", "apus", "fpm"), 1),
            Aim("p99 of overload with a queue of a second, ms, at most", self.milliseconds("overload", "apus-bounded", "p99_us"), 1200),
            Aim("Throughput, WordPress: Apus / nginx + php-fpm, at least", self.ratio("wordpress", "rps", "apus", "fpm"), 1.1, True),
            # docs/decisions/0033-pages-that-are-php.md
            Aim("Throughput, Laravel: Apus / nginx + php-fpm, at least", self.ratio("laravel", "rps", "apus", "fpm"), 1, True),
        ]


def _intro(results: Document) -> str:
    options = results.document["options"]
    return (
        f"Measurements of {options['seconds']} s (overload: 10 s), the median of {options['rounds']} interleaved rounds. Generated by `make bench-serve`. "
        f"{PROCESSES} processes of PHP and one worker before them (nginx, or Apus) on one core; wrk and MariaDB on the other. PHP has "
        "Debian's files for php-fpm on both sides, with opcache. FrankenPHP, built with Debian's PHP, which has no threads, runs one "
        "script at a time, with Debian's files for embedded PHP. CPU is that of the server's "
        "processes, user and system, for one answer, MariaDB's not included; memory is their proportional share at the end. The last "
        "column is what other programs took of the server's core."
    )


class Serve(Suite):
    NAME = "serve"
    COMMAND = "bench/run serve"
    ABOUT = (
        "PHP applications unchanged, `apus serve` beside nginx with php-fpm, Apache with mod_php and, if FRANKENPHP_BIN names it, "
        "FrankenPHP: hello world, a page of 70 KB, the front page of WordPress, pages of Laravel and Symfony, overload. Writes "
        "the raw figures by date and a Markdown table."
    )
    RESULTS = ServeResults
    REPORT = Tables("Any PHP application", _intro, CASES, (("x php-fpm", ServeResults.times), ("of others", ServeResults.noise)))
    ORDER = ("apus", "apus-bounded", "fpm", "fpm-kept", "apache", "frankenphp", *STAYING)
    CASES = CASES
    QUICK = ("hello", "wordpress")
    QUICK_HELP = "two cases, one round of 3 s"
    ROUNDS = (3, 1)
    SECONDS = (5, 3)
    WHOLE_SECONDS = True
    TOOLS = {"taskset": "util-linux", "wrk": "wrk"}

    def prepare(self) -> None:
        self.cores = Cores.last_two()

    def missing(self) -> list[str]:
        wordpress = [] if (PACKAGE / "wp-load.php").exists() else ["wordpress"]
        frameworks = [f"php-{name}" for name, autoload in FRAMEWORKS.items() if not autoload.exists()]
        return [*mariadb.missing(), *wordpress, *frameworks]

    @contextmanager
    def open(self, ready: list[Contender]) -> Iterator[None]:
        warn_of_busy(self.cores.server, self.cores.client)
        with ExitStack() as stack:
            scratch = Path(tempfile.mkdtemp(prefix="apus-bench-serve-", dir=self.options.scratch))
            stack.callback(shutil.rmtree, scratch, ignore_errors=True)
            scratch.chmod(0o755)
            grant = f"GRANT ALL ON {mariadb.NAME}.* TO '{mariadb.USER}'@'localhost';"
            self.database = mariadb.MariaDb(scratch, str(self.cores.client), Ports().free(), False, grant)
            stack.callback(self.database.stop)
            self.database.start()
            self.sites = {"scripts": scripts(scratch / "scripts"), "wordpress": wordpress(scratch / "wordpress", self.database)}
            self.sites |= {name: framework(scratch / name, name) for name in FRAMEWORKS}
            self.bench = stack.enter_context(closing(Bench(self.options.scratch, self.cores)))
            yield

    def steps(self, ready: list[Contender]) -> list[Step]:
        return [step for step in super().steps(ready) if step.contender.name in step.case.contenders]

    def settings(self) -> dict:
        return {"rounds": self.options.rounds, "seconds": self.options.seconds, "database": self.database.version()}

    def duration(self, step: Step) -> float:
        return self.seconds(step) + WARM_UP_SECONDS + 2

    def seconds(self, step: Step) -> float:
        return max(self.options.seconds, step.case.seconds)

    def measure(self, step: Step) -> dict:
        tokens = {"SITE": str(self.sites[step.case.site]), "PROCESSES": str(PROCESSES)}
        with self.bench.serving(step.contender, tokens, step.case.ready) as (group, port):
            verify(port, step.case)
            figures = self.bench.under_load(group, step.case.target, port, self.seconds(step), None, WARM_UP_SECONDS)
        figures["failed"] = sum(figures["errors"].values())
        return figures

    def line(self, step: Step, figures: dict) -> str:
        shown = ", ".join(f"{column.head} {cell(figures.get(column.key), column)}" for column in step.case.columns)
        return f"{shown}, of others {figures['foreign_load']:.0%}"


def scripts(site: Path) -> Path:
    site.mkdir()
    (site / "index.php").write_text("<?php echo 'Hello, World!';\n")
    (site / "page.php").write_text("<?php phpinfo();\n")
    # Asking for the time is most of it, and the kernel's: both are counted.
    busy = """<?php
function used(): int
{
    $now = getrusage();
    return ($now['ru_utime.tv_sec'] + $now['ru_stime.tv_sec']) * 1_000_000 + $now['ru_utime.tv_usec'] + $now['ru_stime.tv_usec'];
}
for ($end = used() + 10_000; used() < $end;);
echo 'done';
"""
    (site / "busy.php").write_text(busy)
    (site / "worker.php").write_text("<?php while (frankenphp_handle_request(function () { echo 'Hello, World!'; }));\n")
    return site


def framework(folder: Path, name: str) -> Path:
    """A project of Debian's framework with the application of the tests; `public/` is what is served."""
    (folder / "public").mkdir(parents=True)
    constants = f"const FRAMEWORK = {name!r}; const FIXTURES = {str(FIXTURES / 'psr')!r};"
    front = (FIXTURES / "serve/front.php").read_text()
    (folder / "public/index.php").write_text(front.replace("<?php", f"<?php\n{constants}", 1))
    worker = (FIXTURES / "psr/on_worker.php").read_text().replace("__DIR__", repr(str(FIXTURES / "psr")))
    worker = worker.replace("FRAMEWORK", repr(name)).replace("$_SERVER['DATA_FOLDER']", repr(str(folder)))
    (folder / "public/worker.php").write_text(worker)
    if name == "laravel":
        prepare = f"require '{FIXTURES}/psr/laravel.php'; prepare('{folder}');"
        subprocess.run(["php", "-r", prepare], env=environment({"XDEBUG_MODE": "off"}), check=True, capture_output=True)
    return folder / "public"


def wordpress(site: Path, database: mariadb.MariaDb) -> Path:
    ignore = shutil.ignore_patterns("languages", "akismet", "wp-config.php")
    shutil.copytree(PACKAGE, site, ignore=ignore, ignore_dangling_symlinks=True)
    config = CONFIG.format(
        name=mariadb.NAME, user=mariadb.USER, password=mariadb.PASSWORD, socket=database.tokens()["DB_SOCKET"]
    )
    (site / "wp-config.php").write_text(config)
    install = Path(__file__).resolve().parent.parent / "serve/wordpress.php"
    env = environment({"XDEBUG_MODE": "off"})
    done = subprocess.run(["php", str(install)], cwd=site, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise WrongAnswer(f"WordPress is not installed: {done.stdout}{done.stderr}")
    return site


def verify(port: int, case: Case) -> None:
    """Raises WrongAnswer unless the page is the right one."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        headers = dict(line.split(": ", 1) for line in case.target.headers)
        connection.request("GET", case.target.path, headers=headers)
        answer = connection.getresponse()
        body = answer.read()
    finally:
        connection.close()
    if answer.status != 200 or case.says not in body:
        raise WrongAnswer(f"{case.target.path}: {answer.status} without {case.says!r}: {body[:200]!r}")
