<?php

namespace Apus;

/**
 * A lock between processes, and between the coroutines of each: created before the server starts, it is the same in
 * every worker. In a coroutine only that coroutine waits for it; outside, the process does, and signal handlers run
 * meanwhile. It is held by a process: any code of that process may unlock(). When a process ends, even by SIGKILL, its
 * locks are free; the next one to lock gets true, with $errCode 130 (EOWNERDEAD) and recovered() true if it was held
 * exclusively: what the lock guards may be half-changed. Of several waiting processes, any may get it; a waiter for
 * exclusive use goes before new sharers.
 * @rust static CLASS
 * @rust slots
 */
class Lock
{
    // @rust typed

    /**
     * Type of an Apus\Lock: one holds it.
     * @rust MUTEX
     */
    public const MUTEX = 3;

    /**
     * Type of an Apus\Lock: one holds it (LOCK_EX), or many share it (LOCK_SH).
     * @rust RWLOCK
     */
    public const RWLOCK = 1;

    /**
     * Type of an Apus\Lock: as MUTEX, for very short critical sections: spins before it waits.
     * @rust SPINLOCK
     */
    public const SPINLOCK = 5;

    /**
     * Type of an Apus\Lock: as MUTEX, but any process may unlock it.
     * @rust SEM
     */
    public const SEM = 4;

    /**
     * Type of an Apus\Lock: as RWLOCK, and against other programs that flock() the same file, too.
     * @rust FILELOCK
     */
    public const FILELOCK = 2;

    /**
     * How the last operation ended: 0, or an errno: EOWNERDEAD (130; acquired, and the last holder died with it), EBUSY
     * (16), ETIMEDOUT (110), ECANCELED (125), EDEADLK (35: the calling code itself holds it), EPERM (1: unlock() of a
     * lock that this process does not hold).
     */
    public $errCode = 0;

    /**
     * @param int $type Apus\Lock::MUTEX, RWLOCK, SPINLOCK, SEM or FILELOCK
     * @param string $filename of a FILELOCK: created if it does not exist
     * @throws \ValueError for another type, or a FILELOCK without a file
     * @throws \Apus\LockException FILE when it cannot be opened
     * @throws \Error when the system provides no shared memory
     */
    public function __construct(int $type = 3, string $filename = '') {}

    /**
     * Locks.
     * @param int $operation LOCK_EX, or LOCK_SH to share an RWLOCK or FILELOCK with other sharers; | LOCK_NB for no
     * waiting
     * @param float $timeout seconds; negative for no limit, 0 for no waiting
     * @throws \ValueError for another operation
     * @return bool false when it was not acquired: see $errCode
     * @throws \Error when destroy() was called, or the system provides no descriptor to wait with
     * @throws \Apus\LockException FILE when the file of a FILELOCK cannot be locked
     * @throws \Apus\Coroutine\Exception CANNOT_SWITCH
     * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
     * Waits while it is not free.
     */
    public function lock(int $operation = 2, float $timeout = -1): bool {}

    /**
     * The same as lock(LOCK_EX | LOCK_NB).
     * @return bool false when it was not acquired: see $errCode
     * @throws \Error when destroy() was called, or the system provides no descriptor to wait with
     * @throws \Apus\LockException FILE when the file of a FILELOCK cannot be locked
     * Does not wait.
     * @rust try_lock
     */
    public function trylock(): bool {}

    /**
     * The same as lock(LOCK_SH).
     * @return bool false when it was not acquired: see $errCode
     * @throws \Error when destroy() was called, or the system provides no descriptor to wait with
     * @throws \Apus\LockException FILE when the file of a FILELOCK cannot be locked
     * @throws \Apus\Coroutine\Exception CANNOT_SWITCH
     * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
     * Waits while it is not free.
     */
    public function lock_read(): bool {}

    /**
     * The same as lock(LOCK_SH | LOCK_NB).
     * @return bool false when it was not acquired: see $errCode
     * @throws \Error when destroy() was called, or the system provides no descriptor to wait with
     * @throws \Apus\LockException FILE when the file of a FILELOCK cannot be locked
     * Does not wait.
     * @rust try_lock_read
     */
    public function trylock_read(): bool {}

    /**
     * The same as lock(LOCK_EX, $timeout).
     * @param float $timeout seconds; negative for no limit, 0 for no waiting
     * @return bool false when it was not acquired: see $errCode
     * @throws \Error when destroy() was called, or the system provides no descriptor to wait with
     * @throws \Apus\LockException FILE when the file of a FILELOCK cannot be locked
     * @throws \Apus\Coroutine\Exception CANNOT_SWITCH
     * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
     * Waits while it is not free.
     * @rust lock_wait
     */
    public function lockwait(float $timeout = 1): bool {}

    /**
     * Unlocks once what this process holds, whichever of its coroutines locked it; a SEM whichever process holds it.
     * @return bool false when there is nothing to unlock: $errCode is 1 (EPERM)
     * @throws \Error when destroy() was called
     * Does not wait.
     */
    public function unlock(): bool {}

    /**
     * Whether a process had died as the exclusive holder before the last successful lock of this process: then check
     * whether what it guards is intact. Sharers are told until one locks it exclusively.
     * Does not wait.
     */
    public function recovered(): bool {}

    /**
     * Releases the lock object in this process, unlocked; others go on using it. Otherwise that happens when the object
     * is freed.
     * Does not wait.
     */
    public function destroy(): void {}
}
