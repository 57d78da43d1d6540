<?php

declare(strict_types=1);

namespace Apus\Octane;

/** The commands of Octane that are told which server is meant. */
trait ChoosesServer
{
    private function isApus(): bool
    {
        return ($this->option('server') ?: config('octane.server')) === 'apus';
    }

    /** The server that runs; null, and said, when none does. */
    private function running(): ?Inspector
    {
        $inspector = app(Inspector::class);
        if (!$inspector->serverIsRunning()) {
            $this->error('Octane server is not running.');
            return null;
        }
        return $inspector;
    }
}
