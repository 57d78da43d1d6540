<?php

declare(strict_types=1);

namespace Apus\Travel;

use Apus\ColumnTable;
use Apus\Lock;

/** The three tables, which all processes share. They are made before any process is forked. */
final class Store
{
    /** A table's kinds in the order in which they are loaded and kept. */
    public const KINDS = ['users', 'locations', 'visits'];
    public const LONGEST_PLACE = 65_535;
    /** Characters have at most four bytes in UTF-8. */
    private const EMAIL_BYTES = 4 * 100;
    private const NAME_BYTES = 4 * 50;

    public readonly ColumnTable $users;
    public readonly ColumnTable $locations;
    public readonly ColumnTable $visits;
    /** Held while an e-mail address is looked up and written: two workers must not give it to two users. */
    private readonly Lock $emails;
    /** The time of the data, Unix seconds: ages are counted back from it. */
    public int $now = 0;

    /** @param int $maxId greatest id there may be; memory is taken for those that are used */
    public function __construct(public readonly int $maxId)
    {
        $this->users = new ColumnTable($maxId);
        $this->users->column('email', ColumnTable::TYPE_STRING, self::EMAIL_BYTES);
        $this->users->column('first_name', ColumnTable::TYPE_STRING, self::NAME_BYTES);
        $this->users->column('last_name', ColumnTable::TYPE_STRING, self::NAME_BYTES);
        $this->users->column('gender', ColumnTable::TYPE_DICTIONARY, 1);
        $this->users->column('birth_date', ColumnTable::TYPE_INT32);
        $this->users->index('email', 'email');

        $this->locations = new ColumnTable($maxId);
        $this->locations->column('place', ColumnTable::TYPE_STRING, self::LONGEST_PLACE);
        $this->locations->column('country', ColumnTable::TYPE_STRING, self::NAME_BYTES);
        $this->locations->column('city', ColumnTable::TYPE_STRING, self::NAME_BYTES);
        $this->locations->column('distance', ColumnTable::TYPE_UINT32);

        $this->visits = new ColumnTable($maxId);
        $this->visits->column('location', ColumnTable::TYPE_UINT32);
        $this->visits->column('user', ColumnTable::TYPE_UINT32);
        $this->visits->column('visited_at', ColumnTable::TYPE_INT32);
        $this->visits->column('mark', ColumnTable::TYPE_UINT8);
        $this->visits->index('user', ['user', 'visited_at']);
        $this->visits->index('location', ['location', 'visited_at']);

        foreach (self::KINDS as $kind) {
            $this->table($kind)->create();
        }
        $this->emails = new Lock();
    }

    public function table(string $kind): ColumnTable
    {
        return match ($kind) {
            'users' => $this->users,
            'locations' => $this->locations,
            'visits' => $this->visits,
        };
    }

    /** Makes a record; false where the id, or a user's e-mail address, is taken. */
    public function insert(string $kind, int $id, array $fields): bool
    {
        return $this->write($kind, $id, $fields, static fn (ColumnTable $table): bool => $table->insert($id, $fields));
    }

    /** Changes fields of a record; false where there is no such record, or the e-mail address is another user's. */
    public function update(string $kind, int $id, array $fields): bool
    {
        return $this->write($kind, $id, $fields, static fn (ColumnTable $table): bool => $fields === [] || $table->update($id, $fields));
    }

    /** @param callable(ColumnTable): bool $change */
    private function write(string $kind, int $id, array $fields, callable $change): bool
    {
        if ($kind !== 'users' || !isset($fields['email'])) {
            return $change($this->table($kind));
        }
        $this->emails->lock();
        try {
            $owners = $this->users->find('email', $fields['email'], 1);
            return ($owners === [] || $owners[0] === $id) && $change($this->users);
        } finally {
            $this->emails->unlock();
        }
    }

    /** Empties all tables, after a snapshot of which only a part could be read. */
    public function clear(): void
    {
        foreach (self::KINDS as $kind) {
            $this->table($kind)->clear();
        }
    }

    /** How many records there are and what memory they take, for people. */
    public function counts(): string
    {
        return implode(', ', array_map(function (string $kind): string {
            $table = $this->table($kind);
            return sprintf('%s %s (%.1f MB)', number_format($table->count()), $kind, $table->getMemorySize() / 1e6);
        }, self::KINDS));
    }
}
