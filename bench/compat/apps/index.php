<?php

/** The front controller of the contenders that start PHP anew for each request. */

declare(strict_types=1);

if ('@CASE@' === 'hello') {
    header('Content-Type: text/plain');
    echo 'Hello, World!';
} else {
    require '@APPS@/app.php';
    $app = Bench\Compat\app('@CASE@', '@FILES@');
    $app(Symfony\Component\HttpFoundation\Request::createFromGlobals())->send();
}
