<?php

declare(strict_types=1);

namespace Apus\Octane;

use Illuminate\Console\Application as Artisan;
use Illuminate\Support\ServiceProvider as Provider;
use Laravel\Octane\Octane;

/** Makes Laravel's Octane know the server "apus": `php artisan octane:start --server=apus`. */
final class ServiceProvider extends Provider
{
    public function register(): void
    {
        $this->app->bind(Inspector::class, fn ($app) => new Inspector(
            $app['config']->get('octane.apus.state_file', $app->storagePath() . '/logs/octane-apus-state.json'),
        ));
    }

    public function boot(): void
    {
        if (!$this->app->runningInConsole() || !class_exists(Octane::class)) {
            return;
        }
        // Behind those of Octane, which they take the place of.
        $this->app->booted(fn () => Artisan::starting(fn (Artisan $artisan) => $artisan->resolveCommands([
            Command::class, StartCommand::class, StopCommand::class, ReloadCommand::class, StatusCommand::class,
        ])));
    }
}
