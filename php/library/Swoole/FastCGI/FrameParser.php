<?php

declare(strict_types=1);

namespace Swoole\FastCGI;

use Swoole\FastCGI;

/** Takes records from what was received. */
class FrameParser
{
    protected static array $classMapping = [
        FastCGI::BEGIN_REQUEST => Record\BeginRequest::class,
        FastCGI::ABORT_REQUEST => Record\AbortRequest::class,
        FastCGI::END_REQUEST => Record\EndRequest::class,
        FastCGI::PARAMS => Record\Params::class,
        FastCGI::STDIN => Record\Stdin::class,
        FastCGI::STDOUT => Record\Stdout::class,
        FastCGI::STDERR => Record\Stderr::class,
        FastCGI::DATA => Record\Data::class,
        FastCGI::GET_VALUES => Record\GetValues::class,
        FastCGI::GET_VALUES_RESULT => Record\GetValuesResult::class,
        FastCGI::UNKNOWN_TYPE => Record\UnknownType::class,
    ];

    /** Whether it begins with a whole record. */
    public static function hasFrame(string $binaryBuffer): bool
    {
        if (strlen($binaryBuffer) < FastCGI::HEADER_LEN) {
            return false;
        }
        $head = unpack(FastCGI::HEADER_FORMAT, $binaryBuffer);
        return strlen($binaryBuffer) >= FastCGI::HEADER_LEN + $head['contentLength'] + $head['paddingLength'];
    }

    /** Takes the first record away. */
    public static function parseFrame(string &$binaryBuffer): Record
    {
        if (strlen($binaryBuffer) < FastCGI::HEADER_LEN) {
            throw new \RuntimeException('Not enough data in the buffer to parse');
        }
        $type = ord($binaryBuffer[1]);
        $class = self::$classMapping[$type]
            ?? throw new \DomainException("Invalid FastCGI record type {$type} received");
        $record = $class::unpack($binaryBuffer);
        $length = FastCGI::HEADER_LEN + $record->getContentLength() + $record->getPaddingLength();
        $binaryBuffer = substr($binaryBuffer, $length);
        return $record;
    }
}
