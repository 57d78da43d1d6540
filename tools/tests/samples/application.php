<?php

declare(strict_types=1);

// The application that the documents' fragments are taken from: functions that do little, and a database in a file.

use Apus\Coroutine;

function first(): int
{
    Coroutine::sleep(0.001);
    return 1;
}

function second(): int
{
    return 2;
}

function work(): void
{
    Coroutine::sleep(0.001);
}

function audit(string $what): void
{
}

function compute(): int
{
    return 42;
}

function refreshCache(): void
{
}

function writeLog(): void
{
}

function resize(string $path): string
{
    return "small-$path";
}

function knows(string $session): bool
{
    return $session === 'known';
}

function render(string $path): string
{
    return "<h1>$path</h1>";
}

function expensive(int $row): int
{
    return $row * $row;
}

function rebuild_what_it_guards(): void
{
}

final class Order
{
    public int $id = 7;
}

function database(): Apus\Database\PDOConfig
{
    $file = sys_get_temp_dir() . '/apus-sample-' . getmypid() . '.sqlite';
    register_shutdown_function(static fn () => @unlink($file));
    $pdo = new PDO("sqlite:$file");
    $pdo->exec('CREATE TABLE IF NOT EXISTS goods (id INTEGER PRIMARY KEY, name TEXT, price INTEGER)');
    $pdo->exec("INSERT INTO goods (name, price) VALUES ('milk', 2)");
    return (new Apus\Database\PDOConfig())->withDriver('sqlite')->withDbname($file);
}
