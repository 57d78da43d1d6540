<?php

declare(strict_types=1);

spl_autoload_register(static function (string $class): void {
    $file = __DIR__ . '/' . str_replace('\\', '/', substr($class, strlen('Apus\\Ads\\'))) . '.php';
    if (str_starts_with($class, 'Apus\\Ads\\') && is_file($file)) {
        require $file;
    }
});
