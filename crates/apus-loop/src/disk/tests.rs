use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use apus_scratch::Folder;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use tokio::runtime::{Builder, LocalOptions, LocalRuntime};

use super::*;

const PATIENCE: Duration = Duration::from_secs(60);

fn runtime() -> LocalRuntime {
    Builder::new_current_thread().enable_all().build_local(LocalOptions::default()).expect("a runtime")
}

fn in_time<F: Future>(test: F) -> F::Output {
    runtime().block_on(async { tokio::time::timeout(PATIENCE, test).await.expect("it ends") })
}

#[test]
fn no_more_threads_work_than_the_limit_and_all_jobs_are_done() {
    static AT_ONCE: AtomicUsize = AtomicUsize::new(0);
    static LARGEST: AtomicUsize = AtomicUsize::new(0);
    in_time(async {
        let limit = Queue::get().limit;
        let (free, held) = mpsc::channel::<()>();
        let (held, (ready, mut began)) = (Arc::new(Mutex::new(held)), tokio::sync::mpsc::unbounded_channel());
        let jobs: Vec<_> = (0..limit * 3)
            .map(|number| {
                let (held, ready) = (Arc::clone(&held), ready.clone());
                start(move || {
                    LARGEST.fetch_max(AT_ONCE.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    ready.send(()).expect("the test listens");
                    let _ = held.lock().expect("nobody panicked").recv();
                    AT_ONCE.fetch_sub(1, Ordering::SeqCst);
                    number
                })
            })
            .collect();
        for _ in 0..limit {
            began.recv().await.expect("so many run at once");
        }
        assert_eq!(AT_ONCE.load(Ordering::SeqCst), limit);
        drop(free);
        for (number, job) in jobs.into_iter().enumerate() {
            assert_eq!(job.await.expect("it was done"), number);
        }
        assert_eq!(LARGEST.load(Ordering::SeqCst), limit);
    });
}

#[test]
fn a_job_that_panics_takes_no_thread_with_it() {
    in_time(async {
        let limit = Queue::get().limit;
        for _ in 0..limit * 2 {
            let error = start(|| panic!("told to the test's output")).await.map(|(): ()| ()).expect_err("it panicked");
            assert_eq!(error.kind(), io::ErrorKind::Interrupted);
        }
        assert_eq!(start(|| 7).await.expect("others go on"), 7);
    });
}

#[test]
fn what_nobody_waits_for_is_done() {
    in_time(async {
        let (tell, told) = tokio::sync::oneshot::channel();
        drop(start(move || tell.send(3)));
        assert_eq!(told.await, Ok(3));
    });
}

#[test]
fn who_waits_for_a_fifo_holds_nobody_up() {
    in_time(async {
        let folder = Folder::new("disk");
        let path = folder.path().join("fifo");
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a FIFO");
        let limit = Queue::get().limit;
        let open = |path: PathBuf| start_with(path, fs::File::open);
        let readers: Vec<_> = (0..limit * 2).map(|_| open(path.clone())).collect();
        open("/proc/self/stat".into()).await.expect("it was done").expect("while so many wait for a writer");
        let write = |path: PathBuf| fs::File::options().write(true).open(path);
        let writer = start_with(path, write).await;
        for reader in readers {
            reader.await.expect("it was done").expect("the writer is there");
        }
        writer.expect("it was done").expect("readers were there");
    });
}

#[test]
fn a_runtime_that_follows_another_has_all_threads() {
    let limit = Queue::get().limit;
    // Held here, no job ends: what the first runtime drops at its end was never begun.
    let first = runtime();
    first.block_on(async {
        for _ in 0..limit * 2 {
            drop(start(|| ()));
        }
    });
    first.shutdown_background();
    in_time(async {
        for _ in 0..limit * 2 {
            start(|| ()).await.expect("done by the second");
        }
    });
}
