<?php

declare(strict_types=1);

namespace Bench\Compat;

use Symfony\Bundle\FrameworkBundle\FrameworkBundle;
use Symfony\Bundle\FrameworkBundle\Kernel\MicroKernelTrait;
use Symfony\Component\DependencyInjection\Loader\Configurator\ContainerConfigurator;
use Symfony\Component\HttpFoundation\Response;
use Symfony\Component\HttpKernel\Kernel;
use Symfony\Component\Routing\Loader\Configurator\RoutingConfigurator;

final class SymfonyKernel extends Kernel
{
    use MicroKernelTrait;

    public function __construct(private string $folder)
    {
        parent::__construct('prod', false);
    }

    public function registerBundles(): iterable
    {
        return [new FrameworkBundle()];
    }

    protected function configureContainer(ContainerConfigurator $container): void
    {
        $container->extension('framework', [
            'secret' => 'bench', 'http_method_override' => false, 'router' => ['utf8' => true],
            'php_errors' => ['log' => true],
        ]);
    }

    protected function configureRoutes(RoutingConfigurator $routes): void
    {
        $routes->add('home', '/')->controller([$this, 'home']);
    }

    public function home(): Response
    {
        return new Response('Hello, World!');
    }

    public function getProjectDir(): string
    {
        return $this->folder;
    }

    public function getCacheDir(): string
    {
        return "$this->folder/cache";
    }

    public function getLogDir(): string
    {
        return $this->folder;
    }
}
