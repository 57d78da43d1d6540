"""The two sides of tests/sapi/run: nginx with php-fpm, and `apus serve`; and a test of PHP's as a page of theirs."""

import gzip
import http.client
import os
import pathlib
import re
import subprocess
import tempfile
import urllib.parse
import zlib

import phpt
import sites
import support

# Seconds that a page may take.
SECONDS = 20
FORM = "application/x-www-form-urlencoded"
# What a web server sets itself.
OWN = ("server", "date", "connection", "content-length", "transfer-encoding", "keep-alive")
# What starts a PHP of its own, and tells nothing of the server that runs the test.
OTHERS = re.compile(rb"php_cgi_handshake|get_cgi_path|TEST_PHP_EXECUTABLE|TEST_PHP_CGI_EXECUTABLE|FPM\\Tester|tester\.inc|php_cli_server|PHP_BINARY|pcntl_fork")
# Sections that a page cannot have.
FOREIGN = {"PHPDBG", "REDIRECTTEST", "CAPTURE_STDIO", "STDIN", "ARGS"}
# Fields of the environment that say what the request is; the others are variables of the process.
OF_REQUEST = ("REQUEST_METHOD", "QUERY_STRING", "CONTENT_TYPE", "CONTENT_LENGTH", "SCRIPT_NAME", "SCRIPT_FILENAME", "PATH_INFO", "PATH_TRANSLATED", "REQUEST_URI", "REDIRECT_STATUS")
# What a query may have as it is.
UNQUOTED = "".join(map(chr, range(0x21, 0x7F)))
SESSION = re.compile(r"(?<=SESSID=)[\w,%-]+|(?<==)[\w,%-]{20,}")
# What each request has of its own.
PASSING = re.compile(rb"/tmp/php\w{6}\b|\b\d{10}(?:\.\d+)?\b|(?<='REMOTE_PORT'\]</td><td class=\"v\">)\d+|(?<=Cache )(?:hits|misses) .*")


class Fpm(sites.PhpFpm):
    """php-fpm with an environment. Options: lines of the pool's configuration."""

    def __init__(self, variables):
        self.variables = variables
        super().__init__("clear_env = no", "catch_workers_output = no", f"request_terminate_timeout = {SECONDS}", processes=1)

    def line(self):
        return ["env", *(f"{name}={value}" for name, value in self.variables.items()), *super().line()]


def both(stack, tree, key):
    """The ports of both over a folder, with these entries of php.ini and these variables."""
    settings, variables = key
    folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="apus-sapi-ini-")))
    os.chmod(folder, 0o755)
    # Apus loads it by itself.
    settings = ("zend_extension=opcache", *settings)
    (folder / "php.ini").write_text("".join(f"{row}\n" for row in settings), errors="surrogateescape")
    env = {**dict(variables), "PHPRC": str(folder), "PHP_INI_SCAN_DIR": "", "XDEBUG_MODE": "off"}
    fpm = stack.enter_context(Fpm(env))
    nginx = stack.enter_context(sites.Nginx(fpm, tree, "$uri =404"))
    # Only what PHP sends is compared.
    plain = {"try_files": ["$uri", "=404"], "http_compression": False, "package_max_length": "16M", "script_timeout": SECONDS}
    apus = stack.enter_context(support.Site(tree, workers=1, settings=plain, env=env))
    return nginx.port, apus.port


def look(options):
    """What the PHP that runs has built in."""
    def asked(code):
        return subprocess.run([support.php(), "-n", "-r", code], capture_output=True, text=True, check=True).stdout
    options.builtin = set(asked("echo strtolower(implode(' ', get_loaded_extensions()));").split())
    options.extension_dir = pathlib.Path(asked("echo ini_get('extension_dir');"))


class Answer:
    """What came for a page."""

    def __init__(self, status, head, body, expected):
        self.status, self.head, self.body, self.expected = status, head, body, expected

    def like(self, other):
        same = self.body == other.body or self.expected and other.expected
        return self.status == other.status and self.head == other.head and same

    def lines(self):
        body = self.body.decode(errors="replace") if self.body is not None else "(not within the time)"
        return [str(self.status), *self.head, "", *body.splitlines()]


class Page(phpt.Test):
    """A test that a web server is asked for."""

    foreign = FOREIGN
    foreign_settings = re.compile(r"(?!)")

    def __init__(self, name, options):
        super().__init__(name, options)
        code = self.parts.get("FILE", self.parts.get("FILEEOF", b""))
        if OTHERS.search(code):
            raise phpt.Left("starts a PHP of its own")

    def key(self):
        """Tests of one key run in the same processes."""
        rows = {name: value for name, value in self.variables().items() if not name.startswith("HTTP_")}
        if foreign := rows.keys() & {*OF_REQUEST}:
            raise phpt.Left(f"sets {', '.join(sorted(foreign))} itself")
        return tuple(self.entry(row) for row in self.settings()), tuple(sorted(rows.items()))

    def variables(self):
        return dict(row.strip().split("=", 1) for row in self.text("ENV").splitlines() if "=" in row)

    @staticmethod
    def entry(row):
        """A setting as php.ini has it: what the command line takes as it is may need quotes there."""
        name, _, value = (part.strip() for part in row.partition("="))
        if re.fullmatch(r"[\w./:+%-]*", value) or value.startswith(('"', "'")) or "&" in value or "|" in value:
            return f"{name}={value}"
        return f'{name}="{value}"'

    def request(self):
        """Method, query, fields and body."""
        query, fields, body = self.text("GET").strip(), {}, None
        method = "GET"
        for name, value in self.variables().items():
            if name.startswith("HTTP_"):
                fields[name[5:].replace("_", "-").title()] = value
        if cookie := self.text("COOKIE").strip():
            fields["Cookie"] = cookie
        for section, verb, kind in (("POST", "POST", FORM), ("POST_RAW", "POST", None), ("PUT", "PUT", None), ("GZIP_POST", "POST", FORM), ("DEFLATE_POST", "POST", FORM)):
            if section not in self.parts:
                continue
            method, body = verb, self.parts[section].strip()
            if kind is None:
                first, _, rest = body.partition(b"\n")
                if found := re.match(rb"Content-Type:\s*(.*)", first, re.I):
                    kind, body = found[1].strip().decode("latin-1"), rest
            fields.update({"Content-Type": kind} if kind else {})
        if "GZIP_POST" in self.parts:
            fields["Content-Encoding"], body = "gzip", gzip.compress(body)
        if "DEFLATE_POST" in self.parts:
            fields["Content-Encoding"], body = "gzip", zlib.compress(body)
        return method, query, fields, body

    def asked(self, port, code=None):
        """The page's answer. The test's own CLEAN follows."""
        script = self.folder / (pathlib.Path(self.name).stem + ".php")
        script.write_bytes(self.code()[0])
        status, head, body = self.fetched(port, script, *self.request())
        if "CLEAN" in self.parts:
            self.beside("CLEAN")
        if body is None:
            return Answer(status, head, None, False)
        body, expected = self.seen(body.replace(bytes(self.options.tree), b"TREE").replace(str(port).encode(), b"PORT"))
        body = PASSING.sub(b"PASSING", body)
        wanted = [row.strip().lower() for row in self.text("EXPECTHEADERS").splitlines() if ":" in row]
        lower = [row.lower() for row in head]
        return Answer(status, head, body, expected and all(re.sub(r":\s*", ": ", row) in lower for row in wanted))

    def code(self):
        """The script as it stands: nothing here runs before it."""
        if "FILE_EXTERNAL" in self.parts:
            return (self.folder / self.text("FILE_EXTERNAL").strip()).read_bytes(), b""
        if (code := self.parts.get("FILE", self.parts.get("FILEEOF"))) is None:
            raise phpt.Left("has no code")
        return code.rstrip(b"\r\n") if "FILEEOF" in self.parts else code, b""

    def skips(self, port):
        if "SKIPIF" not in self.parts:
            return False
        script = self.folder / f"{pathlib.Path(self.name).stem}.skip.php"
        script.write_bytes(self.parts["SKIPIF"])
        body = self.fetched(port, script, "GET", "", {}, None)[2]
        return body is None or body.lstrip()[:4].lower() == b"skip"

    def fetched(self, port, script, method, query, fields, body):
        path = "/" + urllib.parse.quote(str(script.relative_to(self.options.tree))) + (f"?{urllib.parse.quote(query, UNQUOTED, errors='surrogateescape')}" if query else "")
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS + 10)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            lengths = {"Content-Length": str(len(body))} if body is not None else {}
            for name, value in {"Host": "test", "Connection": "close", **fields, **lengths}.items():
                connection.putheader(name, value.encode("latin-1", "surrogateescape"))
            connection.endheaders(body)
            answer = connection.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException) as error:
            return 0, [type(error).__name__], None
        finally:
            connection.close()
        fields = ((name.lower(), SESSION.sub("ID", value)) for name, value in answer.getheaders())
        head = [f"{name}: {value}" for name, value in fields if name not in OWN]
        return answer.status, sorted(head), text
