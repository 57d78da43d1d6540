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
    "late_header": "echo str_repeat('x', 5000); ob_flush(); flush();\n\nheader('X-Late: 1');\nvar_dump(headers_sent($f, $l), basename($f), $l, setcookie('a', 'b'), http_response_code(404), http_response_code(), headers_list()); header_remove('X-Powered-By');",
    "late_session": "echo str_repeat('x', 5000); ob_flush(); flush(); var_dump(@session_start(), error_get_last()['message'] ?? null);",
    "status_600": "var_dump(http_response_code(600)); echo http_response_code();",
    "status_twice": "http_response_code(404); header('HTTP/1.1 201 Made'); echo http_response_code();",
    "status_third": "header('X-A: 1', true, 404); header('HTTP/1.1 200 Fine'); header('X-B: 1', true, 0); echo http_response_code();",
    "status_location": "http_response_code(301); header('Location: /a'); header('Location: /b', true); echo http_response_code();",
    "status_authenticate": "header('WWW-Authenticate: Basic realm=\"x\"'); echo http_response_code();",
    "no_content_body": "http_response_code(204); echo 'a body';",
    "not_modified_body": "http_response_code(304); header('Content-Type: text/plain'); echo 'a body';",
    "length_zero": "header('Content-Length: 0');",
    "length_text": "header('Content-Length: abc'); echo 'abc';",
    "length_buffered": "ob_start(); echo 'abcdef'; header('Content-Length: ' . ob_get_length()); ob_end_flush();",
    "coding": "header('Content-Encoding: gzip'); echo gzencode('text');",
    "transfer": "header('Transfer-Encoding: identity'); echo 'x';",
    "upgrade": "header('Upgrade: h2c'); header('Connection: Upgrade'); header('Keep-Alive: 5'); echo 'x';",
    "date": "header('Last-Modified: Tue, 01 Jan 2030 00:00:00 GMT'); header('Expires: 0'); echo 'x';",
    "folded": "header(\"X-A: 1\\r\\n 2\"); header('X-B:    spaces   '); echo 'x';",
    "nul": "header(\"X-A: 1\\0 2\"); echo 'x';",
    "names": "header('X_Under: 1'); header('x-LOWER: 1'); header('X-Ü: ü'); echo 'x';",
    "exit_code": "register_shutdown_function(fn () => print('shut')); exit(255);",
    "exit_true": "exit(true);",
    "exit_float": "exit('1.5');",
    "exit_buffered": "ob_start(fn ($t) => \"<$t>\"); echo 'a'; exit('b');",
    "exit_shutdown": "register_shutdown_function(function () { echo 1; exit; }); register_shutdown_function(function () { echo 2; });",
    "order": """class D { function __destruct() { echo 'D', session_status(), ob_get_level(); } }
        class H implements SessionHandlerInterface {
            function open($p, $n): bool { return true; } function close(): bool { echo 'C'; return true; }
            function read($i): string { return ''; } function write($i, $d): bool { echo 'W', $d; return true; }
            function destroy($i): bool { return true; } function gc($m): int { return 0; }
        }
        session_set_save_handler(new H, true); session_start(); $_SESSION['a'] = new stdClass; $d = new D; $GLOBALS['kept'] = new D;
        register_shutdown_function(function () { echo 'S', session_status(); register_shutdown_function(function () { echo 'T'; }); });
        ob_start(function ($t) { return "[$t]"; }); echo 'x';""",
    "order_fatal": "class D { function __destruct() { echo 'destroyed'; } } $d = new D; register_shutdown_function(function () { echo 'shut'; }); ob_start(fn ($t) => strtoupper($t)); echo 'before '; nope();",
    "shutdown_throw": "register_shutdown_function(function () { throw new Exception('late'); }); echo 'x';",
    "destructor_throw": "class D { function __destruct() { throw new Exception('of a destructor'); } } $d = new D; echo 'x';",
    "buffer_phases": "ob_start(function ($t, $phase) { return \"($phase:$t)\"; }); echo 'a'; ob_flush(); echo 'b'; ob_clean(); echo 'c';",
    "buffer_fatal": "ob_start(function ($t) { ob_start(); return $t; }); echo 'x';",
    "buffer_false": "ob_start(fn () => false); echo 'kept'; ob_start(fn () => ''); echo 'lost';",
    "buffer_chunk": "ob_start(fn ($t) => '<' . strlen($t) . '>', 10); for ($n = 0; $n < 5; $n++) { echo str_repeat('x', 7); }",
    "buffer_status": "ob_start(); ob_start(fn ($t) => $t, 0, PHP_OUTPUT_HANDLER_CLEANABLE); echo json_encode([ob_list_handlers(), count(ob_get_status(true)), @ob_end_flush()]);",
    "abort_more": "var_dump(ignore_user_abort(true), ignore_user_abort(), connection_status()); echo 'x'; flush(); var_dump(connection_aborted());",
    "finish_twice": "echo 'a'; var_dump(fastcgi_finish_request()); echo 'never'; header('X-Never: 1');",
    "finish_session": "session_id('finishing'); session_start(); $_SESSION['a'] = 1; echo 'x'; fastcgi_finish_request(); session_write_close();",
    "header_order": "echo implode(',', array_diff(array_keys(getallheaders()), ['Connection', 'Content-Length', 'Content-Type', 'Accept-Encoding']));",
    "server_order": "echo implode(',', array_diff(array_keys($_SERVER), ['USER', 'HOME', 'REMOTE_PORT']));",
    "time_float": "var_dump($_SERVER['REQUEST_TIME_FLOAT'] <= microtime(true), microtime(true) - $_SERVER['REQUEST_TIME_FLOAT'] < 5, time() - $_SERVER['REQUEST_TIME'] < 5);",
    "count_vars": "var_dump(count($_GET), count($_POST), count($_COOKIE), error_get_last()['message'] ?? null);",
    "nested_vars": "var_dump(count($_GET, COUNT_RECURSIVE));",
    "post_state": "foreach ($_FILES as &$file) { unset($file['tmp_name']); } unset($file); var_dump($_POST, $_FILES, strlen(file_get_contents('php://input')), $_SERVER['CONTENT_LENGTH'] ?? null, $_SERVER['CONTENT_TYPE'] ?? null, error_get_last()['message'] ?? null);",
    "upload_errors": "foreach ($_FILES as $name => $file) { echo $name, json_encode($file['error']), json_encode($file['size']), json_encode(array_map(fn ($n) => $n === '' , (array) $file['tmp_name'])), PHP_EOL; }",
    "constants_more": "var_dump(PHP_OS_FAMILY, ini_get('html_errors'), get_include_path(), php_ini_loaded_file() === false, gettype(php_ini_scanned_files()), sys_get_temp_dir(), PHP_EXTRA_VERSION);",
    "functions": "var_dump(function_exists('apache_response_headers'), function_exists('apache_setenv'), function_exists('fastcgi_finish_request'));",
    "streams": "var_dump(@file_get_contents('php://stdin'), fopen('php://memory', 'r+') !== false, defined('STDERR'), stream_get_wrappers() === stream_get_wrappers());",
    "backtrace": "function f() { debug_print_backtrace(); } f(); var_dump(get_included_files() === [__FILE__], __DIR__ === $_SERVER['DOCUMENT_ROOT']);",
    "error_levels": "error_reporting(E_ALL); echo $a; $b = []; echo $b['c']; echo \"x\" + 0 ?? 1; trigger_error('d', E_USER_DEPRECATED);",
    "error_prepend": "ini_set('error_prepend_string', '<i>'); ini_set('error_append_string', '</i>'); ini_set('html_errors', '0'); echo $undefined;",
    "assert_fails": "ini_set('zend.assertions', '1'); assert(false, 'claimed');",
    "stack": "function deep($n) { return $n ? deep($n - 1) : throw new Error('deep'); } deep(20);",
    "time_limit": "set_time_limit(1); $end = microtime(true) + 10; while (microtime(true) < $end) { sqrt(2); }",
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
    ("auth", "GET", "/auth.php", None, {"Authorization": "Basic bm9jb2xvbg=="}),
    ("auth", "GET", "/auth.php", None, {"Authorization": "basic YW5uYTpzOmMlcmV0"}),
    ("auth", "GET", "/auth.php", None, {"Authorization": "Basic !!!"}),
    ("auth", "GET", "/auth.php", None, {"Authorization": ""}),
    ("header_order", "GET", "/header_order.php", None, {"X-Z": "1", "A-First": "2", "Cookie": "a=b", "X-Z2": "", "Authorization": "Basic YTpi", "x-lower-case": "1"}),
    ("server_order", "GET", "/server_order.php/info?q", None, {"X-Z": "1", "Authorization": "Basic YTpi"}),
    ("count_vars", "GET", "/count_vars.php?" + "&".join(f"a{n}=1" for n in range(1100)), None, {}),
    ("count_vars", "POST", "/count_vars.php", "&".join(f"a[]={n}" for n in range(1100)).encode(), {"Content-Type": FORM}),
    ("count_vars", "GET", "/count_vars.php", None, {"Cookie": "; ".join(f"c{n}=1" for n in range(300))}),
    ("nested_vars", "GET", "/nested_vars.php?a" + "[b]" * 70 + "=1&c[d][=2&e]=3", None, {}),
    ("post_state", "POST", "/post_state.php", b"a=" + b"x" * 9_000_000, {"Content-Type": FORM}),
    ("post_state", "POST", "/post_state.php", (part("f", "x" * 9_000_000, "a") + "--X--\r\n").encode(), {"Content-Type": PARTS}),
    ("post_state", "POST", "/post_state.php", b"no parts", {"Content-Type": "multipart/form-data"}),
    ("post_state", "POST", "/post_state.php", b"no parts", {"Content-Type": PARTS}),
    ("post_state", "POST", "/post_state.php", FILES, {"Content-Type": "multipart/form-data; boundary=\"X\""}),
    ("post_state", "POST", "/post_state.php", FILES, {"Content-Type": "Multipart/Form-Data; charset=utf-8; boundary=X"}),
    ("post_state", "POST", "/post_state.php", b"a=1", {"Content-Type": "APPLICATION/X-WWW-FORM-URLENCODED"}),
    ("post_state", "POST", "/post_state.php", b"a=1", {"Content-Type": ""}),
    ("post_state", "GET", "/post_state.php", b"a=1", {"Content-Type": FORM}),
    ("upload_errors", "POST", "/upload_errors.php", (
        part("MAX_FILE_SIZE", "10") + part("fine", "x", "a") + part("form_size", "x" * 11, "a") + part("ini_size", "x" * 2_100_000, "a")
        + part("no_file", "", "") + part("list[]", "x", "a") + part("list[]", "", "") + "--X--\r\n"
    ).encode(), {"Content-Type": PARTS}),
    ("upload_errors", "POST", "/upload_errors.php", part("partial", "off", "a").encode()[:-8], {"Content-Type": PARTS}),
    ("upload_errors", "POST", "/upload_errors.php", ("".join(part(f"f{n}", "x", "a") for n in range(25)) + "--X--\r\n").encode(), {"Content-Type": PARTS}),
    ("chunked", "POST", "/post_state.php", [b"a=1&", b"b=2"], {"Content-Type": FORM}),
    ("no_content_body", "HEAD", "/no_content_body.php", None, {}),
    ("streamed", "HEAD", "/streamed.php", None, {}),
    ("exception", "HEAD", "/exception.php", None, {}),
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
            with self.subTest(f"{method} {path[:100]} {fields}"):
                # What is given in pieces has no length.
                given = (lambda: iter(body)) if name == "chunked" else lambda: body
                ours, theirs = (self.shown(server, method, path, given(), fields) for server in (apus, nginx))
                self.assertEqual(ours, theirs)

    def shown(self, server, method, path, body, fields):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=support.PATIENCE)
        with contextlib.closing(connection):
            connection.request(method, path, body, {"Host": "test", "Connection": "close", **fields})
            answer = connection.getresponse()
            text = answer.read().decode("latin-1")
        head = [(name.lower(), value) for name, value in answer.getheaders() if name.lower() not in OWN]
        # How long a cookie is to live counts down.
        for pattern, by in (("PHPSESSID=[0-9a-z]+", "PHPSESSID=ID"), (r"Max-Age=\d{5,}", "Max-Age=N")):
            head = [(name, re.sub(pattern, by, value)) for name, value in head]
        head.sort()
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

    def test_answers_that_would_break_http_are_mended(self):
        """Where nginx sends them as they are, or gives up."""
        root = self.directory({
            "status.php": "<?php http_response_code(100); echo 'x';",
            "hint.php": "<?php header('HTTP/1.1 103 Early Hints'); echo 'x';",
            "short.php": "<?php header('Content-Length: 5'); echo 'abc';",
            "long.php": "<?php header('Content-Length: 2'); echo 'abc';",
            "text.php": "<?php header('Content-Length: abc'); header('X D'); header(' X-C: 1'); echo 'abc';",
        })
        server = self.served(root)
        for path, status, text in (
            ("status", 500, b"x"), ("hint", 500, b"x"), ("short", 200, b"abc"), ("long", 200, b"abc"), ("text", 200, b"abc"),
        ):
            with server.connect() as client:
                for _ in range(2):
                    answer = client.request(path=f"/{path}.php")
                    shown = (answer.status, answer.body, answer.headers["content-length"])
                    self.assertEqual(shown, (status, text, str(len(text))))

    def test_with_errors_hidden(self):
        self.same()

    def test_with_errors_shown(self):
        self.same("php_flag[display_errors] = on", "php_flag[html_errors] = on")
