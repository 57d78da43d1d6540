<?php

declare(strict_types=1);

namespace Swoole\FastCGI;

use Swoole\FastCGI;
use Swoole\FastCGI\Record\BeginRequest;
use Swoole\FastCGI\Record\Params;
use Swoole\FastCGI\Record\Stdin;

/** A request as the records that are sent. */
class Request extends Message implements \Stringable
{
    protected bool $keepConn = false;

    public function __toString(): string
    {
        $text = (string) new BeginRequest(FastCGI::RESPONDER, $this->keepConn ? FastCGI::KEEP_CONN : 0);
        $pairs = (new Params($this->params))->getContentLength() < FastCGI::MAX_CONTENT_LENGTH
            ? [$this->params] : array_chunk($this->params, 1, true);
        foreach ($pairs as $some) {
            $text .= $some === [] ? '' : new Params($some);
        }
        $text .= new Params([]);
        if ($this->getBody() !== '') {
            foreach (str_split($this->getBody(), FastCGI::MAX_CONTENT_LENGTH) as $part) {
                $text .= new Stdin($part);
            }
            $text .= new Stdin('');
        }
        return $text;
    }

    public function getKeepConn(): bool
    {
        return $this->keepConn;
    }

    public function withKeepConn(bool $keepConn): self
    {
        $this->keepConn = $keepConn;
        return $this;
    }
}
