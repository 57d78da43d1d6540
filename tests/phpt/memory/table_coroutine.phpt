--TEST--
Table: in coroutines, loads let others run, and save(), restore() and buildIndexes() wait beside them
--FILE--
<?php
use Apus\{ColumnTable, Coroutine, TableException};
use function Apus\Coroutine\run;
use function Apus\go;

$file = __DIR__ . '/table_coroutine.tmp';
$t = new ColumnTable(200000);
$t->column('a', ColumnTable::TYPE_UINT32);
$t->column('text', ColumnTable::TYPE_STRING, 20);
$t->index('a', 'a');
$t->create();
$out = fopen($file, 'w');
fwrite($out, '{"rows":[');
for ($i = 0; $i < 60000; $i++) {
    fwrite($out, ($i ? ',' : '') . "{\"id\":$i,\"a\":$i,\"text\":\"row number $i\"}");
}
fwrite($out, ']}');
fclose($out);

run(function () use ($t, $file) {
    $turns = 0;
    $on = true;
    go(function () use (&$turns, &$on) {
        while ($on) {
            $turns++;
            Coroutine::sleep(0);
        }
    });
    var_dump($t->loadJson($file, 'rows'), $turns > 1);

    // go() comes back when its coroutine waits, so what follows it runs before the job has ended.
    $beside = function (string $what, callable $job) {
        $done = null;
        $id = go(function () use ($job, &$done) {
            try {
                $done = $job();
            } catch (TableException $e) {
                $done = $e->getCode() === TableException::FILE ? 'refused' : $e->getMessage();
            }
            $done ??= 'nothing';
        });
        echo $what, $done === null ? ' lets others run' : ' blocks', "\n";
        Coroutine::join([$id]);
        return $done;
    };
    var_dump($beside('save', fn() => $t->save("$file.snapshot")) === filesize("$file.snapshot"));
    $t->clear();
    var_dump($beside('restore', fn() => $t->restore("$file.snapshot")), count($t), $t->find('a', 59999));
    $t->deferIndexes();
    var_dump($beside('buildIndexes', fn() => $t->buildIndexes()), $t->find('a', 59999));
    var_dump($beside('a failing restore', fn() => $t->restore($file)), count($t));
    // Cancelled, save() goes on.
    $id = go(function () use ($t, $file) {
        var_dump($t->save("$file.late"));
    });
    Coroutine::cancel($id);
    Coroutine::join([$id]);

    // The callback of a load may wait itself.
    $t->clear();
    $waited = 0;
    var_dump($t->loadJson($file, 'rows', function () use (&$waited) {
        Coroutine::sleep(0.001);
        $waited++;
    }), $waited > 0);

    // Cancelled: what was loaded stays.
    $t->clear();
    $loaded = null;
    $id = go(function () use ($t, $file, &$loaded) {
        $loaded = $t->loadJson($file, 'rows', fn() => Coroutine::sleep(10));
    });
    Coroutine::cancel($id);
    Coroutine::join([$id]);
    var_dump($loaded < 60000, $loaded <= count($t));
    $on = false;
});
?>
--CLEAN--
<?php
array_map('unlink', glob(__DIR__ . '/table_coroutine.tmp*'));
?>
--EXPECT--
int(60000)
bool(true)
save lets others run
bool(true)
restore lets others run
int(60000)
int(60000)
array(1) {
  [0]=>
  int(59999)
}
buildIndexes lets others run
string(7) "nothing"
array(1) {
  [0]=>
  int(59999)
}
a failing restore lets others run
string(7) "refused"
int(60000)
int(0)
int(60000)
bool(true)
bool(true)
bool(true)
