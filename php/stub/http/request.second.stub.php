<?php

namespace Swoole\Http;

/**
 * Apus\Http\Request, for code written for Swoole.
 * @rust second Apus\Http\Request
 * @rust also swoole_http_request
 * @rust within crate::swoole::answers_false
 */
class Request
{
    public $fd = 0;

    public $streamId = 0;

    public ?array $header;

    public ?array $server;

    public ?array $cookie;

    public ?array $get;

    public ?array $files;

    public ?array $post;

    public ?array $tmpfiles;

    public function getData(): string|false {}

    public function getMethod(): string|false {}

    public function getContent(): string|false {}

    public function rawContent(): string|false {}

    /** @rust super::parsed::create */
    public static function create(array $options = []): \Swoole\Http\Request|false {}

    /** @rust super::parsed::parse */
    public function parse(string $data): int|false {}

    /** @rust super::parsed::is_completed */
    public function isCompleted(): bool {}
}
