//! Who waits: tasks in queues and in the clock, reports in inboxes, workers that have nothing to do. All of it follows
//! from the tags.

use super::store::{Line, Store, Tag};

/// Priorities: one queue for each that all task workers take from, and one of each for each task worker.
pub(super) const PRIORITIES: usize = 3;

/// The queue of a priority (0 first), of all task workers or of one.
pub(super) fn queue_of(priority: usize, worker: Option<usize>) -> usize {
    worker.map_or(0, |worker| (worker + 1) * PRIORITIES) + priority.min(PRIORITIES - 1)
}

/// The task worker that a queue belongs to.
pub(super) fn worker_of(queue: usize) -> Option<usize> {
    (queue / PRIORITIES).checked_sub(1)
}

/// Makes all lines anew.
pub(super) fn rebuild(store: &Store) {
    let head = store.head();
    for line in (0..store.queues).map(|queue| store.queue(queue)).chain((0..store.slots).map(|slot| store.inbox(slot)))
    {
        line.first.set(0);
        line.last.set(0);
    }
    for word in [&head.waiting, &head.running, &head.clock, &head.idle, &head.keeper, &head.interested] {
        word.set(0);
    }
    // All are about to look again, whatever they registered for.
    (0..store.slots).for_each(|slot| store.place(slot).interest.set(0));
    let mut chains: Vec<(u64, u32, Tag)> =
        store.chains().map(|(block, tag)| (store.entry(block).order.get(), block, tag)).collect();
    chains.sort_unstable_by_key(|(order, block, _)| (*order, *block));
    for (_, block, tag) in chains {
        match tag {
            Tag::Queued(queue) if (queue as usize) < store.queues => {
                append(store, store.queue(queue as usize), block);
                head.waiting.add(1);
            }
            Tag::Report(slot) if (slot as usize) < store.slots => append(store, store.inbox(slot as usize), block),
            Tag::Delayed => set_clock(store, block),
            Tag::Taken(_) => head.running.add(1),
            _ => {}
        }
    }
}

pub(super) fn append(store: &Store, line: &Line, block: u32) {
    let (entry, last) = (store.entry(block), line.last.get());
    entry.after.set(0);
    entry.before.set(last);
    if last == 0 {
        line.first.set(block);
    } else {
        store.entry(last).after.set(block);
    }
    line.last.set(block);
}

pub(super) fn unlink(store: &Store, line: &Line, block: u32) {
    let (before, after) = (store.entry(block).before.get(), store.entry(block).after.get());
    if before == 0 {
        line.first.set(after);
    } else {
        store.entry(before).after.set(after);
    }
    if after == 0 {
        line.last.set(before);
    } else {
        store.entry(after).before.set(before);
    }
}

/// Puts a task with its time into the clock.
pub(super) fn set_clock(store: &Store, block: u32) {
    let head = store.head();
    head.clock.add(1);
    put(store, head.clock.get(), block);
    rise(store, head.clock.get());
}

/// Takes it out.
pub(super) fn unset_clock(store: &Store, block: u32) {
    let (head, at) = (store.head(), store.entry(block).clock_at.get());
    let (last, count) = (store.clock()[head.clock.get() as usize].get(), head.clock.get());
    head.clock.set(count - 1);
    store.entry(block).clock_at.set(0);
    if at != count {
        put(store, at, last);
        rise(store, at);
        sink(store, at);
    }
}

/// The task that is due first.
pub(super) fn first_due(store: &Store) -> Option<u32> {
    (store.head().clock.get() > 0).then(|| store.clock()[1].get())
}

fn put(store: &Store, at: u32, block: u32) {
    store.clock()[at as usize].set(block);
    store.entry(block).clock_at.set(at);
}

fn due(store: &Store, at: u32) -> (u64, u64) {
    let entry = store.entry(store.clock()[at as usize].get());
    (entry.due.get(), entry.id.get())
}

fn swap(store: &Store, a: u32, b: u32) {
    let (left, right) = (store.clock()[a as usize].get(), store.clock()[b as usize].get());
    put(store, a, right);
    put(store, b, left);
}

fn rise(store: &Store, mut at: u32) {
    while at > 1 && due(store, at) < due(store, at / 2) {
        swap(store, at, at / 2);
        at /= 2;
    }
}

fn sink(store: &Store, mut at: u32) {
    let count = store.head().clock.get();
    while let Some(least) =
        [2 * at, 2 * at + 1].into_iter().filter(|child| *child <= count).min_by_key(|c| due(store, *c))
    {
        if due(store, at) <= due(store, least) {
            return;
        }
        swap(store, at, least);
        at = least;
    }
}

/// A worker has nothing to do.
pub(super) fn rest(store: &Store, slot: usize, worker: usize) {
    let idle = &store.head().idle;
    store.place(slot).worker.set(worker as u32);
    store.idle()[idle.get() as usize].set(slot as u32);
    idle.add(1);
}

/// It has, or leaves.
pub(super) fn rouse(store: &Store, slot: usize) {
    let (head, idle) = (store.head(), store.idle());
    let count = head.idle.get() as usize;
    let Some(at) = idle[..count].iter().position(|word| word.get() == slot as u32) else { return };
    (at + 1..count).for_each(|next| idle[next - 1].set(idle[next].get()));
    head.idle.set(count as u32 - 1);
    if head.keeper.get() == slot as u32 + 1 {
        head.keeper.set(0);
    }
}

/// The idle worker that is to take from a queue: the one that ran last, whose caches are warm, and the keeper of the
/// clock after all others.
pub(super) fn rested(store: &Store, queue: usize) -> Option<usize> {
    let (head, worker) = (store.head(), worker_of(queue));
    let keeper = head.keeper.get();
    let slots = store.idle()[..head.idle.get() as usize].iter().map(|word| word.get() as usize);
    let fits = |slot: &usize| worker.is_none_or(|worker| store.place(*slot).worker.get() as usize == worker);
    slots.rev().filter(fits).min_by_key(|slot| *slot as u32 + 1 == keeper)
}

#[cfg(test)]
mod tests {
    use super::super::store::Pool;
    use super::*;

    fn store() -> Store {
        Store::new(1 << 20, 4, 6).unwrap()
    }

    fn chain(store: &Store, id: u64, due: u64) -> u32 {
        let block = store.allocate(Pool::Tasks, 0).unwrap();
        store.entry(block).id.set(id);
        store.entry(block).due.set(due);
        store.entry(block).order.set(id);
        block
    }

    #[test]
    fn the_clock_gives_the_first_due_whatever_is_taken_out() {
        let store = store();
        let mut random = 7u64;
        let mut dues = Vec::new();
        for id in 0..500 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let block = chain(&store, id, random >> 50);
            store.set_tag(block, Tag::Delayed);
            set_clock(&store, block);
            dues.push((random >> 50, block));
        }
        for (_, block) in dues.split_off(300) {
            unset_clock(&store, block);
            store.release(block);
        }
        rebuild(&store);
        dues.sort_unstable();
        for (due, _) in dues {
            let first = first_due(&store).unwrap();
            assert_eq!(store.entry(first).due.get(), due);
            unset_clock(&store, first);
        }
        assert_eq!(first_due(&store), None);
    }

    #[test]
    fn lines_keep_their_order_through_a_rebuild() {
        let store = store();
        let blocks: Vec<u32> = (1..=5).map(|id| chain(&store, id, 0)).collect();
        let line = store.queue(2);
        for block in &blocks {
            append(&store, line, *block);
            store.set_tag(*block, Tag::Queued(2));
        }
        for gone in [blocks[0], blocks[2], blocks[4]] {
            unlink(&store, line, gone);
            store.release(gone);
        }
        rebuild(&store);
        assert_eq!((line.first.get(), line.last.get()), (blocks[1], blocks[3]));
        assert_eq!(store.entry(blocks[1]).after.get(), blocks[3]);
        assert_eq!(store.head().waiting.get(), 2);
    }

    #[test]
    fn who_ran_last_is_called_and_the_keeper_after_all_others() {
        let store = store();
        (0..3).for_each(|slot| rest(&store, slot, slot % 2));
        store.head().keeper.set(1);
        assert_eq!((rested(&store, 0), rested(&store, queue_of(1, Some(1)))), (Some(2), Some(1)));
        rouse(&store, 2);
        assert_eq!((rested(&store, 0), rested(&store, queue_of(1, Some(0)))), (Some(1), Some(0)));
        rouse(&store, 1);
        assert_eq!((rested(&store, queue_of(1, Some(1))), rested(&store, 0)), (None, Some(0)));
        rouse(&store, 0);
        assert_eq!((rested(&store, 0), store.head().keeper.get()), (None, 0));
    }

    #[test]
    fn queues_have_numbers() {
        assert_eq!([queue_of(0, None), queue_of(2, None), queue_of(1, Some(0))], [0, 2, 4]);
        assert_eq!([worker_of(2), worker_of(3), worker_of(8)], [None, Some(0), Some(1)]);
    }
}
