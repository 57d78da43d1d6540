--TEST--
Lock: types, operations, both forms of the interface, errors
--FILE--
<?php
use Apus\Lock;

echo json_encode([Lock::RWLOCK, Lock::FILELOCK, Lock::MUTEX, Lock::SEM, Lock::SPINLOCK]), "\n";
echo json_encode([Apus\RWLOCK, Apus\FILELOCK, Apus\MUTEX, Apus\SEM, Apus\SPINLOCK]), "\n";
$file = tempnam(sys_get_temp_dir(), 'apus-lock');
foreach (['MUTEX', 'RWLOCK', 'SPINLOCK', 'SEM', 'FILELOCK'] as $name) {
    $type = constant("Apus\\$name");
    $lock = $type === Apus\FILELOCK ? new Lock($type, $file) : new Lock($type);
    echo "$name:\n";
    $show = fn(bool $done) => ($done ? 'yes' : 'no') . " {$lock->errCode}";
    echo 'alone: ', implode(', ', [
        $show($lock->lock()), $show($lock->trylock()), $show($lock->trylock_read()), $show(
            $lock->lock(LOCK_EX | LOCK_NB),
        ),
        $show(
            $lock->lock(LOCK_SH | LOCK_NB),
        ), $show($lock->lock(LOCK_EX, 0)), $show($lock->lockwait(0.001)), $show($lock->lock(LOCK_EX, 0.001)),
        $show($lock->unlock()), $show($lock->unlock()),
    ]), "\n";
    echo 'shared: ', implode(', ', [
        $show($lock->lock_read()), $show(
            $lock->trylock_read(),
        ), $show($lock->trylock()), $show($lock->unlock()), $show($lock->unlock()), $show($lock->unlock()),
        $show($lock->lock(LOCK_SH)), $show($lock->unlock()), $show($lock->trylock()), $show($lock->unlock()),
    ]), ' ', json_encode($lock->recovered()), "\n";
}
echo "errors:\n";
$lock = new Lock();
$lock->destroy();
$lock->destroy();
$wrongs = [
    fn() => $lock->lock(), fn() => $lock->unlock(), fn() => new Lock(0), fn() => new Lock(6), fn() =>
        new Lock(Lock::FILELOCK),
    fn() => new Lock(Lock::FILELOCK, '/nowhere/at/all'), fn() => (new Lock())->lock(16), fn() => (new Lock())->lock(LOCK_UN),
];
foreach ($wrongs as $wrong) {
    try {
        $wrong();
    } catch (Throwable $error) {
        echo get_class($error), ' ', $error->getCode(), ': ', $error->getMessage(), "\n";
    }
}

echo "with flock():\n";
$lock = new Lock(Lock::FILELOCK, $file);
$stream = fopen($file, 'r');
var_dump(
    flock($stream, LOCK_SH),
    $lock->lock_read(),
    $lock->unlock(),
    $lock->trylock(),
    $lock->errCode,
    $lock->lockwait(0.003),
    $lock->errCode,
);
flock($stream, LOCK_UN);
var_dump($lock->lock(), flock($stream, LOCK_SH | LOCK_NB), $lock->unlock(), flock($stream, LOCK_SH | LOCK_NB));
unset($lock, $stream);
unlink($file);
?>
--EXPECT--
[1,2,3,4,5]
[1,2,3,4,5]
MUTEX:
alone: yes 0, no 16, no 16, no 16, no 16, no 16, no 35, no 35, yes 0, no 1
shared: yes 0, no 16, no 16, yes 0, no 1, no 1, yes 0, yes 0, yes 0, yes 0 false
RWLOCK:
alone: yes 0, no 16, no 16, no 16, no 16, no 16, no 35, no 35, yes 0, no 1
shared: yes 0, yes 0, no 16, yes 0, yes 0, no 1, yes 0, yes 0, yes 0, yes 0 false
SPINLOCK:
alone: yes 0, no 16, no 16, no 16, no 16, no 16, no 35, no 35, yes 0, no 1
shared: yes 0, no 16, no 16, yes 0, no 1, no 1, yes 0, yes 0, yes 0, yes 0 false
SEM:
alone: yes 0, no 16, no 16, no 16, no 16, no 16, no 110, no 110, yes 0, no 1
shared: yes 0, no 16, no 16, yes 0, no 1, no 1, yes 0, yes 0, yes 0, yes 0 false
FILELOCK:
alone: yes 0, no 16, no 16, no 16, no 16, no 16, no 35, no 35, yes 0, no 1
shared: yes 0, yes 0, no 16, yes 0, yes 0, no 1, yes 0, yes 0, yes 0, yes 0 false
errors:
Error 0: the lock was destroyed: destroy() was called
Error 0: the lock was destroyed: destroy() was called
ValueError 0: Apus\Lock::__construct(): Argument #1 ($type) must be Apus\Lock::MUTEX, RWLOCK, SPINLOCK, SEM or FILELOCK, 0 given
ValueError 0: Apus\Lock::__construct(): Argument #1 ($type) must be Apus\Lock::MUTEX, RWLOCK, SPINLOCK, SEM or FILELOCK, 6 given
ValueError 0: Apus\Lock::__construct(): Argument #2 ($filename) must be the path of a file for a FILELOCK
Apus\LockException 581: the file /nowhere/at/all of the lock cannot be opened: No such file or directory (os error 2)
ValueError 0: Apus\Lock::lock(): Argument #1 ($operation) must be LOCK_EX or LOCK_SH, or one of these | LOCK_NB
ValueError 0: Apus\Lock::lock(): Argument #1 ($operation) must be LOCK_EX or LOCK_SH, or one of these | LOCK_NB
with flock():
bool(true)
bool(true)
bool(true)
bool(false)
int(16)
bool(false)
int(110)
bool(true)
bool(false)
bool(true)
bool(true)
