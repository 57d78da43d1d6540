//! The declaration of `Apus\Coroutine\Http2\Client`.

use apus_zend::class::{Class, Method, Property};
use apus_zend::handler;

use crate::exception::entry;

/// `Apus\Coroutine\Http2\Client`.
pub(in crate::client) static CLIENT_CLASS: Class = Class {
    name: "Apus\\Coroutine\\Http2\\Client",
    modifiers: "",
    extends: "",
    implements: &[],
    doc: "An HTTP/2 client (RFC 9113) of one server: many requests at once over one connection, by ALPN with TLS, with prior\n\
          knowledge without. What fails gives false, $errCode (see Apus\\Coroutine\\Http\\Client) and $errMsg. Any number of\n\
          coroutines may send at once; one receives.\n@since 0.1.0",
    constants: &[],
    properties: &[
        Property { decl: "public $errCode = 0", doc: "int Why the last call failed; 0 when it did not." },
        Property { decl: "public $errMsg = ''", doc: "string The same in words." },
        Property { decl: "public $sock = -1", doc: "int Kept for programs that name it." },
        Property { decl: "public $type = 0", doc: "int Kept for programs that name it." },
        Property { decl: "public $setting = null", doc: "array|null What set() was given." },
        Property {
            decl: "public $socket = null",
            doc: "null Kept for programs that name it; the connection is not given out.",
        },
        Property { decl: "public $connected = false", doc: "bool Whether there is a connection, as of the last call." },
        Property { decl: "public $host = null", doc: "string The host." },
        Property { decl: "public $port = 0", doc: "int The port." },
        Property { decl: "public $ssl = false", doc: "bool Whether TLS is spoken." },
        Property {
            decl: "public $serverLastStreamId = 0",
            doc: "int The highest stream that the server has answered.",
        },
    ],
    methods: METHODS,
    native: true,
    lazy: None,
    entry: entry!(),
};

/// What every waiting method may throw.
const THROWS: &str = "@throws \\Apus\\Coroutine\\Exception NOT_IN_COROUTINE, CANNOT_SWITCH\n\
     @throws \\Apus\\Coroutine\\CanceledException when cancelled with an exception\nWaits.\n@since 0.1.0";

const METHODS: &[Method] = &[
    Method {
        decl: "public function __construct(string $host, int $port = 80, bool $open_ssl = false)",
        doc: "A client of one server.\n@param string $host name, IP address, or unix:/path\n\
              @param int $port 0 for 80, or 443 with TLS\n\
              @throws \\Apus\\Client\\Exception ARGUMENT\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(super::construct)),
    },
    Method {
        decl: "public function __destruct()",
        doc: "Closes the connection.\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(super::destruct)),
    },
    Method {
        decl: "public function set(array $settings): bool",
        doc: "Changes settings of this client: see docs/options.md, scope \"client\". All are applied, or none.\n\
              @return bool true\n@throws \\Apus\\Client\\Exception OPTION for an unknown setting or a value out of its limits\n\
              Does not wait.\n@since 0.1.0",
        handler: Some(handler!(super::set)),
    },
    Method {
        decl: "public function connect(): bool",
        doc: const_format::concatcp!(
            "Connects.\n@return bool false when that fails, or there is a connection already ($errCode 106)\n\
             @throws \\Apus\\Coroutine\\ConflictException when another coroutine connects\n",
            THROWS
        ),
        handler: Some(handler!(super::connect)),
    },
    Method {
        decl: "public function stats(string $key = ''): array|int",
        doc: "current_stream_id (begun last), last_stream_id (the highest that was answered), active_stream_num, max_stream_num\n\
              (streams that the server allows at once); one of them with $key.\n\
              @throws \\ValueError for another key\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(super::stats)),
    },
    Method {
        decl: "public function isStreamExist(int $stream_id): bool",
        doc: "Whether the answer of a stream is not complete; for 0 whether there is a connection.\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(super::is_stream_exist)),
    },
    Method {
        decl: "public function send(Apus\\Http2\\Request $request): int|false",
        doc: const_format::concatcp!(
            "Begins a request; recv() gives its answer. Waits only while the server allows no further stream, for up to\n\
             `timeout`; the body leaves as its window allows.\n\
             @return int|false the stream's id, which the answer carries\n\
             @throws \\Apus\\Client\\Exception ARGUMENT for what HTTP cannot carry\n",
            THROWS
        ),
        handler: Some(handler!(super::send)),
    },
    Method {
        decl: "public function write(int $stream_id, mixed $data, bool $end_stream = false): bool",
        doc: const_format::concatcp!(
            "Sends a further piece of the body of a request with $pipeline, and waits until the server's window takes it.\n\
             @param string|array $data bytes, or the fields of a form\n@param bool $end_stream whether the body ends with it\n\
             @return bool false when the stream takes no data, or the time `timeout` is over\n",
            THROWS
        ),
        handler: Some(handler!(super::write)),
    },
    Method {
        decl: "public function recv(float $timeout = 0): Apus\\Http2\\Response|false",
        doc: const_format::concatcp!(
            "Waits for the next answer of any stream, or piece of one where the request says $usePipelineRead. A stream that\n\
             the server breaks off gives an answer with statusCode -3 and its errCode.\n\
             @param float $timeout seconds; negative for no limit, 0 for `read_timeout` or else `timeout`\n\
             @return Response|false false when the connection is lost, or the time is over ($errCode 110; all goes on)\n\
             @throws \\Apus\\Coroutine\\ConflictException when another coroutine receives\n",
            THROWS
        ),
        handler: Some(handler!(super::recv)),
    },
    Method {
        decl: "public function read(float $timeout = 0): Apus\\Http2\\Response|false",
        doc: const_format::concatcp!("The same as recv().\n", THROWS),
        handler: Some(handler!(super::recv)),
    },
    Method {
        decl: "public function goaway(int $error_code = 0, string $debug_data = ''): bool",
        doc: "Begins no further request: the connection ends with GOAWAY when the streams that are open have ended.\n\
              @param int $error_code 0 only\n@param string $debug_data not sent by this version\n\
              @return bool false when there is no connection\n@throws \\ValueError for another code\n\
              Does not wait.\n@since 0.1.0",
        handler: Some(handler!(super::go_away)),
    },
    Method {
        decl: "public function ping(): bool",
        doc: const_format::concatcp!(
            "Asks whether the server is there, and waits for its answer, for up to `timeout`.\n",
            THROWS
        ),
        handler: Some(handler!(super::ping)),
    },
    Method {
        decl: "public function close(): bool",
        doc: "Ends every stream and the connection; a coroutine that waits for it gets false and $errCode 104.\n\
              @return bool false when there was none\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(super::close)),
    },
];
