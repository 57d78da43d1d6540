<?php

declare(strict_types=1);

namespace Swoole\FastCGI\Record;

use Swoole\FastCGI;
use Swoole\FastCGI\Record;

/** Names and values: each pair begins with both lengths, in one byte up to 127, else in four with the highest bit set. */
class Params extends Record
{
    protected array $values = [];

    public function __construct(array $values)
    {
        $this->type = FastCGI::PARAMS;
        $this->values = $values;
        $this->setContentData($this->packPayload());
    }

    public function getValues(): array
    {
        return $this->values;
    }

    protected static function unpackPayload(Record $self, string $binaryData): void
    {
        $at = 0;
        while ($at < strlen($binaryData)) {
            $name = self::length($binaryData, $at);
            $value = self::length($binaryData, $at);
            if (strlen($binaryData) - $at < $name + $value) {
                throw new \RuntimeException('Can not unpack data from the binary buffer');
            }
            $self->values[substr($binaryData, $at, $name)] = substr($binaryData, $at + $name, $value);
            $at += $name + $value;
        }
    }

    protected function packPayload(): string
    {
        $payload = '';
        foreach ($this->values as $name => $value) {
            if ($value !== null) {
                [$name, $value] = [(string) $name, (string) $value];
                $payload .= self::packedLength($name) . self::packedLength($value) . $name . $value;
            }
        }
        return $payload;
    }

    private static function packedLength(string $text): string
    {
        $length = strlen($text);
        return $length < 0x80 ? chr($length) : pack('N', $length | 0x80000000);
    }

    /** The length at a place, which goes on behind it. */
    private static function length(string $data, int &$at): int
    {
        $isLong = ord($data[$at] ?? "\0") >= 0x80;
        $length = self::fields($isLong ? 'Nlength' : 'Clength', substr($data, $at, $isLong ? 4 : 1))['length'];
        $at += $isLong ? 4 : 1;
        return $length & 0x7FFFFFFF;
    }
}
