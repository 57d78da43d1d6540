"""What the tests of `apus serve` share: the same directory behind nginx with php-fpm, and a browser's cookies and
forms."""

import difflib
import html
import os
import pathlib
import re
import struct
import sys
import tempfile
import urllib.parse
import zlib

import support

sys.path.insert(0, str(support.ROOT / "tests/lib"))
import servers  # noqa: E402, F401
import sites  # noqa: E402

os.environ.setdefault("XDEBUG_MODE", "off")


def picture(width, height):
    """A PNG."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + bytes((x * 7 + y) % 256 for x in range(width * 3)) for y in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


class Sites(support.Case):
    """A directory on both."""

    def directory(self, files):
        root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="apus-site-"))).resolve()
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        return root

    def served(self, root, *args, env=None, **options):
        # Xdebug, where it is installed, would slow every call.
        return self.enterContext(support.Site(root, *args, env={"XDEBUG_MODE": "off", **(env or {})}, **options))

    def nginx(self, root, *, tries="$uri $uri/ /index.php?$args", server="", pool=()):
        fpm = self.enterContext(sites.PhpFpm(*pool))
        return Beside(self.enterContext(sites.Nginx(fpm, root, tries, server)).port)

    # What an application says on no page that is right, beside what PHP would.
    TROUBLE = ()

    def page(self, answer, status=200):
        """Checks an answer, and gives its text."""
        text = answer.body.decode(errors="replace")
        self.assertEqual(answer.status, status, f"{answer.headers}\n{text[:3000]}")
        for trouble in ("Fatal error", "<b>Warning</b>", *self.TROUBLE):
            self.assertNotIn(trouble, text)
        return text

    # Those that a web server sets itself, or that tell the time.
    OWN = (
        "server", "date", "content-length", "transfer-encoding", "connection", "expires", "last-modified", "etag",
        "accept-ranges", "vary", "keep-alive", "set-cookie", "x-powered-by",
    )

    def same_pages(self, site, nginx, paths, cookies, fleeting=(), own=()):
        """Each page from both, by its status, fields and body, without what `fleeting` replaces. The answers to `own`
        paths are the web server's: their status and where they lead to counts."""
        for path in paths:
            with self.subTest(path):
                ours, theirs = (self.shown(server, path, cookies, fleeting) for server in (site, nginx))
                if path in own:
                    ours, theirs = ((status, {"location": fields.get("location")}) for status, fields, _ in (ours, theirs))
                self.assertEqual(ours[:2], theirs[:2], path)
                if path not in own:
                    lines = [body.decode(errors="replace").split("\n") for body in (theirs[2], ours[2])]
                    self.assertEqual([], list(difflib.unified_diff(*lines, "nginx", "apus", lineterm="", n=0)), path)

    def shown(self, server, path, cookies, fleeting):
        browser = Browser(server)
        browser.cookies = dict(cookies)
        answer = browser.get(path)
        body = answer.body
        for pattern, by in fleeting:
            body = re.sub(pattern, by, body)
        fields = {name: value for name, value in answer.headers.items() if name not in self.OWN}
        if "location" in fields:
            fields["location"] = re.sub("^http://[^/]*", "", fields["location"])
        # What a file's type is called is the server's own table.
        kind = path.partition("?")[0].rpartition(".")[2]
        return answer.status, {} if kind in ("js", "html", "css", "svg", "ico") else fields, body


class Beside(support.Server):
    """Another server, as a client sees it."""

    def __init__(self, port):
        self.address = f"127.0.0.1:{port}"


class Browser:
    """Keeps cookies, fills in forms; every request is one on a connection of its own."""

    def __init__(self, server):
        self.server, self.cookies = server, {}

    def request(self, method, path, body=None, headers=None):
        headers = {"Accept": "text/html,*/*", **(headers or {})}
        if self.cookies:
            headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        with self.server.connect() as client:
            answer = client.request(method, path, body=body, headers=headers, close=True)
        # Several Set-Cookie fields come joined; a date in one has a comma of its own.
        for cookie in re.split(r", (?=[^;,= ]+=)", answer.headers.get("set-cookie", "")):
            name, _, value = cookie.split(";")[0].partition("=")
            if name:
                self.cookies[name] = value
        return answer

    def get(self, path, **options):
        return self.request("GET", path, **options)

    def post(self, path, fields, **options):
        body = urllib.parse.urlencode(fields).encode()
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        return self.request("POST", path, body, {**kind, **options})

    def upload(self, path, fields, files):
        """multipart/form-data: `files` are (field, file name, type, bytes)."""
        boundary = "----apus-of-a-test"
        parts = [
            f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
            for name, value in fields.items()
        ]
        for field, name, kind, content in files:
            head = f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"; filename="{name}"\r\nContent-Type: {kind}\r\n\r\n'
            parts.append(head.encode() + content + b"\r\n")
        body = b"".join(parts) + f"--{boundary}--\r\n".encode()
        return self.request("POST", path, body, {"Content-Type": f"multipart/form-data; boundary={boundary}"})

    @staticmethod
    def fields(answer, within=""):
        """The hidden fields and values of inputs of a page, or of what follows a text in it."""
        text = answer.body.decode()
        text = text[text.index(within):] if within else text
        found = {}
        for tag in re.findall(r"<input\b[^>]*>", text.split("</form>")[0] if within else text):
            attributes = dict(re.findall(r"""([\w-]+)=["']([^"']*)["']""", tag))
            if "name" in attributes and attributes.get("type") != "submit":
                found[attributes["name"]] = html.unescape(attributes.get("value", ""))
        return found
