"""What the tests of `apus serve` share: the same directory behind nginx with php-fpm, and a browser's cookies and
forms."""

import html
import os
import pathlib
import re
import sys
import tempfile
import urllib.parse

import support

sys.path.insert(0, str(support.ROOT / "tests/lib"))
import servers  # noqa: E402, F401
import sites  # noqa: E402

os.environ.setdefault("XDEBUG_MODE", "off")


class Sites(support.Case):
    """A directory on both."""

    def directory(self, files):
        root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="apus-site-"))).resolve()
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        return root

    def served(self, root, *args, **options):
        # Xdebug, where it is installed, would slow every call.
        return self.enterContext(support.Site(root, *args, env={"XDEBUG_MODE": "off"}, **options))

    def nginx(self, root, *, tries="$uri $uri/ /index.php?$args", server="", pool=()):
        fpm = self.enterContext(sites.PhpFpm(*pool))
        return Beside(self.enterContext(sites.Nginx(fpm, root, tries, server)).port)


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
