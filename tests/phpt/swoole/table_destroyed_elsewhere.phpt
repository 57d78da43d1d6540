--TEST--
Swoole\Table: what one process destroys no other finds any more; under the names of Apus it is its own
--INI--
apus.swoole_compat=1
--FILE--
<?php
foreach (['Swoole\\Table', 'Apus\\Table'] as $class) {
    $table = new $class(8);
    $table->column('id', $class::TYPE_INT);
    $table->create();
    $table->set('row', ['id' => 7]);
    $gone = new Swoole\Atomic(0);
    $process = new Swoole\Process(function () use ($table, $gone) {
        while ($gone->get() === 0) {
            usleep(1000);
        }
        try {
            var_dump($table->get('row')['id']);
        } catch (Error $error) {
            echo get_class($error), ': ', $error->getMessage(), "\n";
        }
    });
    $process->start();
    var_dump($table->destroy());
    $gone->set(1);
    Swoole\Process::wait();
}
?>
--EXPECT--
bool(true)
Error: table is not created or has been destroyed
bool(true)
int(7)
