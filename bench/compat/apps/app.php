<?php

/**
 * A Laravel and a Symfony application with the page `/`, asked and answering by HttpFoundation. The frameworks are
 * those that Debian packages.
 */

declare(strict_types=1);

namespace Bench\Compat;

use Illuminate\Support\Facades\Route;
use Symfony\Component\HttpFoundation\Request;
use Symfony\Component\HttpFoundation\Response;

// Deprecated in what Debian 12 packages, on PHP 8.2.
error_reporting(E_ALL & ~E_DEPRECATED);

/** @return \Closure(Request): Response a booted application */
function app(string $name, string $folder): \Closure
{
    return $name === 'laravel' ? laravel($folder) : symfony($folder);
}

function symfony(string $folder): \Closure
{
    require_once 'Symfony/Bundle/FrameworkBundle/autoload.php';
    require_once __DIR__ . '/SymfonyKernel.php';
    $kernel = new SymfonyKernel($folder);
    return static function (Request $request) use ($kernel): Response {
        $response = $kernel->handle($request);
        $kernel->terminate($request, $response);
        return $response;
    };
}

function laravel(string $folder): \Closure
{
    foreach (['Illuminate', 'Symfony/Component/HttpFoundation', 'Symfony/Component/HttpKernel'] as $library) {
        require_once "$library/autoload.php";
    }
    configure($folder);
    $app = new \Illuminate\Foundation\Application($folder);
    $app->singleton(\Illuminate\Contracts\Http\Kernel::class, \Illuminate\Foundation\Http\Kernel::class);
    $handler = \Illuminate\Foundation\Exceptions\Handler::class;
    $app->singleton(\Illuminate\Contracts\Debug\ExceptionHandler::class, $handler);
    $app->booted(static fn () => Route::get('/', static fn () => 'Hello, World!'));
    $kernel = $app->make(\Illuminate\Contracts\Http\Kernel::class);
    return static function (Request $request) use ($kernel): Response {
        $asked = \Illuminate\Http\Request::createFromBase($request);
        $response = $kernel->handle($asked);
        $kernel->terminate($asked, $response);
        return $response;
    };
}

/** Writes Laravel's configuration, once. */
function configure(string $folder): void
{
    if (is_dir("$folder/config")) {
        return;
    }
    $providers = ['Filesystem\Filesystem', 'Foundation\Providers\Foundation', 'Pipeline\Pipeline', 'View\View'];
    $files = [
        'app' => [
            'name' => 'bench', 'env' => 'production', 'debug' => false, 'locale' => 'en', 'timezone' => 'UTC',
            'aliases' => [],
            'providers' => array_map(static fn (string $name) => "Illuminate\\{$name}ServiceProvider", $providers),
        ],
        'view' => ['paths' => [], 'compiled' => $folder],
        'logging' => ['default' => 'null', 'channels' => ['null' => ['driver' => 'monolog']]],
    ];
    is_dir("$folder/bootstrap/cache") || mkdir("$folder/bootstrap/cache", 0777, true);
    $fresh = "$folder/config." . getmypid();
    mkdir($fresh);
    foreach ($files as $name => $values) {
        file_put_contents("$fresh/$name.php", '<?php return ' . var_export($values, true) . ';');
    }
    @rename($fresh, "$folder/config");
}
