<?php
// Beside a table of visits that is there, with files to load.
$visits = new Apus\ColumnTable(1_000);
foreach ([
    'user' => Apus\ColumnTable::TYPE_UINT32,
    'visited_at' => Apus\ColumnTable::TYPE_INT32,
    'mark' => Apus\ColumnTable::TYPE_UINT8,
] as $name => $type) {
    $visits->column($name, $type);
}
$visits->index('of_user', ['user', 'visited_at']);
$visits->create();
file_put_contents('/data/visits_1.json', '{"visits": [{"id": 1, "user": 7, "visited_at": 100, "mark": 5}]}');
file_put_contents('/data/visits_2.csv', "id,user,visited_at,mark\n2,7,200,4\n");
[$table, $path, $from, $to] = [$visits, '/var/lib/app/visits.snapshot', 50, 150];
// the sample
