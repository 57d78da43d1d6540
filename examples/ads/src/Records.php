<?php

declare(strict_types=1);

namespace Apus\Ads;

use Apus\Http\Request;

/** Rows of a table that are made, listed, read and changed: advertisers, campaigns, creatives. */
abstract readonly class Records
{
    private const MOST = 200;

    public function __construct(protected Database $database) {}

    /** What the table is called, and what the field that names the row above is called. */
    abstract protected function table(): string;

    protected function parent(): string
    {
        return '';
    }

    /** @return array<string, mixed> columns by name, as the input gives them */
    abstract protected function read(Input $input): array;

    /** @param array<string, mixed> $given what the path gives */
    public function create(Request $request, array $given = []): Answer
    {
        $input = new Input(Input::object($request));
        $row = $this->read($input) + $given;
        $input->check();
        $columns = implode(', ', array_keys($row));
        $places = implode(', ', array_fill(0, count($row), '?'));
        $id = $this->database->insert("INSERT INTO {$this->table()} ($columns) VALUES ($places)", array_values($row), $this->parent());
        return new Answer(201, $this->one($id)->data, ['Location' => "/v1/{$this->table()}/$id"]);
    }

    /** @param array<string, ?int> $where values that columns have; null for any */
    public function list(Request $request, array $where = []): Answer
    {
        $query = $request->get ?? [];
        $limit = self::number($query, 'limit', 50, 1, self::MOST);
        $after = self::number($query, 'after', 0, 0, 4_294_967_295);
        $where = array_filter($where, is_int(...));
        $conditions = implode('', array_map(static fn (string $column): string => " AND $column = ?", array_keys($where)));
        $rows = $this->database->rows(
            "SELECT * FROM {$this->table()} WHERE id > ?$conditions ORDER BY id LIMIT ?",
            [$after, ...array_values($where), $limit],
        );
        $last = count($rows) === $limit ? $rows[$limit - 1]['id'] : null;
        return new Answer(200, [$this->table() => $rows, 'after' => $last]);
    }

    public function one(int $id): Answer
    {
        return new Answer(200, $this->database->row("SELECT * FROM {$this->table()} WHERE id = ?", [$id]) ?? throw $this->nowhere());
    }

    public function change(Request $request, int $id): Answer
    {
        $input = new Input(Input::object($request), false);
        $row = array_filter($this->read($input), static fn (mixed $value): bool => $value !== null);
        $input->check();
        if ($row !== []) {
            $columns = implode(', ', array_map(static fn (string $column): string => "$column = ?", array_keys($row)));
            $this->database->insert("UPDATE {$this->table()} SET $columns WHERE id = ?", [...array_values($row), $id], $this->parent());
        }
        return $this->one($id);
    }

    /** @param array<string, mixed> $query */
    public static function number(array $query, string $name, ?int $default, int $least, int $most): ?int
    {
        if (!isset($query[$name])) {
            return $default;
        }
        $value = filter_var($query[$name], FILTER_VALIDATE_INT, ['options' => ['min_range' => $least, 'max_range' => $most]]);
        return $value === false ? throw new Refusal(422, 'the request is not valid', [$name => "must be an integer from $least to $most"]) : $value;
    }

    private function nowhere(): Refusal
    {
        return new Refusal(404, "not found in {$this->table()}");
    }
}
