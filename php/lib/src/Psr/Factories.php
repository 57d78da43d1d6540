<?php

declare(strict_types=1);

namespace Apus\Psr;

use Psr\Http\Message\ServerRequestFactoryInterface;
use Psr\Http\Message\StreamFactoryInterface;
use Psr\Http\Message\UriFactoryInterface;

/** The PSR-17 factories that requests are made with. */
final class Factories
{
    /** Libraries whose classes make all, and those with a class for each. */
    private const ALL = ['Nyholm\Psr7\Factory\Psr17Factory', 'GuzzleHttp\Psr7\HttpFactory'];
    private const SINGLE = [
        'Laminas\Diactoros\%sFactory', 'Slim\Psr7\Factory\%sFactory', 'HttpSoft\Message\%sFactory',
        'Sunrise\Http\Message\%sFactory',
    ];

    public function __construct(
        public readonly ServerRequestFactoryInterface $requests,
        public readonly UriFactoryInterface $uris,
        public readonly StreamFactoryInterface $streams,
    ) {
    }

    /** One object that makes all. */
    public static function of(
        ServerRequestFactoryInterface&UriFactoryInterface&StreamFactoryInterface $factory,
    ): self {
        return new self($factory, $factory, $factory);
    }

    /**
     * Those of the library that is installed.
     * @throws \LogicException when none is
     */
    public static function found(): self
    {
        foreach (self::ALL as $class) {
            if (class_exists($class)) {
                return self::of(new $class());
            }
        }
        foreach (self::SINGLE as $form) {
            $classes = array_map(fn (string $kind) => sprintf($form, $kind), ['ServerRequest', 'Uri', 'Stream']);
            if (array_filter($classes, 'class_exists') === $classes) {
                [$request, $uri, $stream] = $classes;
                return new self(new $request(), new $uri(), new $stream());
            }
        }
        throw new \LogicException('no PSR-17 factory is installed: composer require nyholm/psr7');
    }
}
