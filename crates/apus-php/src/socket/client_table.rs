//! `Apus\Coroutine\Client` and `Apus\Client`, as PHP sees them.

use apus_zend::class::{Class, Const, Constant, Method, Property};
use apus_zend::handler;

use super::table::method;
use super::{blocking, client};
use crate::exception::entry;

/// `Apus\Coroutine\Client`.
pub(crate) static CLIENT: Class = Class {
    name: "Apus\\Coroutine\\Client",
    modifiers: "",
    extends: "",
    implements: &[],
    doc: "A client of TCP, UDP, Unix sockets and TLS, whose methods let other coroutines run while they wait. One coroutine may read\n\
          while another one writes; a second one gets an Apus\\Coroutine\\ConflictException that names both.\n\
          Time-outs are seconds: 0 takes the settings timeout, connect_timeout, read_timeout and write_timeout of set(), else\n\
          socket_connect_timeout (2 s) and socket_timeout (none); a negative one is no limit.\n\
          Failures of the network are return values with errCode and errMsg; both are 0 and '' after a success.\n@since 0.1.0",
    constants: MESSAGE_FLAGS,
    properties: &[
        Property {
            decl: "public int $errCode = 0",
            doc: "Why the last method failed: an errno or an Apus\\ERROR_*; 0 after a success.",
        },
        Property { decl: "public string $errMsg = ''", doc: "The same in words." },
        Property { decl: "public int $fd = -1", doc: "The descriptor; -1 for none." },
        Property { decl: "public ?Apus\\Coroutine\\Socket $socket = null", doc: "What exportSocket() gave." },
        Property { decl: "public int $type = 0", doc: "The type that the constructor was given." },
        Property { decl: "public ?array $setting = null", doc: "What set() was given, all calls together." },
        Property {
            decl: "public bool $connected = false",
            doc: "Whether connect() succeeded and close() was not called.",
        },
    ],
    methods: METHODS,
    native: true,
    lazy: None,
    entry: entry!(),
};

/// The flags of recv(2) and send(2).
static MESSAGE_FLAGS: &[Constant] = &[
    Constant { name: "MSG_OOB", value: Const::Int(1), doc: "Out-of-band data." },
    Constant { name: "MSG_PEEK", value: Const::Int(2), doc: "Leave the bytes where they are." },
    Constant { name: "MSG_DONTWAIT", value: Const::Int(64), doc: "Fail with EAGAIN instead of waiting." },
    Constant { name: "MSG_WAITALL", value: Const::Int(256), doc: "Wait until all bytes have come." },
];

static METHODS: &[Method] = &[
    method!(
        client::construct,
        "public function __construct(int $type)",
        "@param int $type Apus\\SOCK_TCP, SOCK_TCP6, SOCK_UDP, SOCK_UDP6, UNIX_STREAM or UNIX_DGRAM; streams with | Apus\\SSL speak TLS\n\
         @throws \\ValueError for another type\nDoes not wait.\n@since 0.1.0"
    ),
    method!(
        client::set,
        "public function set(array $settings): bool",
        "Settles time-outs, framing, TLS …: the settings under \"Clients\" in docs/options.md, and package_length_func, a callable\n\
         (string $bytes): int. Later calls change what they name; a connection that is there follows at once.\n\
         @throws \\Apus\\Client\\Exception OPTION for what is unknown or out of its limits; nothing is changed then\n\
         Does not wait.\n@since 0.1.0"
    ),
    method!(
        client::connect,
        "public function connect(string $host, int $port = 0, float $timeout = 0, int $sock_flag = 0): bool",
        "Connects to a name, an IP address or a path, and shakes hands for TLS.\n\
         @param float $timeout seconds for all of it; 0 for the default (2), negative for no limit\n\
         @param int $sock_flag without effect\n\
         @return bool false on failure: an errno, ERROR_DNSLOOKUP_RESOLVE_FAILED or one of ERROR_SSL_*; EISCONN when connected already\n\
         Waits.\n@since 0.1.0"
    ),
    method!(
        client::recv,
        "public function recv(float $timeout = 0): string|false",
        "Some bytes, 64 KiB at most; with open_length_check or open_eof_check one whole message. A message that breaks its rule closes the\n\
         connection.\n\
         @return string|false '' when the peer has ended its side; false on failure\nWaits.\n@since 0.1.0"
    ),
    method!(
        client::peek,
        "public function peek(int $length = 65535): string|false",
        "What is there to be read, which stays there; false with EAGAIN when nothing is.\nDoes not wait.\n@since 0.1.0"
    ),
    method!(
        client::send,
        "public function send(string $data, float $timeout = 0): int|false",
        "Sends all of it.\n\
         @return int|false how many bytes were sent: fewer when a failure cut it off (errCode is set then); false when none were\n\
         Waits.\n@since 0.1.0"
    ),
    method!(
        client::sendfile,
        "public function sendfile(string $filename, int $offset = 0, int $length = 0): bool",
        "Sends a regular file, or $length bytes of it from $offset on; 0 for all that follow.\nWaits.\n@since 0.1.0"
    ),
    method!(
        client::sendto,
        "public function sendto(string $address, int $port, string $data): bool",
        "Sends one datagram; needs no connect().\n\
         @throws \\Apus\\Client\\Exception STATE when the client is not one of datagrams\nWaits.\n@since 0.1.0"
    ),
    method!(
        client::recvfrom,
        "public function recvfrom(int $length, mixed &$address, mixed &$port = 0): string|false",
        "One datagram, $length bytes of it at most, and who sent it.\nWaits.\n@since 0.1.0"
    ),
    method!(
        client::enable_ssl,
        "public function enableSSL(): bool",
        "Begins TLS on a connection that was made without.\nWaits.\n@since 0.1.0"
    ),
    method!(
        client::peer_cert,
        "public function getPeerCert(): string|false",
        "The server's certificate as PEM.\nDoes not wait.\n@since 0.1.0"
    ),
    method!(
        client::verify_cert,
        "public function verifyPeerCert(bool $allow_self_signed = false): bool",
        "Verifies the server's certificate, for connections that were made with ssl_verify_peer off.\n\
         @return bool false with ERROR_SSL_VERIFY_FAILED when it is not valid; errMsg tells why\nDoes not wait.\n@since 0.1.0"
    ),
    method!(
        client::is_connected,
        "public function isConnected(): bool",
        "Whether there is a connection that the peer has not closed, as far as is known here; nothing is sent.\nDoes not wait.\n@since 0.1.0"
    ),
    method!(
        client::getsockname,
        "public function getsockname(): array|false",
        "The own ['host' => string, 'address' => the same, 'port' => int].\nDoes not wait.\n@since 0.1.0"
    ),
    method!(
        client::getpeername,
        "public function getpeername(): array|false",
        "The peer's ['host' => string, 'address' => the same, 'port' => int].\nDoes not wait.\n@since 0.1.0"
    ),
    method!(
        client::close,
        "public function close(): bool",
        "Closes the connection; the client can connect anew. Coroutines that wait go on: their methods fail with ECANCELED.\n\
         @return bool false when there was none\nDoes not wait.\n@since 0.1.0"
    ),
    method!(
        client::export_socket,
        "public function exportSocket(): Apus\\Coroutine\\Socket|false",
        "The connection as a Coroutine\\Socket, the same object each time. Closing either closes both.\nDoes not wait.\n@since 0.1.0"
    ),
];

/// `Apus\Client`.
pub(crate) static BLOCKING: Class = Class {
    name: "Apus\\Client",
    modifiers: "",
    extends: "",
    implements: &[],
    doc: "A client of TCP, UDP, Unix sockets and TLS for code outside coroutines, where it blocks its process; inside a coroutine it lets\n\
          the others run. The time-out of connect(), half a second unless given, limits each later operation, too.\n\
          Failures of the network are return values with errCode and errMsg; both are 0 and '' after a success.\n@since 0.1.0",
    constants: BLOCKING_CONSTANTS,
    properties: &[
        Property {
            decl: "public int $errCode = 0",
            doc: "Why the last method failed: an errno or an Apus\\ERROR_*; 0 after a success.",
        },
        Property { decl: "public int $sock = -1", doc: "The descriptor; -1 for none." },
        Property { decl: "public bool $reuse = false", doc: "Always false: an object keeps its own connection." },
        Property { decl: "public int $reuseCount = 0", doc: "Always 0." },
        Property { decl: "public int $type = 0", doc: "The type that the constructor was given." },
        Property { decl: "public string $id = ''", doc: "The id that the constructor was given." },
        Property { decl: "public ?array $setting = null", doc: "What set() was given, all calls together." },
        Property { decl: "public string $errMsg = ''", doc: "errCode in words." },
    ],
    methods: BLOCKING_METHODS,
    native: true,
    lazy: None,
    entry: entry!(),
};

static BLOCKING_CONSTANTS: &[Constant] = &[
    Constant { name: "MSG_OOB", value: Const::Int(1), doc: "Out-of-band data." },
    Constant { name: "MSG_PEEK", value: Const::Int(2), doc: "Leave the bytes where they are." },
    Constant { name: "MSG_DONTWAIT", value: Const::Int(64), doc: "Fail with EAGAIN instead of waiting." },
    Constant { name: "MSG_WAITALL", value: Const::Int(256), doc: "Wait until all bytes have come." },
    Constant { name: "SHUT_RD", value: Const::Int(0), doc: "End reading." },
    Constant { name: "SHUT_WR", value: Const::Int(1), doc: "End writing." },
    Constant { name: "SHUT_RDWR", value: Const::Int(2), doc: "End both." },
];

static BLOCKING_METHODS: &[Method] = &[
    method!(
        blocking::construct,
        "public function __construct(int $type, bool $async = false, string $id = '')",
        "@param int $type Apus\\SOCK_TCP, SOCK_TCP6, SOCK_UDP, SOCK_UDP6, UNIX_STREAM or UNIX_DGRAM; streams with | Apus\\SSL speak TLS\n\
         @param bool $async must be false\n\
         @throws \\ValueError for another type\n\
         @throws \\Apus\\Client\\Exception OPTION when $async is true\nDoes not wait.\n@since 0.1.0"
    ),
    method!(
        blocking::set,
        "public function set(array $settings): bool",
        "Settles time-outs, framing, TLS …: the settings under \"Clients\" in docs/options.md, and package_length_func.\n\
         @throws \\Apus\\Client\\Exception OPTION for what is unknown or out of its limits; nothing is changed then\n\
         Does not wait.\n@since 0.1.0"
    ),
    method!(
        blocking::connect,
        "public function connect(string $host, int $port = 0, float $timeout = 0.5, int $sock_flag = 0): bool",
        "Connects to a name, an IP address or a path, and shakes hands for TLS. Outside coroutines a name is resolved in the time that the\n\
         system's resolver takes.\n\
         @param float $timeout seconds, for this and for each later operation; negative for no limit\n\
         @param int $sock_flag without effect\n\
         @return bool false on failure: an errno, ERROR_DNSLOOKUP_RESOLVE_FAILED or one of ERROR_SSL_*; EISCONN when connected already\n\
         Waits.\n@since 0.1.0"
    ),
    method!(
        blocking::recv,
        "public function recv(int $size = 65536, int $flag = 0): string|false",
        "Some bytes, at most $size; with MSG_WAITALL as many; with open_length_check or open_eof_check and no flag one whole message.\n\
         @return string|false '' when the peer has ended its side; false on failure: ETIMEDOUT, EAGAIN with MSG_DONTWAIT\n\
         Waits.\n@since 0.1.0"
    ),
    method!(
        blocking::send,
        "public function send(string $data, int $flag = 0): int|false",
        "Sends all of it; with a flag what the kernel takes at once.\n\
         @return int|false how many bytes were sent: fewer when a failure cut it off (errCode is set then); false when none were\n\
         Waits.\n@since 0.1.0"
    ),
    method!(
        blocking::sendfile,
        "public function sendfile(string $filename, int $offset = 0, int $length = 0): bool",
        "Sends a regular file, or $length bytes of it from $offset on; 0 for all that follow.\nWaits.\n@since 0.1.0"
    ),
    method!(
        blocking::sendto,
        "public function sendto(string $ip, int $port, string $data): bool",
        "Sends one datagram; needs no connect().\n\
         @throws \\Apus\\Client\\Exception STATE when the client is not one of datagrams\nWaits.\n@since 0.1.0"
    ),
    method!(
        blocking::shutdown,
        "public function shutdown(int $how): bool",
        "Ends reading (SHUT_RD), writing (SHUT_WR) or both (SHUT_RDWR).\nDoes not wait.\n@since 0.1.0"
    ),
    method!(
        blocking::enable_ssl,
        "public function enableSSL(?callable $onSslReady = null): bool",
        "Begins TLS on a connection that was made without.\n\
         @throws \\ValueError when a callback is given: the handshake is done when this returns\nWaits.\n@since 0.1.0"
    ),
    method!(
        blocking::peer_cert,
        "public function getPeerCert(): string|bool",
        "The server's certificate as PEM; false for none.\nDoes not wait.\n@since 0.1.0"
    ),
    method!(
        blocking::verify_cert,
        "public function verifyPeerCert(bool $allow_self_signed = false): bool",
        "Verifies the server's certificate, for connections that were made with ssl_verify_peer off.\nDoes not wait.\n@since 0.1.0"
    ),
    method!(
        blocking::is_connected,
        "public function isConnected(): bool",
        "Whether there is a connection that the peer has not closed, as far as is known here; nothing is sent.\nDoes not wait.\n@since 0.1.0"
    ),
    method!(
        blocking::getsockname,
        "public function getsockname(): array|false",
        "The own ['host' => string, 'address' => the same, 'port' => int].\nDoes not wait.\n@since 0.1.0"
    ),
    method!(
        blocking::getpeername,
        "public function getpeername(): array|false",
        "The peer's ['host' => string, 'address' => the same, 'port' => int].\nDoes not wait.\n@since 0.1.0"
    ),
    method!(
        blocking::close,
        "public function close(bool $force = false): bool",
        "Closes the connection; the client can connect anew.\n@return bool false when there was none\nDoes not wait.\n@since 0.1.0"
    ),
];
