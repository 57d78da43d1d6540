<?php

namespace Apus\WebSocket;

/**
 * A WebSocket message or control frame (RFC 6455).
 * @rust plain
 * @rust slots
 * @rust also Swoole\WebSocket\Frame swoole_websocket_frame
 */
class Frame implements \Stringable
{
    // @rust typed

    /** int The connection that it came over; 0 for one made by the program. */
    public $fd = 0;

    /** string What it carries. */
    public $data = '';

    /** int What it is: one of Apus\WEBSOCKET_OPCODE_*. */
    public $opcode = 1;

    /** int The sum of Apus\WEBSOCKET_FLAG_*. */
    public $flags = 1;

    /** bool Whether it is the last fragment of its message. */
    public $finish = true;

    /**
     * Its bytes on the wire, as pack() makes them.
     * @throws \Apus\Client\Exception ARGUMENT for a frame that RFC 6455 forbids
     * Does not wait.
     */
    public function __toString(): string {}

    /**
     * The bytes of a frame; of a Frame object, whose own opcode and flags take precedence. WEBSOCKET_FLAG_MASK masks
     * with a random key, WEBSOCKET_FLAG_COMPRESS compresses a whole message by itself. Without FIN or COMPRESS it is a
     * fragment.
     * @throws \Apus\Client\Exception ARGUMENT for an unknown opcode, text that is not UTF-8, a long control frame
     * Does not wait.
     */
    public static function pack(\Apus\WebSocket\Frame|string $data, int $opcode = 1, int $flags = 1): string {}

    /**
     * The frame that the bytes begin with, unmasked and decompressed (up to 64 MiB); a CloseFrame where it is one.
     * @return Frame|false false when they are not a whole frame
     * Does not wait.
     */
    public static function unpack(string $data): \Apus\WebSocket\Frame|false {}
}

/**
 * The frame that closes a WebSocket.
 * @rust slots
 * @rust also Swoole\WebSocket\CloseFrame swoole_websocket_closeframe
 */
class CloseFrame extends \Apus\WebSocket\Frame
{
    /** int Apus\WEBSOCKET_OPCODE_CLOSE. */
    public $opcode = 8;

    /** int Why: one of Apus\WEBSOCKET_CLOSE_*, or 3000 to 4999. */
    public $code = 1000;

    /** string Why, in up to 123 bytes of UTF-8. */
    public $reason = '';
}
