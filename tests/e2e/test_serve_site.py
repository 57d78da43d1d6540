"""`apus serve` beside nginx with php-fpm over the same directory: which script answers, and what it is told."""

import json
import re

import support
from serve_cases import Sites

TOLD = "<?php header('Content-Type: application/json'); echo json_encode($_SERVER, JSON_INVALID_UTF8_SUBSTITUTE);"
FILES = {
    "index.php": TOLD,
    "a b.php": TOLD,
    "admin/index.php": TOLD,
    "admin/x.php": TOLD,
    "both/index.php": TOLD,
    "both/index.html": "html",
    "pages/index.html": "html",
    "empty/x.txt": "text",
    "dir.php/real.php": TOLD,
    ".env": "SECRET",
    ".git/hook.php": TOLD,
    ".well-known/x": "well known",
    "style.css": "a {}",
    "uploads/evil.php": TOLD,
    "uploads/x.jpg": "a picture",
    "ini.php": "<?php foreach (explode(',', $_GET['names']) as $name) { $all[$name] = ini_get($name); } echo json_encode($all);",
}
PATHS = (
    "/", "/?", "/?a=1&b%5B%5D=2", "/index.php", "/index.php/", "/index.php/a%20b/c.php?x=%3F", "/index.php?", "/a%20b.php",
    "/admin", "/admin?x=1", "/admin/", "/admin/x.php", "//admin//x.php", "/admin/./x.php/y", "/x/../admin/x.php",
    "/admin%2Fx.php", "/both/", "/pages", "/pages/", "/empty", "/empty/", "/blog", "/blog/a+b/?q=1", "/blog/%C3%A4",
    "/none.php", "/none.php/x", "/style.css", "/style.css/x.php", "/uploads/x.jpg", "/uploads/evil.php",
    "/.git/hook.php", "/.well-known/x", "/index.php%00.css", "/..%2f..%2fetc/passwd",
)
# The web server's own: its name, the client's port, times; and whom php-fpm runs as, which it looks up.
OWN = ("USER", "HOME", "SERVER_SOFTWARE", "SERVER_PORT", "REMOTE_PORT", "REQUEST_TIME", "REQUEST_TIME_FLOAT", "HTTP_HOST")
FIELDS = {
    "X-A": "1", "X_B": "2", "x-empty": "", "Proxy": "http://evil", "Authorization": "Basic YW5uYTpzM2M6cmV0",
    "Cookie": "a=1; b=2", "Accept": "*/*", "Content-Type": "text/plain",
}
INI = (
    "memory_limit", "html_errors", "output_buffering", "implicit_flush", "max_execution_time", "max_input_time",
    "register_argc_argv", "variables_order", "request_order", "display_errors", "log_errors", "opcache.revalidate_freq",
    "opcache.enable", "error_reporting", "session.save_path", "upload_max_filesize", "post_max_size", "expose_php",
)


class Routing(Sites):
    SETTINGS = {"try_files": ["$uri", "$uri/", "/index.php"], "denied_scripts": ["/uploads/*"]}

    def told(self, answer):
        """What a script was told, as a list of pairs without what is the server's own."""
        told = list(json.loads(answer.body).items())
        return [(name, value) for name, value in told if name not in OWN]

    def test_each_path_as_with_nginx(self):
        root = self.directory(FILES)
        denied = "location ~ ^/uploads/.*\\.php { return 403; }"
        apus, nginx = self.served(root, settings=self.SETTINGS), self.nginx(root, server=denied)
        for path in PATHS:
            with self.subTest(path):
                ours, theirs = apus.get(path), nginx.get(path)
                self.assertEqual(ours.status, theirs.status)
                if theirs.status == 301:
                    where = re.sub("^http://[^/]*", "", theirs.headers["location"])
                    self.assertEqual(ours.headers["location"], where)
                elif theirs.headers.get("content-type") == "application/json":
                    self.assertEqual(self.told(ours), self.told(theirs))
                elif theirs.status == 200:
                    self.assertEqual(ours.body, theirs.body)

    def test_what_is_hidden_or_denied_stays_so(self):
        apus = self.served(self.directory(FILES), settings=self.SETTINGS)
        # Nothing that is hidden is a file: the front controller has its path.
        self.assertEqual(apus.get("/.env").json()["SCRIPT_NAME"], "/index.php")
        for path, status in (("/uploads/evil.php/x", 403), ("/uploads/x.jpg/x.php", 404), ("/.git/hook.php", 404)):
            self.assertEqual(apus.get(path).status, status, path)

    def test_methods_and_bodies(self):
        root = self.directory(FILES)
        apus, nginx = self.served(root, settings=self.SETTINGS), self.nginx(root)
        for method, path, body in (
            ("POST", "/index.php/x?y", b"abc"), ("POST", "/", b""), ("PUT", "/blog", b"x" * 100_000),
            ("DELETE", "/admin/x.php", None), ("HEAD", "/", None), ("OPTIONS", "/blog", None), ("POST", "/style.css", b"a"),
        ):
            with self.subTest(f"{method} {path}"):
                answers = []
                for server in (apus, nginx):
                    with server.connect() as client:
                        answers.append(client.request(method, path, body=body, headers=FIELDS))
                ours, theirs = answers
                self.assertEqual(ours.status, theirs.status)
                if theirs.status == 200 and method != "HEAD":
                    self.assertEqual(self.told(ours), self.told(theirs))

    def test_a_plain_directory_has_no_front_controller(self):
        apus = self.served(self.directory(FILES))
        self.assertEqual([apus.get(path).status for path in ("/", "/blog", "/none.php", "/admin/")], [200, 404, 404, 200])
        self.assertIn("plain PHP scripts", apus.said())

    def test_settings_are_those_of_php_fpm(self):
        root = self.directory(FILES)
        apus, nginx = self.served(root, settings=self.SETTINGS), self.nginx(root)
        path = "/ini.php?names=" + ",".join(INI)
        self.assertEqual(apus.get(path).json(), nginx.get(path).json())

    def test_entries_of_the_command_line_hold(self):
        apus = self.served(self.directory(FILES), ini=("memory_limit=77M", "max_execution_time=7"))
        self.assertEqual(apus.get("/ini.php?names=memory_limit,max_execution_time").json(), {"memory_limit": "77M", "max_execution_time": "7"})

    def test_user_ini_holds_below_its_directory(self):
        show = "<?php echo json_encode(array_map('ini_get', ['memory_limit', 'upload_max_filesize', 'precision', 'short_open_tag', 'user_agent']));"
        files = {
            "show.php": show, "a/show.php": show, "a/b/show.php": show,
            ".user.ini": "upload_max_filesize = 3M\nprecision = 5\nopcache.enable = 0\nuser_agent = \"of the root\"\n",
            "a/b/.user.ini": "precision = 7\nmemory_limit = 99M\n[section]\nuser_agent = of b\n",
        }
        root = self.directory(files)
        apus, nginx = self.served(root, settings={**self.SETTINGS, "try_files": ["$uri", "=404"]}), self.nginx(root)
        # The second time what was read before holds, and the third nothing of it is left.
        for path in ("/a/b/show.php", "/a/b/show.php", "/show.php", "/a/show.php"):
            told = apus.get(path).json()
            self.assertEqual(told, nginx.get(path).json(), path)
        self.assertEqual(apus.get("/a/b/show.php").json(), ["99M", "3M", "7", "", "of b"])
        self.assertEqual(apus.get("/.user.ini").status, 404)
