//! `Apus\Coroutine\Socket`, as PHP sees it.

use apus_zend::class::{Class, Method, Property};
use apus_zend::handler;

use super::methods;
use crate::exception::entry;

macro_rules! method {
    ($body:path, $decl:literal, $doc:expr) => {
        Method { decl: $decl, doc: $doc, handler: Some(handler!($body)) }
    };
}
pub(super) use method;

/// `Apus\Coroutine\Socket`.
pub(crate) static SOCKET: Class = Class {
    name: "Apus\\Coroutine\\Socket",
    modifiers: "",
    extends: "",
    implements: &[],
    doc: "A socket whose methods let other coroutines run while they wait. One coroutine may read while another one writes;\n\
          a second reader or writer gets an Apus\\Coroutine\\ConflictException that names both.\n\
          Time-outs are seconds: 0 takes the socket's own limit (setOption() with SO_RCVTIMEO, setProtocol()), else the settings\n\
          socket_connect_timeout (2 s) and socket_timeout (none); a negative one is no limit.\n\
          Failures of the network are return values with errCode (an errno) and errMsg; both are 0 and '' after a success.\n@since 0.1.0",
    constants: &[],
    properties: PROPERTIES,
    methods: METHODS,
    native: true,
    lazy: None,
    entry: entry!(),
};

static PROPERTIES: &[Property] = &[
    Property { decl: "public readonly int $fd", doc: "The descriptor; -1 when closed." },
    Property { decl: "public readonly int $domain", doc: "The address family: AF_INET, AF_INET6 or AF_UNIX." },
    Property { decl: "public readonly int $type", doc: "SOCK_STREAM, SOCK_DGRAM or another of socket(2)." },
    Property { decl: "public readonly int $protocol", doc: "The protocol; 0 for the usual one." },
    Property { decl: "public int $errCode = 0", doc: "Why the last method failed: an errno; 0 after a success." },
    Property { decl: "public string $errMsg = ''", doc: "The same in words." },
];

static METHODS: &[Method] = &[
    method!(
        methods::construct,
        "public function __construct(int $domain, int $type, int $protocol = 0)",
        "@param int $domain AF_INET, AF_INET6 or AF_UNIX (also Apus\\AF_INET …)\n\
         @param int $type SOCK_STREAM or SOCK_DGRAM (also Apus\\SOCK_STREAM …)\n\
         @throws \\Apus\\Client\\Exception ARGUMENT when the system makes no such socket\nDoes not wait.\n@since 0.1.0"
    ),
    method!(
        methods::bind,
        "public function bind(string $address, int $port = 0): bool",
        "Binds to an IP address and port (0: the system chooses one, see getsockname()), or to a path. Takes no names.\n\
         @return bool false on failure, with errCode\nDoes not wait.\n@since 0.1.0"
    ),
    method!(
        methods::listen,
        "public function listen(int $backlog = 512): bool",
        "Begins to take connections, of which $backlog may be queued.\nDoes not wait.\n@since 0.1.0"
    ),
    method!(
        methods::accept,
        "public function accept(float $timeout = 0): Apus\\Coroutine\\Socket|false",
        "The next connection. It has the settings that setProtocol() gave this socket: framing, times, TLS; but the handshake is the caller's:\n\
         sslHandshake().\n\
         @param float $timeout seconds; 0 for the default, negative for no limit\n\
         @return Apus\\Coroutine\\Socket|false false on failure: ETIMEDOUT, ECANCELED when closed or cancelled meanwhile\n\
         Waits.\n@since 0.1.0"
    ),
    method!(
        methods::connect,
        "public function connect(string $host, int $port = 0, float $timeout = 0): bool",
        "Connects to a name, an IP address or a path. A name is resolved without blocking; its addresses of this socket's family\n\
         (8 at most) are tried in turn. With open_ssl it shakes hands, too.\n\
         @param float $timeout seconds for all of it; 0 for the default (2), negative for no limit\n\
         @return bool false on failure: an errno, ERROR_DNSLOOKUP_RESOLVE_FAILED or one of ERROR_SSL_*\nWaits.\n@since 0.1.0"
    ),
    method!(
        methods::check_liveness,
        "public function checkLiveness(): bool",
        "Whether the peer has not closed the connection, as far as is known here; nothing is sent.\nDoes not wait.\n@since 0.1.0"
    ),
    method!(
        methods::get_bound_cid,
        "public function getBoundCid(int $event): int",
        "The coroutine that reads now (Apus\\EVENT_READ) or writes (Apus\\EVENT_WRITE); 0 for none.\nDoes not wait.\n@since 0.1.0"
    ),
    method!(
        methods::peek,
        "public function peek(int $length = 65536): string|false",
        "What is there to be read, which stays there.\n\
         @return string|false '' when the peer has ended its side; false with EAGAIN when nothing is there\nDoes not wait.\n@since 0.1.0"
    ),
    method!(
        methods::recv,
        "public function recv(int $length = 65536, float $timeout = 0): string|false",
        "Some bytes, as soon as there are any: at most $length.\n\
         @return string|false '' when the peer has ended its side; false on failure\n\
         @throws Apus\\Coroutine\\ConflictException when another coroutine reads\nWaits.\n@since 0.1.0"
    ),
    method!(
        methods::recv_all,
        "public function recvAll(int $length = 65536, float $timeout = 0): string|false",
        "$length bytes. Fewer when the peer ends its side, and when a time-out or a cancellation cuts it off: then errCode is set, and\n\
         what came is returned.\n\
         @return string|false false when nothing came before a failure\nWaits.\n@since 0.1.0"
    ),
    method!(
        methods::recv_line,
        "public function recvLine(int $length = 65536, float $timeout = 0): string|false",
        "One line with its end, a \\n or a \\r; $length bytes of a longer one; what is left at the end of the stream.\n\
         @return string|false '' at the end; false on failure, what came stays for the next read\nWaits.\n@since 0.1.0"
    ),
    method!(
        methods::recv_with_buffer,
        "public function recvWithBuffer(int $length = 65536, float $timeout = 0): string|false",
        "As recv(), but reads as much as there is (64 KiB) from the kernel and keeps the rest for later reads: for many small ones.\n\
         Waits.\n@since 0.1.0"
    ),
    method!(
        methods::recv_packet,
        "public function recvPacket(float $timeout = 0): string|false",
        "One whole message, by the rule that setProtocol() settled; without one, what recv() gives. What a time-out or a cancellation\n\
         left of a message stays for the next call. A message that is longer than package_max_length, or whose length makes no sense,\n\
         closes the connection: ERROR_PACKAGE_LENGTH_TOO_LARGE, ERROR_PACKAGE_LENGTH_NOT_FOUND, ERROR_PACKAGE_MALFORMED_DATA.\n\
         @return string|false '' when the peer has ended its side; false on failure, ECONNRESET when that was inside a message\n\
         Waits.\n@since 0.1.0"
    ),
    method!(
        methods::send,
        "public function send(string $data, float $timeout = 0): int|false",
        "Sends as much as the kernel takes at once, after waiting until it takes something.\n\
         @return int|false how many bytes; false on failure, EPIPE when the peer is gone\n\
         @throws Apus\\Coroutine\\ConflictException when another coroutine writes\nWaits.\n@since 0.1.0"
    ),
    method!(
        methods::read_vector,
        "public function readVector(array $io_vector, float $timeout = 0): array|false",
        "As recv() for the sum of the given lengths, cut into pieces of these lengths.\n\
         @param array $io_vector lengths, 1 or more bytes each\nWaits.\n@since 0.1.0"
    ),
    method!(
        methods::read_vector_all,
        "public function readVectorAll(array $io_vector, float $timeout = 0): array|false",
        "As recvAll() for the sum of the given lengths, cut into pieces of these lengths.\n\
         @param array $io_vector lengths, 1 or more bytes each\nWaits.\n@since 0.1.0"
    ),
    method!(
        methods::write_vector,
        "public function writeVector(array $io_vector, float $timeout = 0): int|false",
        "As send() for several strings in one go.\nWaits.\n@since 0.1.0"
    ),
    method!(
        methods::write_vector_all,
        "public function writeVectorAll(array $io_vector, float $timeout = 0): int|false",
        "As sendAll() for several strings in one go.\nWaits.\n@since 0.1.0"
    ),
    method!(
        methods::send_file,
        "public function sendFile(string $file, int $offset = 0, int $length = 0): bool",
        "Sends a regular file, or $length bytes of it from $offset on; 0 for all that follow. It is read beside the loop.\n\
         Waits.\n@since 0.1.0"
    ),
    method!(
        methods::send_all,
        "public function sendAll(string $data, float $timeout = 0): int|false",
        "Sends all of it.\n\
         @return int|false how many bytes were sent: fewer when a failure cut it off (errCode is set then); false when none were\n\
         Waits.\n@since 0.1.0"
    ),
    method!(
        methods::recvfrom,
        "public function recvfrom(mixed &$peername, float $timeout = 0): string|false",
        "One datagram, 64 KiB at most; $peername becomes ['address' => string, 'port' => int].\nWaits.\n@since 0.1.0"
    ),
    method!(
        methods::sendto,
        "public function sendto(string $addr, int $port, string $data): int|false",
        "Sends one datagram to a name, an IP address or a path.\nWaits.\n@since 0.1.0"
    ),
    method!(
        methods::get_option,
        "public function getOption(int $level, int $opt_name): mixed",
        "The value of an option of socket(7), tcp(7) …: an int; arrays for SO_LINGER (l_onoff, l_linger), SO_RCVTIMEO and SO_SNDTIMEO\n\
         (sec, usec); a string for SO_BINDTODEVICE and TCP_CONGESTION.\n@return mixed false on failure\nDoes not wait.\n@since 0.1.0"
    ),
    method!(
        methods::set_protocol,
        "public function setProtocol(array $settings): bool",
        "Settles how messages are framed and how TLS is spoken: the settings under \"Clients\" in docs/options.md, and\n\
         package_length_func, a callable (string $bytes): int that gives the length of the whole message at the front of $bytes, 0 to be\n\
         asked again when there are more, -1 when they are wrong. Later calls change what they name.\n\
         @throws \\Apus\\Client\\Exception OPTION for what is unknown or out of its limits; nothing is changed then\n\
         Does not wait.\n@since 0.1.0"
    ),
    method!(
        methods::set_option,
        "public function setOption(int $level, int $opt_name, mixed $opt_value): bool",
        "Sets what getOption() gives. SO_RCVTIMEO and SO_SNDTIMEO limit the waits of this socket's methods.\nDoes not wait.\n@since 0.1.0"
    ),
    method!(
        methods::ssl_handshake,
        "public function sslHandshake(): bool",
        "Begins TLS: as the server on an accepted connection (ssl_cert_file and ssl_key_file are needed), else as the client.\n\
         The server is verified unless ssl_verify_peer is off.\n\
         @return bool false on failure: ERROR_SSL_HANDSHAKE_FAILED, ERROR_SSL_VERIFY_FAILED, ERROR_SSL_CREATE_CONTEXT_FAILED, an errno\n\
         Waits.\n@since 0.1.0"
    ),
    method!(
        methods::shutdown,
        "public function shutdown(int $how = 2): bool",
        "Ends reading (0), writing (1) or both (2); TLS says goodbye before writing ends.\nDoes not wait.\n@since 0.1.0"
    ),
    method!(
        methods::cancel,
        "public function cancel(int $event = 512): bool",
        "Has the coroutine that waits for reading (Apus\\EVENT_READ) or writing (Apus\\EVENT_WRITE) go on: its method fails with\n\
         ECANCELED.\n@return bool false when none waits\nDoes not wait.\n@since 0.1.0"
    ),
    method!(
        methods::close,
        "public function close(): bool",
        "Closes it; once more does nothing. Coroutines that wait go on: their methods fail with ECANCELED.\n\
         @return bool true\nDoes not wait.\n@since 0.1.0"
    ),
    method!(
        methods::getpeername,
        "public function getpeername(): array|false",
        "The peer's ['address' => string, 'port' => int]; a path and 0 for Unix sockets.\nDoes not wait.\n@since 0.1.0"
    ),
    method!(
        methods::getsockname,
        "public function getsockname(): array|false",
        "The own ['address' => string, 'port' => int].\nDoes not wait.\n@since 0.1.0"
    ),
    method!(
        methods::is_closed,
        "public function isClosed(): bool",
        "Whether it was closed, here.\nDoes not wait.\n@since 0.1.0"
    ),
    method!(
        methods::import,
        "public static function import(mixed $stream): Apus\\Coroutine\\Socket|false",
        "A socket over that of a stream or of ext/sockets, with a descriptor of its own. Use only one of the two for reading: what the\n\
         stream has read ahead stays with it.\n@return Apus\\Coroutine\\Socket|false false when it is no socket\nDoes not wait.\n@since 0.1.0"
    ),
];
