<?php

namespace Apus;

/** A connection that has not asked for WebSocket. */
const WEBSOCKET_STATUS_CONNECTION = 1;

/** The handshake is under way. */
const WEBSOCKET_STATUS_HANDSHAKE = 2;

/** Messages are exchanged. */
const WEBSOCKET_STATUS_ACTIVE = 3;

/** A close frame was sent or received. */
const WEBSOCKET_STATUS_CLOSING = 4;

/** A further fragment of a message. */
const WEBSOCKET_OPCODE_CONTINUATION = 0;

/** A message of UTF-8 text. */
const WEBSOCKET_OPCODE_TEXT = 1;

/** A message of bytes. */
const WEBSOCKET_OPCODE_BINARY = 2;

/** The closing handshake. */
const WEBSOCKET_OPCODE_CLOSE = 8;

/** A ping, which the peer has to answer. */
const WEBSOCKET_OPCODE_PING = 9;

/** The answer to a ping. */
const WEBSOCKET_OPCODE_PONG = 10;

/** The last fragment of a message. */
const WEBSOCKET_FLAG_FIN = 1;

/** Compress the message, where permessage-deflate was agreed upon. */
const WEBSOCKET_FLAG_COMPRESS = 2;

/** The message came compressed. */
const WEBSOCKET_FLAG_RSV1 = 4;

/** A reserved bit. */
const WEBSOCKET_FLAG_RSV2 = 8;

/** A reserved bit. */
const WEBSOCKET_FLAG_RSV3 = 16;

/** The frame is masked. */
const WEBSOCKET_FLAG_MASK = 32;

/** The purpose is fulfilled (RFC 6455 section 7.4.1). */
const WEBSOCKET_CLOSE_NORMAL = 1000;

/** A server goes down, or a page is left. */
const WEBSOCKET_CLOSE_GOING_AWAY = 1001;

/** The protocol was broken. */
const WEBSOCKET_CLOSE_PROTOCOL_ERROR = 1002;

/** A kind of data that the receiver does not take. */
const WEBSOCKET_CLOSE_DATA_ERROR = 1003;

/** A close frame without a code came; never sent. */
const WEBSOCKET_CLOSE_STATUS_ERROR = 1005;

/** The connection broke without a close frame; never sent. */
const WEBSOCKET_CLOSE_ABNORMAL = 1006;

/** Text that is not UTF-8, or a broken compressed message. */
const WEBSOCKET_CLOSE_MESSAGE_ERROR = 1007;

/** A policy was broken. */
const WEBSOCKET_CLOSE_POLICY_ERROR = 1008;

/** A message is larger than the receiver allows. */
const WEBSOCKET_CLOSE_MESSAGE_TOO_BIG = 1009;

/** The server did not agree to an extension. */
const WEBSOCKET_CLOSE_EXTENSION_MISSING = 1010;

/** The server met a condition that it did not expect. */
const WEBSOCKET_CLOSE_SERVER_ERROR = 1011;

/** The server restarts. */
const WEBSOCKET_CLOSE_CLOSE_SERVICE_RESTART = 1012;

/** The server is overloaded. */
const WEBSOCKET_CLOSE_TRY_AGAIN_LATER = 1013;

/** A gateway got no usable answer. */
const WEBSOCKET_CLOSE_BAD_GATEWAY = 1014;

/** TLS failed; never sent. */
const WEBSOCKET_CLOSE_TLS = 1015;

/** $statusCode: no connection was made. */
const HTTP_CLIENT_ESTATUS_CONNECT_FAILED = -1;

/** $statusCode: the answer did not come in time. */
const HTTP_CLIENT_ESTATUS_REQUEST_TIMEOUT = -2;

/** $statusCode: the connection broke, or the answer was of no use. */
const HTTP_CLIENT_ESTATUS_SERVER_RESET = -3;

/** $statusCode: the request could not be sent whole. */
const HTTP_CLIENT_ESTATUS_SEND_FAILED = -4;

/** A frame of RFC 9113 section 6.1. */
const HTTP2_TYPE_DATA = 0;

/** A frame of RFC 9113 section 6.2. */
const HTTP2_TYPE_HEADERS = 1;

/** A frame of RFC 9113 section 6.3. */
const HTTP2_TYPE_PRIORITY = 2;

/** A frame of RFC 9113 section 6.4. */
const HTTP2_TYPE_RST_STREAM = 3;

/** A frame of RFC 9113 section 6.5. */
const HTTP2_TYPE_SETTINGS = 4;

/** A frame of RFC 9113 section 6.6. */
const HTTP2_TYPE_PUSH_PROMISE = 5;

/** A frame of RFC 9113 section 6.7. */
const HTTP2_TYPE_PING = 6;

/** A frame of RFC 9113 section 6.8. */
const HTTP2_TYPE_GOAWAY = 7;

/** A frame of RFC 9113 section 6.9. */
const HTTP2_TYPE_WINDOW_UPDATE = 8;

/** A frame of RFC 9113 section 6.10. */
const HTTP2_TYPE_CONTINUATION = 9;

/** No error (RFC 9113 section 7). */
const HTTP2_ERROR_NO_ERROR = 0;

/** The protocol was broken. */
const HTTP2_ERROR_PROTOCOL_ERROR = 1;

/** An unexpected error. */
const HTTP2_ERROR_INTERNAL_ERROR = 2;

/** Flow control was not heeded. */
const HTTP2_ERROR_FLOW_CONTROL_ERROR = 3;

/** SETTINGS were not acknowledged in time. */
const HTTP2_ERROR_SETTINGS_TIMEOUT = 4;

/** A frame came for a closed stream. */
const HTTP2_ERROR_STREAM_CLOSED = 5;

/** A frame has a wrong size. */
const HTTP2_ERROR_FRAME_SIZE_ERROR = 6;

/** The stream was refused before any work; the request can be sent again. */
const HTTP2_ERROR_REFUSED_STREAM = 7;

/** The stream is not needed any more. */
const HTTP2_ERROR_CANCEL = 8;

/** The state of header compression is lost. */
const HTTP2_ERROR_COMPRESSION_ERROR = 9;

/** A connection made by CONNECT broke. */
const HTTP2_ERROR_CONNECT_ERROR = 10;

/** The other side asks for too much. */
const HTTP2_ERROR_ENHANCE_YOUR_CALM = 11;

/** TLS is not strong enough. */
const HTTP2_ERROR_INADEQUATE_SECURITY = 12;

/** Use HTTP/1.1. */
const HTTP2_ERROR_HTTP_1_1_REQUIRED = 13;
