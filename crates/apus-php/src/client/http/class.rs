//! The declaration of `Apus\Coroutine\Http\Client`.

use apus_zend::class::{Class, Method, Property};
use apus_zend::handler;

use super::{execute, plain, websocket};
use crate::exception::entry;

/// `Apus\Coroutine\Http\Client`.
pub(in crate::client) static CLIENT_CLASS: Class = Class {
    name: "Apus\\Coroutine\\Http\\Client",
    modifiers: "",
    extends: "",
    implements: &[],
    doc: "An HTTP/1.1 and WebSocket client of one server. A request whose answer does not come gives false, a negative\n\
          $statusCode (Apus\\HTTP_CLIENT_ESTATUS_*), $errCode (the kernel's error number; 711: the name cannot be resolved, 1014\n\
          and 1018: TLS, 7102: the answer is not HTTP, 7103: the proxy refused, 8503 and 8504: WebSocket) and $errMsg.\n\
          A kept connection that the server has closed is replaced, and the request sent again, when the server cannot have\n\
          acted on it. One coroutine at a time may use a client; as a WebSocket one may receive while another sends.\n@since 0.1.0",
    constants: &[],
    properties: PROPERTIES,
    methods: METHODS,
    native: true,
    lazy: None,
    entry: entry!(),
};

const PROPERTIES: &[Property] = &[
    Property {
        decl: "public $socket = null",
        doc: "null Kept for programs that name it; the connection is not given out.",
    },
    Property { decl: "public $errCode = 0", doc: "int Why the last call failed; 0 when it did not." },
    Property { decl: "public $errMsg = ''", doc: "string The same in words." },
    Property { decl: "public $connected = false", doc: "bool Whether a connection is kept, as of the last call." },
    Property { decl: "public $host = ''", doc: "string The host." },
    Property { decl: "public $port = 0", doc: "int The port." },
    Property { decl: "public $ssl = false", doc: "bool Whether TLS is spoken." },
    Property { decl: "public $setting = null", doc: "array|null What set() was given." },
    Property {
        decl: "public $requestMethod = null",
        doc: "string|null The method; null for POST with a body, GET without.",
    },
    Property {
        decl: "public $requestHeaders = null",
        doc: "array|null Header fields of requests: name => value, or a list of values.",
    },
    Property { decl: "public $requestBody = null", doc: "string|array|null The body; an array is a form." },
    Property {
        decl: "public $uploadFiles = null",
        doc: "array|null Files of the next request: see addFile() and addData().",
    },
    Property {
        decl: "public $downloadFile = null",
        doc: "string|null The file that the next answer's body goes into.",
    },
    Property { decl: "public $downloadOffset = 0", doc: "int Where in that file it begins, in bytes." },
    Property {
        decl: "public $statusCode = 0",
        doc: "int The answer's status, or Apus\\HTTP_CLIENT_ESTATUS_* without an answer.",
    },
    Property {
        decl: "public $headers = null",
        doc: "array|null The answer's header fields, names lower-case; several of one name are an array.",
    },
    Property {
        decl: "public $set_cookie_headers = null",
        doc: "array|null The answer's Set-Cookie fields as they came.",
    },
    Property {
        decl: "public $cookies = null",
        doc: "array|null Cookies that requests carry: those of setCookies() and those that answers set.",
    },
    Property { decl: "public $body = ''", doc: "string The answer's body." },
];

/// What every request may throw.
const THROWS: &str = "@throws \\Apus\\Client\\Exception ARGUMENT for a path, method, header or cookie that HTTP cannot carry; STATE on a\n\
     WebSocket, or while a deferred answer was not fetched\n\
     @throws \\Apus\\Coroutine\\ConflictException when another coroutine uses the client\n\
     @throws \\Apus\\Coroutine\\Exception NOT_IN_COROUTINE, CANNOT_SWITCH\n\
     @throws \\Apus\\Coroutine\\CanceledException when cancelled with an exception\nWaits.\n@since 0.1.0";

/// What sending to a WebSocket may throw.
const WS_THROWS: &str = "@return bool false when the WebSocket is closed, or the time `write_timeout` is over (the rest then leaves with the next frame)\n\
     @throws \\Apus\\Client\\Exception STATE when upgrade() did not succeed before; ARGUMENT for what no frame can carry\n\
     @throws \\Apus\\Coroutine\\ConflictException when another coroutine sends\n\
     @throws \\Apus\\Coroutine\\Exception NOT_IN_COROUTINE, CANNOT_SWITCH\n\
     @throws \\Apus\\Coroutine\\CanceledException when cancelled with an exception\nWaits.\n@since 0.1.0";

const METHODS: &[Method] = &[
    Method {
        decl: "public function __construct(string $host, int $port = 0, bool $ssl = false)",
        doc: "A client of one server; it connects when it is first used.\n\
              @param string $host name, IP address, or unix:/path\n\
              @param int $port 0 for 80, or 443 with TLS\n\
              @throws \\Apus\\Client\\Exception ARGUMENT\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(plain::construct)),
    },
    Method {
        decl: "public function __destruct()",
        doc: "Closes the connection.\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(plain::destruct)),
    },
    Method {
        decl: "public function set(array $settings): bool",
        doc: "Changes settings of this client: see docs/options.md, scope \"client\". All are applied, or none; they rule from the\n\
              next request, those of the connection from the next one made. Besides, write_func is a callable(Client $client,\n\
              string $data) that gets the bodies of answers piece by piece, decompressed, as they come; $body then stays empty, and\n\
              no more is read than it has taken. Deferred requests do not use it.\n\
              @return bool true\n@throws \\Apus\\Client\\Exception OPTION for an unknown setting or a value out of its limits\n\
              Does not wait.\n@since 0.1.0",
        handler: Some(handler!(plain::set)),
    },
    Method {
        decl: "public function getDefer(): bool",
        doc: "Whether requests are deferred.\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(plain::get_defer)),
    },
    Method {
        decl: "public function setDefer(bool $defer = true): bool",
        doc: "Has execute() & co. return at once, the request under way; recv() then waits for its answer.\n\
              @return bool true\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(plain::set_defer)),
    },
    Method {
        decl: "public function setMethod(string $method): bool",
        doc: "Sets the method of the requests that execute() makes.\n@return bool true\n\
              @throws \\Apus\\Client\\Exception ARGUMENT when it is no token\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(plain::set_method)),
    },
    Method {
        decl: "public function setHeaders(array $headers): bool",
        doc: "Sets the header fields of all requests, in place of earlier ones: name => value, or a list of values; null leaves one\n\
              out. Host, Connection and Accept-Encoding rule over the client's own; Content-Length is always the client's.\n\
              @return bool true\n@throws \\Apus\\Client\\Exception ARGUMENT for what RFC 9110 section 5 forbids\n\
              Does not wait.\n@since 0.1.0",
        handler: Some(handler!(plain::set_headers)),
    },
    Method {
        decl: "public function setBasicAuth(string $username, string $password): void",
        doc: "Has requests carry Basic credentials (RFC 7617).\n\
              @throws \\Apus\\Client\\Exception ARGUMENT for a user name with a colon\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(plain::set_basic_auth)),
    },
    Method {
        decl: "public function setCookies(array $cookies): bool",
        doc: "Sets the cookies that requests carry, name => value, in place of earlier ones; values are percent-encoded.\n\
              @return bool true\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(plain::set_cookies)),
    },
    Method {
        decl: "public function setData(array|string $data): bool",
        doc: "Sets the body of the requests that execute() makes: bytes, or the fields of a form.\n\
              @return bool true\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(plain::set_data)),
    },
    Method {
        decl: "public function addFile(string $path, string $name, ?string $type = null, ?string $filename = null, int $offset = 0, int $length = 0): bool",
        doc: "Adds (a part of) a file to the next request, which becomes a multipart form. It is read while it is sent.\n\
              @param string $name the form field's name\n@param string|null $type media type; null for the one of its extension\n\
              @param string|null $filename what the server is told; null for its own\n\
              @param int $offset bytes from its start\n@param int $length bytes; 0 for the rest of it\n\
              @return bool true\n@throws \\Apus\\Client\\Exception ARGUMENT when it cannot be read or is shorter\n\
              Does not wait.\n@since 0.1.0",
        handler: Some(handler!(plain::add_file)),
    },
    Method {
        decl: "public function addData(string $path, string $name, ?string $type = null, ?string $filename = null): bool",
        doc: "Adds a string to the next request as if it were a file.\n\
              @param string $path what the file holds\n@param string $name the form field's name\n\
              @param string|null $type media type; null for application/octet-stream\n\
              @param string|null $filename null for $name\n@return bool true\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(plain::add_data)),
    },
    Method {
        decl: "public function execute(string $path): bool",
        doc: const_format::concatcp!(
            "Makes the request that was set up, and waits for its answer.\n\
             @param string $path path and query; what a URL cannot hold is percent-encoded\n\
             @return bool false without an answer: see the class\n",
            THROWS
        ),
        handler: Some(handler!(execute::execute)),
    },
    Method {
        decl: "public function get(string $path): bool",
        doc: const_format::concatcp!("The same as execute() with GET.\n", THROWS),
        handler: Some(handler!(execute::get)),
    },
    Method {
        decl: "public function post(string $path, mixed $data): bool",
        doc: const_format::concatcp!(
            "The same as execute() with POST and this body, which later requests do not have.\n\
             @param string|array $data bytes, or the fields of a form\n",
            THROWS
        ),
        handler: Some(handler!(execute::post)),
    },
    Method {
        decl: "public function download(string $path, string $file, int $offset = 0): bool",
        doc: const_format::concatcp!(
            "Makes the request that was set up, and stores the body of a successful answer (2xx) in a file; $body stays empty.\n\
             At offset 0 what the file held is cut off; to go on with a file, give its size here and a Range header.\n\
             @param int $offset bytes from the file's start\n@throws \\ValueError for a negative offset\n",
            THROWS
        ),
        handler: Some(handler!(execute::download)),
    },
    Method {
        decl: "public function getBody(): string|false",
        doc: "$body.\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(plain::get_body)),
    },
    Method {
        decl: "public function getHeaders(): array|false|null",
        doc: "$headers.\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(plain::get_headers)),
    },
    Method {
        decl: "public function getCookies(): array|false|null",
        doc: "$cookies.\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(plain::get_cookies)),
    },
    Method {
        decl: "public function getStatusCode(): int|false",
        doc: "$statusCode.\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(plain::get_status_code)),
    },
    Method {
        decl: "public function getHeaderOut(): string|false",
        doc: "The head of the request that was sent last.\n@return string|false false before the first\n\
              Does not wait.\n@since 0.1.0",
        handler: Some(handler!(plain::get_header_out)),
    },
    Method {
        decl: "public function getpeername(): array|false",
        doc: "address and port of the server (or proxy) that the kept connection leads to.\n@return array|false false without one\n\
              Does not wait.\n@since 0.1.0",
        handler: Some(handler!(plain::get_peer_name)),
    },
    Method {
        decl: "public function getsockname(): array|false",
        doc: "address and port of our end of the kept connection.\n@return array|false false without one\n\
              Does not wait.\n@since 0.1.0",
        handler: Some(handler!(plain::get_sock_name)),
    },
    Method {
        decl: "public function getPeerCert(): string|false",
        doc: "The server's certificate, as PEM.\n@return string|false false without TLS or a kept connection\n\
              Does not wait.\n@since 0.1.0",
        handler: Some(handler!(plain::get_peer_cert)),
    },
    Method {
        decl: "public function upgrade(string $path): bool",
        doc: const_format::concatcp!(
            "Asks the server to go on with WebSocket (RFC 6455), with GET and the headers that were set. A request that is\n\
             answered otherwise gives false, too: $statusCode tells.\n",
            THROWS
        ),
        handler: Some(handler!(execute::upgrade)),
    },
    Method {
        decl: "public function push(mixed $data, int $opcode = 1, int $flags = 1): bool",
        doc: const_format::concatcp!(
            "Sends a WebSocket message, and waits until it has left. It is compressed where the server agreed to that.\n\
             @param string|\\Apus\\WebSocket\\Frame $data a frame's own opcode and flags rule\n\
             @param int $opcode Apus\\WEBSOCKET_OPCODE_*\n\
             @param int $flags Apus\\WEBSOCKET_FLAG_*; 0 when fragments with opcode CONTINUATION follow, in their order\n",
            WS_THROWS
        ),
        handler: Some(handler!(websocket::push)),
    },
    Method {
        decl: "public function recv(float $timeout = 0): Apus\\WebSocket\\Frame|string|bool",
        doc: "Waits for the next WebSocket message, put together from its fragments; pings are answered meanwhile. After a deferred\n\
              request: waits for its answer.\n\
              @param float $timeout seconds; negative for no limit, 0 for `read_timeout` or else `timeout`\n\
              @return Frame|string|bool the message; '' when the server has closed; false when the time is over ($errCode 110, the\n\
              WebSocket goes on), or it broke; for a deferred request what execute() would have returned\n\
              @throws \\Apus\\Client\\Exception STATE when there is neither\n\
              @throws \\Apus\\Coroutine\\ConflictException when another coroutine receives\n\
              @throws \\Apus\\Coroutine\\Exception NOT_IN_COROUTINE, CANNOT_SWITCH\n\
              @throws \\Apus\\Coroutine\\CanceledException when cancelled with an exception\nWaits.\n@since 0.1.0",
        handler: Some(handler!(websocket::recv)),
    },
    Method {
        decl: "public function close(): bool",
        doc: "Closes the connection; a coroutine that waits for it gets false and $errCode 104.\n\
              @return bool false when there was none\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(plain::close)),
    },
    Method {
        decl: "public function ping(string $data = ''): bool",
        doc: const_format::concatcp!(
            "Sends a WebSocket ping.\n@param string $data up to 125 bytes, which the server sends back\n@throws \\ValueError when it is longer\n",
            WS_THROWS
        ),
        handler: Some(handler!(websocket::ping)),
    },
    Method {
        decl: "public function disconnect(int $code = 1000, string $reason = ''): bool",
        doc: const_format::concatcp!(
            "Sends a WebSocket close frame, waits for the server's for up to a second (where no other coroutine receives), and\n\
             closes the connection.\n\
             @param int $code Apus\\WEBSOCKET_CLOSE_*, or 3000 to 4999\n@param string $reason up to 123 bytes of UTF-8\n",
            WS_THROWS
        ),
        handler: Some(handler!(websocket::disconnect)),
    },
];
