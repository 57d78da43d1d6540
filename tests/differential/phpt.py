"""A test of PHP's own: its sections, how it is started, and what it expects."""

import os
import pathlib
import re
import signal
import subprocess
import tempfile

import support

PREPEND = pathlib.Path(__file__).resolve().parent / "prepend.php"
# Sections without which a test is not itself, and which are not imitated here.
FOREIGN = {"POST", "POST_RAW", "GET", "COOKIE", "CGI", "PUT", "PHPDBG", "REDIRECTTEST", "GZIP_POST", "DEFLATE_POST", "EXPECTHEADERS", "CAPTURE_STDIO"}
# Settings under which the script is not started as it is here, or which show what this runner does, too.
FOREIGN_SETTINGS = re.compile(r"^\s*(auto_prepend_file|open_basedir|disable_functions|opcache\.preload|opcache\.opt_debug_level|zend_extension|zend_test\.(?:observer\.\w+|replace_zend_execute_ex|print_stderr_mshutdown))\s*=", re.M)
# As PHP's own runner has them.
SETTINGS = ["output_buffering=0", "error_reporting=32767", "display_errors=1", "display_startup_errors=1", "log_errors=0", "html_errors=0", "precision=14", "serialize_precision=-1", "memory_limit=128M", "date.timezone=UTC", "ignore_repeated_errors=0", "report_memleaks=1", "docref_ext=.html", "zend.assertions=1", "zend.exception_ignore_args=0"]
SECONDS = 20
# Modules that must be loaded before others.
NEEDED = {"mysqli": ["mysqlnd"], "pdo_mysql": ["pdo", "mysqlnd"], "xsl": ["dom"], "xmlreader": ["dom"], **{f"pdo_{name}": ["pdo"] for name in ("pgsql", "sqlite", "odbc", "dblib", "firebird")}}
ZEND = {"opcache", "xdebug"}
# A file of the same folder that forks: what stands up to its inclusion runs before, where no coroutine is.
BEGINS = re.compile(rb"<\?php\n(?:[^\n]*\n){0,9}?\s*require(?:_once)?\s*\(?(?:__DIR__\s*\.\s*)?['\"]/?([\w./-]+\.inc)['\"]\)?;")

TRACE = rb'[ \t]*\["file"\]=>\n[ \t]+string(?:\(\d+\))? "[^"\n]*/differential/prepend\.php"\n[ \t]+\["line"\]=>\n[ \t]+int\(\d+\)\n'
# What the frames show that this runner adds, and what differs from run to run.
PLAIN = [
    (re.compile(rb"^#\d+ [^\n]*(?:/differential/prepend\.php|differential_(?:main|script))[^\n]*\n?", re.M), b""),
    (re.compile(rb'array\(\d+\) \{\n(?:' + TRACE + rb')?([ \t]+\["function"\]=>\n[ \t]+string(?:\(\d+\))? "differential_main")'), rb"array {\n\1"),
    (re.compile(rb"^#\d+ ", re.M), b"# "),
    (re.compile(rb"0x(?:[0-9a-f]{6,}|%x)"), b"0x"),
    (re.compile(rb"((?:localhost|127\.0\.0\.1):)(?:\d{4,5}\b|%[di])"), rb"\1PORT"),
]
TEXT = re.compile(rb'string\((\d+)\) "')
# Numbers of objects and resources, of which coroutines take some: what counts is which are the same.
NUMBERS = re.compile(rb"(?<=\)#)\d+(?= \()|(?<=Resource id #)\d+|(?<=resource\()\d+")
ANY_NUMBERS = re.compile(rb"(?<=\)#)(?:\d+|%d|%i)(?= \()|(?<=Resource id #)(?:\d+|%d)|(?<=resource\()(?:\d+|%d)")
# What the letters of EXPECTF stand for (php.net, "Writing tests").
LETTERS = {
    "%e": "/", "%s": r"[^\r\n]+", "%S": r"[^\r\n]*", "%a": r".+?", "%A": r".*?", "%w": r"\s*", "%i": r"[+-]?\d+", "%d": r"\d+", "%x": r"[0-9a-fA-F]+",
    "%f": r"[+-]?(?:\d+|(?=\.\d))(?:\.\d+)?(?:[Ee][+-]?\d+)?", "%c": r".", "%0": r"\x00", "%%": "%",
}


class Left(Exception):
    """The test is left out; the text says why."""


def sections(path):
    parts = re.split(rb"^--([_A-Z]+)--[ \t]*\r?\n", path.read_bytes(), flags=re.M)
    return {name.decode(): text for name, text in zip(parts[1::2], parts[2::2])}


def numbered(output):
    """Each number as the place of its first appearance."""
    seen = {}
    return NUMBERS.sub(lambda found: b"%d" % seen.setdefault(found[0], len(seen) + 1), output)


def unmeasured(output):
    """Without the lengths of texts that hold a frame which this runner adds."""
    def length(found):
        text = output[found.end():found.end() + int(found[1])]
        return b'string "' if b"/differential/prepend.php" in text or b"differential_main" in text else found[0]
    return TEXT.sub(length, output)


def pattern(wanted):
    """The regular expression of an EXPECTF section."""
    parts = wanted.split("%r")
    return "".join(
        (
            f"(?:{part})"
            if place % 2
            else re.sub(
                r"(%[esSaAwidxfc0])|(.)", lambda one: LETTERS[one[1]] if one[1] else re.escape(one[2]), part, flags=re.S
            )
        )
        for place, part in enumerate(parts)
    )


class Test:
    # What this runner does not do.
    foreign, foreign_settings = FOREIGN, FOREIGN_SETTINGS

    def __init__(self, name, options):
        self.name, self.options = name, options
        self.folder = (options.tree / name).parent
        self.parts = sections(options.tree / name)
        if foreign := self.foreign & self.parts.keys():
            raise Left(f"needs {', '.join(sorted(foreign))}")
        if self.foreign_settings.search(self.text("INI")):
            raise Left("has settings of its own start")
        wanted = [word.lower() for word in self.text("EXTENSIONS").split()]
        wanted = dict.fromkeys(need for word in wanted for need in (*NEEDED.get(word, ()), word))
        self.extensions = [word for word in wanted if word not in options.builtin]
        if missing := [word for word in self.extensions if not (options.extension_dir / f"{word}.so").exists()]:
            raise Left(f"needs the extension {missing[0]}")

    def text(self, section):
        return self.parts.get(section, b"").decode(errors="surrogateescape")

    def code(self):
        """The script, and what of it runs before, where no coroutine is."""
        if "FILE_EXTERNAL" in self.parts:
            return (self.folder / self.text("FILE_EXTERNAL").strip()).read_bytes(), b""
        code = self.parts.get("FILE", self.parts.get("FILEEOF"))
        if code is None:
            raise Left("has no code")
        code = code.rstrip(b"\r\n") if "FILEEOF" in self.parts else code
        begins = BEGINS.match(code)
        included = begins and self.folder / begins[1].decode()
        if included and included.exists() and b"pcntl_fork(" in included.read_bytes():
            return b"<?php " + b"\n" * begins[0].count(b"\n") + code[begins.end():], begins[0]
        return code, b""

    def settings(self):
        """What php.ini would have."""
        settings = [*SETTINGS, *(f"{'zend_' if word in ZEND else ''}extension={word}" for word in self.extensions)]
        return settings + [
            row.strip().replace("{PWD}", str(self.folder)).replace("{TMP}", tempfile.gettempdir())
            for row in self.text("INI").splitlines()
            if "=" in row
        ]

    def line(self, way, script, more=()):
        settings = [*self.settings(), *more]
        if way == "coroutine":
            settings.append(f"extension={support.module()}")
        return [support.php(), "-n", *(word for setting in settings for word in ("-d", setting)), "-f", str(script)]

    def environment(self):
        given = dict(row.split("=", 1) for row in self.text("ENV").splitlines() if "=" in row)
        return {**os.environ, "TEST_PHP_EXECUTABLE": support.php(), "NO_INTERACTION": "1", "SKIP_SLOW_TESTS": "1", "SKIP_ONLINE_TESTS": "1", "TZ": "", **given}

    def php(self, way, script, more=(), arguments=()):
        child = subprocess.Popen(
            [*self.line(way, script, more), *arguments],
            cwd=self.folder,
            env=self.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            output, _ = child.communicate(self.parts.get("STDIN", b""), timeout=SECONDS)
        except subprocess.TimeoutExpired:
            output = None
        finally:
            # With whatever it has started.
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            child.wait()
            child.stdout.close()
        return child.returncode, output

    def beside(self, section):
        """SKIPIF and CLEAN: as they are, without a coroutine."""
        if section not in self.parts:
            return b""
        script = self.folder / f"{pathlib.Path(self.name).stem}.{section.lower()}.php"
        script.write_bytes(self.parts[section])
        return self.php("plain", script)[1] or b""

    def ran(self, way):
        """The exit code and the output, without what this runner adds; with "as expected" for output that the test
        expects."""
        if self.beside("SKIPIF").lstrip()[:4].lower() == b"skip":
            raise Left("skips itself")
        script = self.folder / (pathlib.Path(self.name).stem + ".php")
        before = script.with_suffix(".before.php")
        code, begins = self.code()
        script.write_bytes(code)
        before.write_bytes(begins) if begins else before.unlink(missing_ok=True)
        arguments = ["--", *self.text("ARGS").split()] if "ARGS" in self.parts else []
        code, output = self.php(way, script, [f"auto_prepend_file={PREPEND}"], arguments)
        self.beside("CLEAN")
        if output is None:
            if way == "plain":
                raise Left(f"takes more than {SECONDS} s")
            return code, b"not within the time", False
        if b"Unable to load dynamic library" in output:
            raise Left("loads what cannot be loaded")
        output = output.replace(bytes(self.options.tree), b"TREE")
        return code, *self.seen(output)

    def seen(self, output):
        output = unmeasured(output)
        for found, by in PLAIN:
            output = found.sub(by, output)
        return numbered(output), self.expected(output)

    def expected(self, output):
        """Whether this is what the test expects, but for the numbers of objects."""
        def compared(text):
            for found, by in PLAIN:
                text = found.sub(by, text)
            return ANY_NUMBERS.sub(b"1", text.replace(b"\r\n", b"\n").strip()).decode(errors="surrogateescape")
        output = compared(output)
        for section in ("EXPECT", "EXPECTF", "EXPECTREGEX"):
            wanted = self.parts.get(section)
            if external := self.text(f"{section}_EXTERNAL").strip():
                wanted = (self.folder / external).read_bytes()
            if wanted is not None and section == "EXPECT":
                return compared(wanted) == output
            if wanted is not None:
                wanted = compared(wanted)
                return bool(re.fullmatch(pattern(wanted) if section == "EXPECTF" else wanted, output, re.S))
        return False
