"""What scripts see and what their clients get, the same from `apus serve` as from nginx with php-fpm: status, head and
body of small scripts, with display of errors on and off."""

import contextlib
import http.client
import re

import support
from serve_cases import Sites

# What a web server sets itself.
OWN = ("server", "date", "connection", "content-length", "transfer-encoding", "keep-alive")
FORM = "application/x-www-form-urlencoded"
PARTS = "multipart/form-data; boundary=X"


def part(name, body, file=None, kind="text/plain"):
    of_file = f'; filename="{file}"\r\nContent-Type: {kind}' if file is not None else ""
    return f'--X\r\nContent-Disposition: form-data; name="{name}"{of_file}\r\n\r\n{body}\r\n'


# By name: the script, without its opening tag.
SCRIPTS = {
    "hello": "echo 'hello';",
    "empty": "",
    "constants": "echo PHP_SAPI, php_sapi_name(), PHP_EOL, PHP_BINARY === '' ? 'none' : 'some', defined('STDIN') ? 'stdin' : 'no';",
    "status": "http_response_code(418); echo http_response_code();",
    "status_line": "header('HTTP/1.1 404 Nothing Here'); echo 'nothing';",
    "status_old": "header('HTTP/1.0 403 No'); echo http_response_code();",
    "status_field": "header('Status: 410 Gone'); echo 'gone';",
    "location": "header('Location: /there'); echo 'moved';",
    "location_303": "header('Location: /there', true, 303);",
    "location_201": "http_response_code(201); header('Location: /there');",
    "no_content": "http_response_code(204);",
    "not_modified": "http_response_code(304); header('ETag: \"x\"');",
    "kind": "header('Content-Type: application/json'); echo '{}';",
    "kind_text": "header('content-type: text/plain'); echo 'x';",
    "kind_empty": "ini_set('default_mimetype', ''); echo 'x';",
    "charset": "ini_set('default_charset', 'ISO-8859-1'); echo 'x';",
    "several": "header('X-A: 1'); header('X-A: 2', false); header('X-B: 1'); header('x-b: 2'); header('X-D:');",
    "removed": "header('X-A: 1'); header('X-B: 2'); header_remove('x-a'); echo json_encode(headers_list());",
    "removed_all": "header('X-A: 1'); header_remove(); echo 'x';",
    "injected": "header(\"X-A: 1\\r\\nX-B: 2\"); echo 'x';",
    "callback": "header_register_callback(fn () => header('X-Late: yes')); echo 'x';",
    "sent": "echo str_repeat('x', 5000); flush(); var_dump(headers_sent($file, $line), basename($file), $line); header('X-Late: 1');",
    "length": "header('Content-Length: 3'); echo 'abc';",
    "length_and_more": "header('X-Content: 3'); echo 'abc';",
    "cookies": "setcookie('a', 'b c'); setcookie('d', 'e', ['expires' => 2000000000, 'path' => '/x', 'secure' => true, 'httponly' => true, 'samesite' => 'Lax']); setrawcookie('r', 'x%20y'); setcookie('gone', '');",
    "cookie_in": "var_dump($_COOKIE);",
    "get": "var_dump($_GET, $_REQUEST, $_SERVER['QUERY_STRING']);",
    "post": "var_dump($_POST, $_REQUEST, file_get_contents('php://input'), $HTTP_RAW_POST_DATA ?? null);",
    "input_twice": "echo file_get_contents('php://input'), '|', file_get_contents('php://input'), '|', stream_get_contents(fopen('php://input', 'r'), 3, 2);",
    "files": """foreach ($_FILES as $field => $file) {
        array_walk_recursive($file, function (&$value, $key) use (&$seen) { if (is_string($value) && str_starts_with($value, sys_get_temp_dir())) { $seen[] = [is_uploaded_file($value), file_get_contents($value)]; $value = 'temporary'; } });
        var_dump($field, $file);
    }
    var_dump($seen ?? null, $_POST, file_get_contents('php://input'));""",
    "moved": "$to = __DIR__ . '/moved'; var_dump(move_uploaded_file($_FILES['f']['tmp_name'] ?? '', $to), @file_get_contents($to), move_uploaded_file('/etc/hostname', $to)); @unlink($to);",
    "arguments": "var_dump($argv ?? null, $argc ?? null, $_SERVER['argv'] ?? null, $_SERVER['argc'] ?? null);",
    "environment": "var_dump(getenv('REQUEST_METHOD'), getenv('SCRIPT_NAME'), getenv('NOT_THERE'), $_ENV);",
    "environment_all": "$all = getenv(); ksort($all); var_dump(isset($all['SCRIPT_FILENAME'], $all['REQUEST_URI'], $all['SCRIPT_NAME']));",
    "filter": "var_dump(filter_input(INPUT_GET, 'a', FILTER_VALIDATE_INT), filter_input(INPUT_SERVER, 'REQUEST_METHOD'), filter_has_var(INPUT_GET, 'z'), filter_input(INPUT_COOKIE, 'c'));",
    "headers": "$all = array_filter(getallheaders(), 'strlen'); unset($all['Connection']); ksort($all); var_dump($all, function_exists('apache_request_headers'), function_exists('fastcgi_finish_request'), function_exists('virtual'));",
    "directory": "var_dump(getcwd() === __DIR__, basename($_SERVER['SCRIPT_FILENAME']), get_included_files() === [__FILE__]);",
    "notice": "echo $undefined; echo 'after';",
    "warning": "header('X-A: 1'); echo 1 / 0.5, file_get_contents('/not/there');",
    "fatal": "echo 'before'; undefined_function();",
    "fatal_first": "undefined_function();",
    "fatal_after_flush": "echo 'before'; ob_end_flush(); flush(); undefined_function();",
    "exception": "throw new RuntimeException('of <b>mine</b>', 7, new LogicException('before'));",
    "parse": "this is no php(",
    "compile": "class A { abstract function f(); }",
    "memory": "$x = str_repeat('x', 1 << 30);",
    "trigger": "trigger_error('a mistake', E_USER_ERROR); echo 'never';",
    "handler": "set_error_handler(function ($n, $text) { echo \"[$text]\"; return true; }); echo $undefined; set_exception_handler(function ($e) { http_response_code(503); echo get_class($e); }); throw new DomainException('x');",
    "shutdown": "register_shutdown_function(function () { echo 'shut ', connection_status(), error_get_last()['message'] ?? 'fine'; }); echo 'x'; exit(3);",
    "shutdown_fatal": "register_shutdown_function(function () { http_response_code(500); echo '[', error_get_last()['type'], ']'; }); undefined_function();",
    "exit_text": "exit('bye');",
    "exit_in_function": "function f() { try { exit('x'); } finally { echo 'never'; } } f();",
    "destructor": "class D { function __destruct() { echo 'destroyed'; } } $d = new D; echo 'x';",
    "buffers": "ob_start(fn ($text) => strtoupper($text)); echo 'a'; ob_start(); echo 'b'; ob_end_flush(); echo ob_get_level();",
    "buffer_left": "ob_start(); echo 'left'; ob_start(fn ($t) => \"<$t>\"); echo 'inner';",
    "implicit": "ob_implicit_flush(true); echo 'a', ob_get_level(); ob_end_clean(); echo 'b';",
    "rewrite": "output_add_rewrite_var('x', 'y'); echo '<a href=\"a.php\">a</a>';",
    "statics": "class Counted { static $n = 0; } function again() { static $n = 0; return ++$n; } echo ++Counted::$n, again(), again(); define('ONCE', 1);",
    "ini": "ini_set('precision', '3'); setlocale(LC_ALL, 'C'); echo 1 / 3, date_default_timezone_get(); date_default_timezone_set('Asia/Tokyo'); mb_internal_encoding('ISO-8859-1');",
    "ini_again": "echo 1 / 3, date_default_timezone_get(), mb_internal_encoding(), ini_get('precision');",
    "limits": "echo ini_get('max_execution_time'), ini_get('memory_limit'); set_time_limit(5); echo ini_get('max_execution_time');",
    "time": "var_dump(abs($_SERVER['REQUEST_TIME'] - time()) < 20, is_float($_SERVER['REQUEST_TIME_FLOAT']), $_SERVER['REQUEST_TIME'] === (int) $_SERVER['REQUEST_TIME_FLOAT']);",
    "info": "ob_start(); phpinfo(INFO_VARIABLES); echo str_contains(ob_get_clean(), '<table') ? 'html' : 'text';",
    "highlight": "highlight_string('<?php echo 1;');",
    "include": "include __DIR__ . '/hello.php'; echo (include __DIR__ . '/value.php')['a'], @include 'none.php' ? 1 : 0;",
    "value": "return ['a' => 5];",
    "session": "session_id('of' . 'thistest'); session_start(); $_SESSION['n'] = 1; echo session_name(), session_status(); session_destroy();",
    "session_cookie": "session_set_cookie_params(['samesite' => 'Strict', 'path' => '/s']); session_start(['use_strict_mode' => 0]); echo strlen(session_id()); session_destroy();",
    "gzip": "ini_set('zlib.output_compression', '0'); echo strlen(gzencode('x'));",
    "long": "for ($n = 0; $n < 2000; $n++) { echo str_repeat(chr(97 + $n % 26), 1000); }",
    "streamed": "for ($n = 0; $n < 5; $n++) { echo $n; ob_flush(); flush(); }",
    "abort": "var_dump(connection_aborted(), connection_status(), ignore_user_abort());",
    "users": "var_dump(get_current_user() !== '', getmyuid() === fileowner(__FILE__), getlastmod() === filemtime(__FILE__));",
    "of_the_command_line": "var_dump(array_map('function_exists', ['dl', 'cli_set_process_title', 'cli_get_process_title']), defined('STDOUT'));",
    "ffi": "try { FFI::new('int'); echo 'allowed'; } catch (Throwable $error) { echo get_class($error), $error->getMessage(); }",
    "patterns": "var_dump(preg_match('/(?<a>x+)(y)?/', 'xxz', $m, PREG_OFFSET_CAPTURE | PREG_UNMATCHED_AS_NULL), $m, ini_get('pcre.backtrack_limit'), @preg_match('/(?:\\D+|<\\d+>)*[!?]/', str_repeat('foobar ', 99)), preg_last_error_msg());",
    "classes": "spl_autoload_register(fn ($c) => print(\"[$c]\")); var_dump(class_exists('Nope'), class_exists('Counted', false), function_exists('again'), defined('ONCE'));",
    "readfile": "header('Content-Type: text/plain'); readfile(__DIR__ . '/hello.php'); passthru('echo from a shell');",
    "stdout": "file_put_contents('php://output', 'out'); fprintf(fopen('php://output', 'w'), '%s', 'more'); file_put_contents('php://stdout', '');",
    "auth": "var_dump($_SERVER['PHP_AUTH_USER'] ?? null, $_SERVER['PHP_AUTH_PW'] ?? null, $_SERVER['PHP_AUTH_DIGEST'] ?? null, $_SERVER['AUTH_TYPE'] ?? null);",
}
# The microseconds of CPU that patterns take of which each is used once.
PATTERNS = """<?php
$before = getrusage();
for ($n = 0; $n < 2000; $n++) {
    preg_match("/a$n(b|c)+[d-g]*$n/", 'xxx');
}
$after = getrusage();
$seconds = $after['ru_utime.tv_sec'] + $after['ru_stime.tv_sec'] - $before['ru_utime.tv_sec'] - $before['ru_stime.tv_sec'];
echo $seconds * 1_000_000 + $after['ru_utime.tv_usec'] + $after['ru_stime.tv_usec'] - $before['ru_utime.tv_usec'] - $before['ru_stime.tv_usec'];
"""
FILES = "".join((
    part("f", "content", "a.txt"),
    part("g[x][]", "1", "b/c.txt"),
    part("g[x][]", "2", "..\\\\d"),
    part("none", "", ""),
    part("plain", "v"),
    "--X--\r\n",
)).encode()
# More than a plain GET: what is asked of which script.
REQUESTS = (
    ("get", "GET", "/get.php?a=1&b[]=2&b[]=3&c[d][e]=4&f%20g=%00h&i.j=k&l", None, {}),
    ("get", "GET", "/get.php?a=1;b=2&=x&a+b=c&d[=e&f]=g", None, {}),
    ("cookie_in", "GET", "/cookie_in.php", None, {"Cookie": "a=b%20c; d=e; a=second; f[g]=h; i; j=k=l; $v=1"}),
    ("filter", "GET", "/filter.php?a=17", None, {"Cookie": "c=x"}),
    ("headers", "GET", "/headers.php", None, {"X-One": "1", "Accept": "*/*", "Authorization": "Basic YTpi", "Content-Type": "x/y"}),
    ("auth", "GET", "/auth.php", None, {"Authorization": "Basic YW5uYTpzM2M6cmV0"}),
    ("auth", "GET", "/auth.php", None, {"Authorization": 'Digest username="anna", realm="x"'}),
    ("auth", "GET", "/auth.php", None, {"Authorization": "Bearer token"}),
    ("arguments", "GET", "/arguments.php?one+two", None, {}),
    ("post", "POST", "/post.php?g=1", b"a=1&b[c]=2&b[d]=%26&e=f+g", {"Content-Type": FORM}),
    ("post", "POST", "/post.php", b"a=1", {"Content-Type": FORM + "; charset=UTF-8"}),
    ("post", "POST", "/post.php", b'{"a":1}', {"Content-Type": "application/json"}),
    ("post", "POST", "/post.php", b"", {"Content-Type": FORM}),
    ("post", "POST", "/post.php", b"raw", {}),
    ("post", "PUT", "/post.php", b"a=1", {"Content-Type": FORM}),
    ("post", "PATCH", "/post.php", b"a=1", {"Content-Type": FORM}),
    ("post", "DELETE", "/post.php", b"", {}),
    ("input_twice", "POST", "/input_twice.php", b"abcdef", {"Content-Type": "text/plain"}),
    ("files", "POST", "/files.php", FILES, {"Content-Type": PARTS}),
    ("files", "POST", "/files.php", (part("large", "x" * 2_200_000, "a") + part("small", "s", "b", "image/png") + "--X--\r\n").encode(), {"Content-Type": PARTS}),
    ("files", "POST", "/files.php", (part("MAX_FILE_SIZE", "3") + part("f", "four", "a") + "--X--\r\n").encode(), {"Content-Type": PARTS}),
    ("files", "POST", "/files.php", part("broken", "off", "a").encode()[:-6], {"Content-Type": PARTS}),
    ("moved", "POST", "/moved.php", (part("f", "content", "a.txt") + "--X--\r\n").encode(), {"Content-Type": PARTS}),
    ("hello", "HEAD", "/hello.php", None, {}),
    ("location", "HEAD", "/location.php", None, {}),
    ("long", "HEAD", "/long.php", None, {}),
    ("hello", "OPTIONS", "/hello.php", None, {}),
    ("hello", "PROPFIND", "/hello.php", None, {}),
    ("not_modified", "GET", "/not_modified.php", None, {"If-None-Match": '"x"'}),
)


class Same(Sites):
    def both(self, *pool):
        root = self.directory({f"{name}.php": f"<?php {code}" for name, code in SCRIPTS.items()})
        plain = {"try_files": ["$uri", "=404"], "http_compression": False, "package_max_length": "16M"}
        ini = tuple(entry.split("[", 1)[1].replace("] = ", "=") for entry in pool)
        apus = self.served(root, settings=plain, ini=ini)
        return apus, self.nginx(root, tries="$uri =404", pool=pool)

    def same(self, *pool):
        apus, nginx = self.both(*pool)
        everything = [(name, "GET", f"/{name}.php", None, {}) for name in SCRIPTS]
        for name, method, path, body, fields in (*everything, *REQUESTS):
            with self.subTest(f"{method} {path} {fields}"):
                ours, theirs = (self.shown(server, method, path, body, fields) for server in (apus, nginx))
                self.assertEqual(ours, theirs)

    def shown(self, server, method, path, body, fields):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=support.PATIENCE)
        with contextlib.closing(connection):
            connection.request(method, path, body, {"Host": "test", "Connection": "close", **fields})
            answer = connection.getresponse()
            text = answer.read().decode("latin-1")
        head = [(name.lower(), value) for name, value in answer.getheaders() if name.lower() not in OWN]
        head = sorted((name, re.sub("PHPSESSID=[0-9a-z]+", "PHPSESSID=ID", value)) for name, value in head)
        return answer.status, head, text.split("\n")

    def test_with_output_that_php_compresses(self):
        pool = ("php_flag[zlib.output_compression] = on", "php_admin_value[output_buffering] = 0")
        apus, nginx = self.both(*pool)
        for path, accepted in (("/long.php", "gzip"), ("/long.php", "identity"), ("/hello.php", "deflate"), ("/fatal.php", "gzip")):
            with self.subTest(f"{path} {accepted}"):
                ours, theirs = (self.shown(server, "GET", path, None, {"Accept-Encoding": accepted}) for server in (apus, nginx))
                self.assertEqual(ours, theirs)

    def test_compiled_patterns_are_kept(self):
        apus = self.served(self.directory({"patterns.php": PATTERNS}), workers=1)
        first, second, third = (int(apus.get("/patterns.php").body) for _ in range(3))
        self.assertLess(min(second, third), first / 2)

    def test_scripts_that_php_may_not_open(self):
        apus, nginx = self.both("php_admin_value[open_basedir] = /nowhere")
        for server in (apus, nginx):
            self.assertEqual(self.shown(server, "GET", "/hello.php", None, {})[::2], (404, ["No input file specified.", ""]))
        support.until("it is logged", lambda: "Unable to open primary script" in apus.said())

    def test_with_errors_hidden(self):
        self.same()

    def test_with_errors_shown(self):
        self.same("php_flag[display_errors] = on", "php_flag[html_errors] = on")
