<?php

namespace Apus;

/**
 * A client or port of UDP over IPv4.
 * @rust peer::SOCK_UDP
 */
const SOCK_UDP = 2;

/**
 * A client or port of UDP over IPv6.
 * @rust peer::SOCK_UDP6
 */
const SOCK_UDP6 = 4;

/**
 * A client or port of a Unix socket of bytes.
 * @rust peer::UNIX_STREAM
 */
const UNIX_STREAM = 5;

/**
 * A client or port of a Unix socket of datagrams.
 * @rust peer::UNIX_DGRAM
 */
const UNIX_DGRAM = 6;

/**
 * Added to a type of streams: TLS is spoken.
 * @rust peer::SSL
 */
const SSL = 512;

/**
 * Added to a type of streams of Apus\Client: closing leaves the connection to the next client of the same server.
 * @rust peer::KEEP
 */
const KEEP = 4096;

/**
 * Added to a type: without effect, clients block outside coroutines.
 * @rust peer::SYNC
 */
const SYNC = 2048;

/**
 * Added to a type: refused by Client, use Coroutine\Client.
 * @rust peer::ASYNC
 */
const ASYNC = 1024;

/**
 * Unix sockets; ext/sockets has it as AF_UNIX.
 * @rust libc::AF_UNIX
 */
const AF_UNIX = 1;

/**
 * IPv4; ext/sockets has it as AF_INET.
 * @rust libc::AF_INET
 */
const AF_INET = 2;

/**
 * IPv6; ext/sockets has it as AF_INET6.
 * @rust libc::AF_INET6
 */
const AF_INET6 = 10;

/**
 * A stream of bytes; ext/sockets has it as SOCK_STREAM.
 * @rust libc::SOCK_STREAM
 */
const SOCK_STREAM = 1;

/**
 * Datagrams; ext/sockets has it as SOCK_DGRAM.
 * @rust libc::SOCK_DGRAM
 */
const SOCK_DGRAM = 2;

/**
 * TLS 1.2, for ssl_protocols.
 * @rust crate::socket::tls::TLS_1_2
 */
const SSL_TLSv1_2 = 32;

/**
 * TLS 1.3, for ssl_protocols.
 * @rust crate::socket::tls::TLS_1_3
 */
const SSL_TLSv1_3 = 64;

/**
 * errCode: the connection does not speak TLS.
 * @rust fault::SSL_NOT_READY
 */
const ERROR_SSL_NOT_READY = 1011;

/**
 * errCode: the peer showed no certificate.
 * @rust fault::SSL_NO_CERTIFICATE
 */
const ERROR_SSL_EMPTY_PEER_CERTIFICATE = 1013;

/**
 * errCode: the peer's certificate was refused.
 * @rust fault::SSL_REFUSED
 */
const ERROR_SSL_VERIFY_FAILED = 1014;

/**
 * errCode: the peers could not agree on TLS.
 * @rust fault::SSL_HANDSHAKE
 */
const ERROR_SSL_HANDSHAKE_FAILED = 1018;

/**
 * errCode: a setting of TLS cannot be honoured; errMsg tells which.
 * @rust fault::SSL_OPTIONS
 */
const ERROR_SSL_CREATE_CONTEXT_FAILED = 1019;

/**
 * errCode: a message is longer than package_max_length.
 * @rust fault::PACKAGE_TOO_LARGE
 */
const ERROR_PACKAGE_LENGTH_TOO_LARGE = 1201;

/**
 * errCode: the length of a message makes no sense.
 * @rust fault::PACKAGE_NO_LENGTH
 */
const ERROR_PACKAGE_LENGTH_NOT_FOUND = 1202;

/**
 * errCode: no message ends within package_max_length.
 * @rust fault::PACKAGE_ENDLESS
 */
const ERROR_PACKAGE_MALFORMED_DATA = 1204;

/**
 * errCode: the client is not connected.
 * @rust fault::NOT_CONNECTED
 */
const ERROR_CLIENT_NO_CONNECTION = 5001;
