<?php

declare(strict_types=1);

namespace Bench;

/** In memory; each process has a copy of its own after the fork. */
final class Sqlite extends Local
{
    private \PDO $database;
    private \PDOStatement $read;
    private \PDOStatement $update;

    public function load(string $file, int $count): void
    {
        $this->database = new \PDO('sqlite::memory:');
        $this->database->exec('CREATE TABLE visits (id INTEGER PRIMARY KEY, location INTEGER, user INTEGER, visited_at INTEGER, mark INTEGER)');
        $insert = $this->database->prepare('INSERT INTO visits VALUES (?, ?, ?, ?, ?)');
        $this->database->beginTransaction();
        foreach ($this->lines($file) as $visit) {
            $insert->execute(array_map('intval', $visit));
        }
        $this->database->commit();
        $this->read = $this->database->prepare('SELECT location, user, visited_at, mark FROM visits WHERE id = ?');
        $this->update = $this->database->prepare('UPDATE visits SET mark = ? WHERE id = ?');
    }

    public function read(int $id): int
    {
        $this->read->execute([$id]);
        [$location, $user, $at, $mark] = $this->read->fetch(\PDO::FETCH_NUM);
        $this->read->closeCursor();
        return $mark;
    }

    public function update(int $id, int $mark): void
    {
        $this->update->execute([$mark, $id]);
    }
}
