"""Files that a program sends: conditional requests and ranges, against a model, against nginx, and over HTTP/2."""

import email.utils
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from support import PATIENCE, Case, Server, needs, until

SIZE = 1000
CONTENT = bytes(range(250)) * 4
DATE = "Sun, 06 Nov 1994 08:49:37 GMT"
BEFORE = "Sun, 06 Nov 1994 08:49:36 GMT"
AFTER = "Sun, 06 Nov 1994 08:49:38 GMT"

TAGS = [None, "{tag}", '"x"', "*", '"x", {tag}']
DATES = [None, DATE, BEFORE, AFTER]
RANGES = [None, "bytes=0-0", "bytes=10-", "bytes=-7", "bytes=999-", "bytes=1000-", "bytes=0-2000", "bytes=5-9,20-29",
          "bytes=2000-,3-3", "bytes=0-,0-"]
IF_RANGES = [None, "{tag}", '"x"', DATE, BEFORE]

NGINX = """
daemon off; master_process off; pid {folder}/pid; error_log {folder}/log;
events {{ }}
http {{
    access_log off; if_modified_since before; client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder};
    uwsgi_temp_path {folder}; scgi_temp_path {folder};
    server {{ listen 127.0.0.1:{port}; root {folder}; }}
}}
"""


def matrix():
    """Fields of requests: each kind of condition with each other that it meets."""
    for match in TAGS:
        for since in DATES if match is None else DATES[:2]:
            yield {"If-Match": match, "If-Unmodified-Since": since}
            yield {"If-None-Match": match, "If-Modified-Since": since}
    for asked in RANGES:
        for held in IF_RANGES:
            yield {"Range": asked, "If-Range": held}
        yield {"Range": asked, "If-None-Match": "{tag}"}
        yield {"Range": asked, "If-Match": '"x"'}


def model(fields):
    """Status and ranges that RFC 9110 asks for (sections 13.2.2 and 14)."""
    held = lambda tags: tags == "*" or "{tag}" in tags
    moment = lambda date: email.utils.parsedate_to_datetime(date)
    if "If-Match" in fields:
        if not held(fields["If-Match"]):
            return 412, None
    elif "If-Unmodified-Since" in fields and moment(DATE) > moment(fields["If-Unmodified-Since"]):
        return 412, None
    if "If-None-Match" in fields:
        if held(fields["If-None-Match"]):
            return 304, None
    elif "If-Modified-Since" in fields and moment(DATE) <= moment(fields["If-Modified-Since"]):
        return 304, None
    if "Range" not in fields or fields.get("If-Range", "{tag}") not in ("{tag}", DATE):
        return 200, None
    parts = []
    for first, last in re.findall(r"(\d*)-(\d*)", fields["Range"]):
        if first == "":
            parts.append((SIZE - int(last), SIZE - 1))
        elif int(first) < SIZE:
            parts.append((int(first), min(int(last or SIZE), SIZE - 1)))
    if not parts:
        return 416, None
    if sum(last - first + 1 for first, last in parts) > SIZE:
        return 200, None
    return 206, parts


def content(answer):
    """What an answer tells of ranges, without the boundary: (range, bytes) of each part."""
    kind = answer.headers.get("content-type", "")
    if answer.status != 206:
        return answer.headers.get("content-range"), answer.body if answer.status == 200 else None
    if not kind.startswith("multipart/"):
        return [(answer.headers["content-range"], answer.body)]
    mark = b"\r\n--" + kind.split("boundary=")[1].encode()
    parts = []
    for piece in answer.body.split(mark)[1:-1]:
        head, _, body = piece.partition(b"\r\n\r\n")
        parts.append((re.search(rb"(?i)content-range: (.*)", head)[1].strip().decode(), body))
    return parts


class Port:
    """A server that is not ours."""

    def __init__(self, port):
        self.port = port

    connect = Server.connect
    get = Server.get


class SendFile(Case):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="apus-e2e-sendfile-"))
        self.folder.chmod(0o755)
        self.addCleanup(lambda: shutil.rmtree(self.folder, True))
        self.file = self.folder / "file.bin"
        self.file.write_bytes(CONTENT)
        stamp = email.utils.parsedate_to_datetime(DATE).timestamp()
        os.utime(self.file, (stamp, stamp))

    def sender(self, before="", **settings):
        server = Server(f"{before} $response->sendfile('{self.file}');", settings=settings)
        self.addCleanup(server.__exit__)
        return server

    def each(self, server, act):
        tag = server.get("/file.bin").headers["etag"]
        for case in matrix():
            fields = {name: value for name, value in case.items() if value is not None}
            sent = {name: value.replace("{tag}", tag) for name, value in fields.items()}
            act(fields, sent, server.get("/file.bin", headers=sent))
        return tag

    def test_it_does_what_the_model_does(self):
        def check(fields, sent, answer):
            status, parts = model(fields)
            self.assertEqual(answer.status, status, sent)
            expected = {
                200: (None, CONTENT),
                304: (None, None),
                412: (None, None),
                416: (f"bytes */{SIZE}", None),
                206: [(f"bytes {a}-{b}/{SIZE}", CONTENT[a : b + 1]) for a, b in parts or ()],
            }
            self.assertEqual(content(answer), expected[status], sent)
            if status == 304:
                self.assertEqual((answer.headers["last-modified"], answer.body), (DATE, b""))

        self.each(self.sender(), check)

    def test_it_does_what_nginx_does(self):
        with Server("$response->end();") as probe:
            port = probe.port
        (self.folder / "conf").write_text(NGINX.format(folder=self.folder, port=port))
        command = [needs("nginx"), "-c", str(self.folder / "conf"), "-e", str(self.folder / "log")]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        until("nginx listens", lambda: process.poll() is not None or (self.folder / "pid").exists())
        answers = []
        self.each(Port(port), lambda fields, sent, answer: answers.append((fields, answer.status, content(answer))))
        theirs = iter(answers)

        def check(fields, sent, answer):
            expected, status, parts = next(theirs)
            self.assertEqual(fields, expected)
            self.assertEqual((answer.status, content(answer)), (status, parts), sent)

        self.each(self.sender(), check)

    def test_what_the_program_says_holds(self):
        server = self.sender(
            "$response->header('ETag', '\"own\"'); $response->header('Last-Modified', 'Sat, 01 Jan 2000 00:00:00 GMT');"
            "$response->header('Content-Type', 'x/y'); $response->header('Cache-Control', 'max-age=5');"
        )
        whole = server.get("/")
        self.assertEqual((whole.headers["etag"], whole.headers["content-type"]), ('"own"', "x/y"))
        same = server.get("/", headers={"If-None-Match": '"own"'})
        self.assertEqual((same.status, same.headers["cache-control"], same.body), (304, "max-age=5", b""))
        self.assertNotIn("content-type", same.headers)
        self.assertEqual(server.get("/", headers={"If-Modified-Since": DATE}).status, 200)
        part = server.get("/", headers={"Range": "bytes=1-2", "If-Range": '"own"'})
        self.assertEqual((part.status, part.headers["content-type"], part.body), (206, "x/y", CONTENT[1:3]))

    def test_other_answers_are_sent_as_they_are(self):
        asked = {"Range": "bytes=0-0", "If-None-Match": "*"}
        missing = self.sender("$response->status(404);").get("/", headers=asked)
        self.assertEqual((missing.status, missing.body), (404, CONTENT))
        with self.sender().connect() as client:
            self.assertEqual(client.request("POST", "/", headers=asked, body=b"x").body, CONTENT)
            head = client.request("HEAD", "/", headers={"Range": "bytes=0-0"})
        self.assertEqual((head.status, head.headers["content-length"]), (200, str(SIZE)))
        without = self.sender("$response->header('Accept-Ranges', 'none');").get("/", headers={"Range": "bytes=0-0"})
        self.assertEqual((without.status, without.headers["accept-ranges"]), (200, "none"))

    def test_conditions_of_one_request_are_not_those_of_the_next(self):
        server = self.sender()
        with server.connect() as client:
            for _ in range(2):
                self.assertEqual(client.request(path="/", headers={"Range": "bytes=3-3"}).body, CONTENT[3:4])
                self.assertEqual(client.request(path="/").body, CONTENT)

    def test_over_http2(self):
        server = self.sender(open_http2_protocol=True)
        curl = [needs("curl"), "-sS", "--http2-prior-knowledge", "-w", "%{http_code}", "-o", self.folder / "got"]
        tag = server.get("/").headers["etag"]
        for asked, status, body in ((["-r", "0-9"], 206, CONTENT[:10]), (["-H", f"If-None-Match: {tag}"], 304, b"")):
            (self.folder / "got").write_bytes(b"")
            told = subprocess.run([*curl, server.url("/"), *asked], capture_output=True, check=True, timeout=PATIENCE)
            self.assertEqual((int(told.stdout), (self.folder / "got").read_bytes()), (status, body))
