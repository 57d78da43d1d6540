<?php

declare(strict_types=1);

namespace Apus\Gateway;

final class ConfigError extends \InvalidArgumentException
{
}
