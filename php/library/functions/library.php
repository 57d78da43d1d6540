<?php

declare(strict_types=1);

function swoole_library_set_options(array $options): void
{
    SwooleLibrary::$options = $options;
}

function swoole_library_get_options(): array
{
    return SwooleLibrary::$options;
}

function swoole_library_set_option(string $key, mixed $value): void
{
    SwooleLibrary::$options[$key] = $value;
}

function swoole_library_get_option(string $key): mixed
{
    return SwooleLibrary::$options[$key] ?? null;
}

function swoole_string(string $string = ''): Swoole\StringObject
{
    return new Swoole\StringObject($string);
}

function swoole_mbstring(string $string = ''): Swoole\MultibyteStringObject
{
    return new Swoole\MultibyteStringObject($string);
}

function swoole_array(array $array = []): Swoole\ArrayObject
{
    return new Swoole\ArrayObject($array);
}

function swoole_array_list(mixed ...$arrray): Swoole\ArrayObject
{
    return new Swoole\ArrayObject($arrray);
}

function swoole_array_default_value(array $array, mixed $key, mixed $default_value = null): mixed
{
    return array_key_exists($key, $array) ? $array[$key] : $default_value;
}

/** A table with the columns that a text such as "name:s:64, age:i, weight:f" describes. */
function swoole_table(int $size, string $fields): Swoole\Table
{
    $table = new Swoole\Table($size, 0.25);
    foreach (explode(',', trim($fields)) as $field) {
        $parts = array_map(trim(...), explode(':', trim($field)));
        $type = $parts[1] ?? '';
        $kind = match ($type) {
            'i', 'int' => Swoole\Table::TYPE_INT,
            'f', 'float' => Swoole\Table::TYPE_FLOAT,
            's', 'string' => Swoole\Table::TYPE_STRING,
            default => throw new RuntimeException("unknown field type[{$type}]"),
        };
        $length = 0;
        if ($kind === Swoole\Table::TYPE_STRING) {
            $length = (int) ($parts[2] ?? throw new RuntimeException('need to give string length'));
            if ($length <= 0) {
                throw new RuntimeException("invalid string length[{$length}]");
            }
        }
        $table->column($parts[0], $kind, $length);
    }
    if (!$table->create()) {
        throw new RuntimeException('failed to create table');
    }
    return $table;
}

function swoole_is_in_container(): bool
{
    $mounts = (string) @file_get_contents('/proc/self/mountinfo');
    return str_contains($mounts, 'kubepods') || str_contains($mounts, 'docker');
}

/** The CPUs that this process may use: SWOOLE_CPU_NUM, else what the container's quota allows, else all. */
function swoole_container_cpu_num(): int
{
    $wanted = (int) getenv('SWOOLE_CPU_NUM');
    if ($wanted > 0) {
        return $wanted;
    }
    $all = Apus\cpu_num();
    if (!swoole_is_in_container()) {
        return $all;
    }
    $limit = @file_get_contents('/sys/fs/cgroup/cpu.max');
    if ($limit !== false) {
        [$quota, $period] = explode(' ', trim($limit)) + ['max', '100000'];
    } else {
        $quota = trim((string) @file_get_contents('/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us'));
        $period = trim((string) @file_get_contents('/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us'));
    }
    if (!is_numeric($quota) || (int) $quota <= 0 || (int) $period <= 0) {
        return $all;
    }
    $allowed = intdiv((int) $quota, (int) $period);
    return $allowed < 1 ? $all : $allowed;
}

/** exec(), which waits in a coroutine only. */
function swoole_exec(string $command, mixed &$output = null, mixed &$returnVar = null): string|false
{
    return exec($command, $output, $returnVar);
}

function swoole_shell_exec(string $cmd): string|false|null
{
    return shell_exec($cmd);
}

function swoole_gethostbynamel(string $domain): array|false
{
    return Apus\Coroutine\System::getaddrinfo($domain);
}

/** Has swoole_name_resolver_lookup() ask it, after those that were added before. */
function swoole_name_resolver_add(Swoole\NameResolver $ns): bool
{
    SwooleLibrary::$resolvers[] = $ns;
    return true;
}

function swoole_name_resolver_remove(Swoole\NameResolver $ns): bool
{
    $at = array_search($ns, SwooleLibrary::$resolvers, true);
    if ($at === false) {
        return false;
    }
    array_splice(SwooleLibrary::$resolvers, $at, 1);
    return true;
}

/** An address for the name, or ''. Called again with the same context, the next node of a service that has several. */
function swoole_name_resolver_lookup(string $name, Swoole\NameResolver\Context $ctx): string
{
    $node = $ctx->untried?->pop() ?: null;
    foreach ($node === null ? SwooleLibrary::$resolvers : [] as $resolver) {
        $ctx->untried = null;
        $found = $resolver->lookup($name);
        if (is_string($found)) {
            return $found;
        }
        if ($found instanceof Swoole\NameResolver\Cluster) {
            $ctx->untried = $found;
            $found = $found->pop();
        }
        if (is_array($found)) {
            $node = $found;
            break;
        }
    }
    if ($node !== null) {
        return $ctx->withPort ? "{$node['host']}:{$node['port']}" : $node['host'];
    }
    if (Swoole\Coroutine::getCid() > 0) {
        return Swoole\Coroutine\System::gethostbyname($name, $ctx->family) ?: '';
    }
    $address = gethostbyname($name);
    return filter_var($address, FILTER_VALIDATE_IP) === false ? '' : $address;
}

/** A coroutine that sleeps $count times. */
function swoole_test_kernel_coroutine(int $count = 100, float $sleep_time = 1.0): void
{
    Apus\go(static function () use ($count, $sleep_time): void {
        for ($done = 0; $done < $count; $done++) {
            Apus\Coroutine::sleep($sleep_time);
        }
    });
}
