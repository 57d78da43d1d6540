--TEST--
Table: indexes: find, range, countRange, select, fetch, against a model
--FILE--
<?php
use Apus\{ColumnTable, Table, TableException};

mt_srand(5);
$visits = new ColumnTable(3000);
$visits->column('location', ColumnTable::TYPE_UINT32);
$visits->column('user', ColumnTable::TYPE_UINT32);
$visits->column('visited_at', ColumnTable::TYPE_INT32);
$visits->column('mark', ColumnTable::TYPE_UINT8);
$visits->index('user', ['user', 'visited_at']);
$visits->index('mark', 'mark');
$visits->create();
$model = [];
for ($i = 0; $i < 4000; $i++) {
    $id = mt_rand(0, 3000);
    if (mt_rand(0, 4) === 0) {
        $visits->del($id);
        unset($model[$id]);
    } else {
        $row = ['location' => mt_rand(), 'user' => mt_rand(1, 20), 'visited_at' => mt_rand(-50, 50), 'mark' => mt_rand(0, 5)];
        $visits->set($id, $row);
        $model[$id] = $row;
    }
}

function sorted(array $model, array $columns, callable $wanted): array
{
    $found = array_filter($model, $wanted);
    $ids = array_keys($found);
    usort($ids, function ($a, $b) use ($model, $columns) {
        foreach ($columns as $column) {
            if ($model[$a][$column] !== $model[$b][$column]) {
                return $model[$a][$column] <=> $model[$b][$column];
            }
        }
        return $a <=> $b;
    });
    return $ids;
}

function same(string $what, $got, $expected): void
{
    if ($got !== $expected) {
        echo "$what differs: ", json_encode(array_slice((array) $got, 0, 5)), ' and ', json_encode(array_slice((array) $expected, 0, 5)),
            "\n";
    }
}

same('count', count($visits), count($model));
same('all', $visits->range('user'), sorted($model, ['user', 'visited_at'], fn() => true));
same('all by mark', $visits->range('mark', null, null), sorted($model, ['mark'], fn() => true));
for ($user = 0; $user < 22; $user++) {
    $of = sorted($model, ['user', 'visited_at'], fn($row) => $row['user'] === $user);
    same("find $user", $visits->find('user', $user), $of);
    same("find [$user]", $visits->find('user', [$user]), $of);
    same("find down $user", $visits->find('user', $user, descending: true), array_reverse($of));
    same("find some $user", $visits->find('user', $user, 5, 3), array_slice($of, 3, 5));
    same("find some down $user", $visits->find('user', $user, 5, 3, true), array_slice(array_reverse($of), 3, 5));
    [$low, $high] = [mt_rand(-60, 20), mt_rand(-20, 60)];
    $in = fn($row) => $row['user'] === $user && $row['visited_at'] >= $low && $row['visited_at'] <= $high;
    $between = sorted($model, ['user', 'visited_at'], $in);
    same("range $user", $visits->range('user', [$user, $low], [$user, $high]), $between);
    same("range down $user", $visits->range('user', [$user, $low], [$user, $high], 4, 1, true), array_slice(array_reverse($between), 1, 4));
    same("count $user", $visits->countRange('user', [$user, $low], [$user, $high]), count($between));
    $inside = sorted($model, ['user', 'visited_at'], fn($row) => $row['user'] === $user && $row['visited_at'] > $low && $row['visited_at'] < $high);
    same("inside $user", $visits->range('user', [$user, $low], [$user, $high], exclusive: true), $inside);
    same("count inside $user", $visits->countRange('user', [$user, $low], [$user, $high], true), count($inside));
    $after = sorted($model, ['user', 'visited_at'], fn($row) => $row['user'] === $user && $row['visited_at'] >= $low);
    same("after $user", $visits->range('user', [$user, $low], [$user]), $after);
    same("after null $user", $visits->range('user', [$user, $low], [$user, null]), $after);
    same("after open $user", $visits->range('user', [$user, $low]), $after);
    $until = sorted($model, ['user', 'visited_at'], fn($row) => $row['user'] === $user && $row['visited_at'] <= $high);
    same("until $user", $visits->range('user', null, [$user, $high]), $until);
    same(
        "exactly $user",
        $visits->find('user', [$user, $low]),
        sorted($model, ['user', 'visited_at'], fn($row) => $row['user'] === $user && $row['visited_at'] === $low),
    );
    same("users to $user", $visits->range('user', 3, $user), sorted($model, ['user', 'visited_at'], fn($row) => $row['user'] >= 3 && $row['user'] <= $user));
    $rows = [];
    foreach ($between as $id) {
        $rows[$id] = ['mark' => $model[$id]['mark'], 'visited_at' => $model[$id]['visited_at']];
    }
    same("select $user", $visits->select('user', [$user, $low], [$user, $high], ['mark', 'visited_at']), $rows);
    same("select some $user", $visits->select('user', [$user, $low], [$user, $high], ['mark', 'visited_at'], 3, 2), array_slice($rows, 2, 3, true));
}
same(
    'select all',
    $visits->select('mark', 5),
    array_replace(
        array_flip($fives = sorted($model, ['mark'], fn($row) => $row['mark'] === 5)),
        array_intersect_key($model, array_flip($fives)),
    ),
);
same(
    'none',
    [
        $visits->find('user', 7, 0),
        $visits->find('user', 7, 5, 1000000),
        $visits->range('user', 10, 5),
        $visits->countRange('user', 10, 5),
    ],
    [[], [], [], 0],
);

$some = [5, 3000, 17, 2, 99999, 17];
$expected = [];
foreach ($some as $id) {
    if (isset($model[$id])) {
        $expected[$id] = $model[$id];
    }
}
same('fetch', $visits->fetch($some), $expected);
same('fetch columns', $visits->fetch($some, ['mark']), array_map(fn($row) => ['mark' => $row['mark']], $expected));

echo "-- texts\n";
$users = new Table(2000);
$users->column('email', Table::TYPE_STRING, 100);
$users->column('country', Table::TYPE_DICTIONARY, 50);
$users->column('weight', Table::TYPE_FLOAT);
$users->index('email', 'email');
$users->index('country', ['country', 'email']);
$users->index('weight', 'weight');
$users->create();
$countries = ['Норвегия', 'Chad', 'Chile', '', 'China'];
for ($i = 0; $i < 1000; $i++) {
    // Texts that differ behind their first 16 bytes only.
    $users->set("u$i", ['email' => 'someone.with.a.long.name.' . ($i * 7 % 1000), 'country' => $countries[$i % 5], 'weight' => ($i - 500) / 3]);
}
foreach ([0, 7, 999] as $i) {
    same("email $i", $users->find('email', 'someone.with.a.long.name.' . ($i * 7 % 1000), 1), ["u$i"]);
}
same('no email', $users->find('email', 'someone.with.a.long.name.'), []);
$of = array_filter(range(0, 999), fn($i) => $i % 5 === 2);
usort($of, fn($a, $b) => strcmp($a * 7 % 1000, $b * 7 % 1000));
same('country', $users->find('country', 'Chile'), array_map(fn($i) => "u$i", $of));
same('countries', $users->countRange('country', 'Chad', 'China'), 600);
$fives = array_filter($of, fn($i) => str_starts_with($n = (string) ($i * 7 % 1000), '5') || $n === '6');
same('prefix', $users->countRange('country', ['Chile', 'someone.with.a.long.name.5'], ['Chile', 'someone.with.a.long.name.6']), count($fives));
same('weights', $users->range('weight', -0.5, 0.5), ['u499', 'u500', 'u501']);
same('heaviest', $users->range('weight', null, null, 2, 0, true), ['u999', 'u998']);
same('select text keys', $users->select('weight', 0, 0, ['country']), ['u500' => ['country' => 'Норвегия']]);
$users->set('12', ['email' => 'twelve']);
same('fetch keys', $users->fetch([12, 'u1', 'nobody'], ['email']), [12 => ['email' => 'twelve'], 'u1' => ['email' => 'someone.with.a.long.name.7']]);

echo "-- errors\n";
foreach ([
    fn() => $visits->find('nothing', 1),
    fn() => $visits->find('user', [1, 2, 3]),
    fn() => $visits->find('mark', [1, 2]),
    fn() => $visits->find('user', 'abc'),
    fn() => $visits->find('user', 1, -1),
    fn() => $visits->find('user', 1, 1, -1),
    fn() => $visits->range('user', [1, 5], [2, 5]),
    fn() => $visits->range('user', [1, 2, 3], null),
    fn() => $visits->select('user', 1, 1, ['nothing']),
    fn() => $visits->select('user', 1, 1, []),
    fn() => $visits->fetch([1], [7]),
    fn() => $visits->fetch(['a']),
    fn() => $users->fetch([[]]),
] as $try) {
    try {
        var_dump($try());
    } catch (TableException $e) {
        echo $e->getCode(), ' ', $e->getMessage(), "\n";
    } catch (Error $e) {
        echo get_class($e), ' ', $e->getMessage(), "\n";
    }
}
?>
--EXPECT--
-- texts
-- errors
504 the table has no index "nothing"; it has: user, mark
ValueError Apus\ColumnTable::find(): Argument #2 ($value) must hold no more values than the index has columns (2); 3 given
ValueError Apus\ColumnTable::find(): Argument #2 ($value) must hold no more values than the index has columns (1); 2 given
506 column "user" holds integers, not "abc": convert it with (int)
ValueError Apus\ColumnTable::find(): Argument #3 ($limit) must be 0 or more, -1 given
ValueError Apus\ColumnTable::find(): Argument #4 ($offset) must be 0 or more, -1 given
ValueError Apus\ColumnTable::range(): Argument #3 ($to) must have the same value of the first column as $from: the rows of several are asked for one by one
ValueError Apus\ColumnTable::range(): Argument #2 ($from) must hold no more values than the index has columns (2); 3 given
504 the table has no column "nothing"; it has: location, user, visited_at, mark
ValueError Apus\ColumnTable::select(): Argument #4 ($columns) must name at least one column, or be null for all
TypeError Apus\ColumnTable::fetch(): Argument #2 ($columns) must hold names only: a string, or an array of strings
503 fetch() takes ids: integers, but a text is among them
503 fetch() takes a list of keys, but something else is among them
