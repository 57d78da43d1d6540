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
    public ?array $server;

    public ?array $header;

    public ?array $get;

    public ?array $post;

    public ?array $cookie;

    public ?array $files;

    public ?array $tmpfiles;

    public $fd = 0;

    public $streamId = 0;

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
