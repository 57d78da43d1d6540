//! The constants of WebSocket and HTTP/2.

use apus_zend::class::{Const, Constant};

macro_rules! constants {
    ($($name:literal = $value:literal, $doc:literal;)+) => {
        &[$(Constant { name: concat!("Apus\\", $name), value: Const::Int($value), doc: $doc },)+]
    };
}

/// All of them.
pub(super) static ALL: &[Constant] = constants! {
    "WEBSOCKET_STATUS_CONNECTION" = 1, "A connection that has not asked for WebSocket.";
    "WEBSOCKET_STATUS_HANDSHAKE" = 2, "The handshake is under way.";
    "WEBSOCKET_STATUS_ACTIVE" = 3, "Messages go to and fro.";
    "WEBSOCKET_STATUS_CLOSING" = 4, "A close frame was sent or has come.";
    "WEBSOCKET_OPCODE_CONTINUATION" = 0, "A further fragment of a message.";
    "WEBSOCKET_OPCODE_TEXT" = 1, "A message of UTF-8 text.";
    "WEBSOCKET_OPCODE_BINARY" = 2, "A message of bytes.";
    "WEBSOCKET_OPCODE_CLOSE" = 8, "The end of the conversation.";
    "WEBSOCKET_OPCODE_PING" = 9, "A question whether the other side is there.";
    "WEBSOCKET_OPCODE_PONG" = 10, "The answer to a ping.";
    "WEBSOCKET_FLAG_FIN" = 1, "The last fragment of a message.";
    "WEBSOCKET_FLAG_COMPRESS" = 2, "Compress the message, where permessage-deflate was agreed upon.";
    "WEBSOCKET_FLAG_RSV1" = 4, "The message came compressed.";
    "WEBSOCKET_FLAG_RSV2" = 8, "A reserved bit.";
    "WEBSOCKET_FLAG_RSV3" = 16, "A reserved bit.";
    "WEBSOCKET_FLAG_MASK" = 32, "The frame is masked.";
    "WEBSOCKET_CLOSE_NORMAL" = 1000, "The purpose is fulfilled (RFC 6455 section 7.4.1).";
    "WEBSOCKET_CLOSE_GOING_AWAY" = 1001, "A server goes down, or a page is left.";
    "WEBSOCKET_CLOSE_PROTOCOL_ERROR" = 1002, "The protocol was broken.";
    "WEBSOCKET_CLOSE_DATA_ERROR" = 1003, "A kind of data that the receiver does not take.";
    "WEBSOCKET_CLOSE_STATUS_ERROR" = 1005, "A close frame without a code came; never sent.";
    "WEBSOCKET_CLOSE_ABNORMAL" = 1006, "The connection broke without a close frame; never sent.";
    "WEBSOCKET_CLOSE_MESSAGE_ERROR" = 1007, "Text that is not UTF-8, or a broken compressed message.";
    "WEBSOCKET_CLOSE_POLICY_ERROR" = 1008, "A policy was broken.";
    "WEBSOCKET_CLOSE_MESSAGE_TOO_BIG" = 1009, "A message is larger than the receiver allows.";
    "WEBSOCKET_CLOSE_EXTENSION_MISSING" = 1010, "The server did not agree to an extension.";
    "WEBSOCKET_CLOSE_SERVER_ERROR" = 1011, "The server met a condition that it did not expect.";
    "WEBSOCKET_CLOSE_CLOSE_SERVICE_RESTART" = 1012, "The server starts anew.";
    "WEBSOCKET_CLOSE_TRY_AGAIN_LATER" = 1013, "The server is overloaded.";
    "WEBSOCKET_CLOSE_BAD_GATEWAY" = 1014, "A gateway got no usable answer.";
    "WEBSOCKET_CLOSE_TLS" = 1015, "TLS failed; never sent.";
    "HTTP_CLIENT_ESTATUS_CONNECT_FAILED" = -1, "$statusCode: no connection was made.";
    "HTTP_CLIENT_ESTATUS_REQUEST_TIMEOUT" = -2, "$statusCode: the answer did not come in time.";
    "HTTP_CLIENT_ESTATUS_SERVER_RESET" = -3, "$statusCode: the connection broke, or the answer was of no use.";
    "HTTP_CLIENT_ESTATUS_SEND_FAILED" = -4, "$statusCode: the request could not be sent whole.";
    "HTTP2_TYPE_DATA" = 0, "A frame of RFC 9113 section 6.1.";
    "HTTP2_TYPE_HEADERS" = 1, "A frame of RFC 9113 section 6.2.";
    "HTTP2_TYPE_PRIORITY" = 2, "A frame of RFC 9113 section 6.3.";
    "HTTP2_TYPE_RST_STREAM" = 3, "A frame of RFC 9113 section 6.4.";
    "HTTP2_TYPE_SETTINGS" = 4, "A frame of RFC 9113 section 6.5.";
    "HTTP2_TYPE_PUSH_PROMISE" = 5, "A frame of RFC 9113 section 6.6.";
    "HTTP2_TYPE_PING" = 6, "A frame of RFC 9113 section 6.7.";
    "HTTP2_TYPE_GOAWAY" = 7, "A frame of RFC 9113 section 6.8.";
    "HTTP2_TYPE_WINDOW_UPDATE" = 8, "A frame of RFC 9113 section 6.9.";
    "HTTP2_TYPE_CONTINUATION" = 9, "A frame of RFC 9113 section 6.10.";
    "HTTP2_ERROR_NO_ERROR" = 0, "No error (RFC 9113 section 7).";
    "HTTP2_ERROR_PROTOCOL_ERROR" = 1, "The protocol was broken.";
    "HTTP2_ERROR_INTERNAL_ERROR" = 2, "An unexpected error.";
    "HTTP2_ERROR_FLOW_CONTROL_ERROR" = 3, "Flow control was not heeded.";
    "HTTP2_ERROR_SETTINGS_TIMEOUT" = 4, "SETTINGS were not acknowledged in time.";
    "HTTP2_ERROR_STREAM_CLOSED" = 5, "A frame came for a closed stream.";
    "HTTP2_ERROR_FRAME_SIZE_ERROR" = 6, "A frame has a wrong size.";
    "HTTP2_ERROR_REFUSED_STREAM" = 7, "The stream was refused before any work; the request can be sent again.";
    "HTTP2_ERROR_CANCEL" = 8, "The stream is not needed any more.";
    "HTTP2_ERROR_COMPRESSION_ERROR" = 9, "The state of header compression is lost.";
    "HTTP2_ERROR_CONNECT_ERROR" = 10, "A connection made by CONNECT broke.";
    "HTTP2_ERROR_ENHANCE_YOUR_CALM" = 11, "The other side asks for too much.";
    "HTTP2_ERROR_INADEQUATE_SECURITY" = 12, "TLS is not strong enough.";
    "HTTP2_ERROR_HTTP_1_1_REQUIRED" = 13, "Use HTTP/1.1.";
};
