//! A [`Switch`] of real stacks, and a runtime that notices when nothing can go on.
#![allow(dead_code, reason = "each test program uses its part")]

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::rc::Rc;

use apus_coro::{Engine, Foresight, Idle, State, Switch, Task, TaskId};
use corosensei::{Coroutine, CoroutineResult, Yielder};
use tokio::runtime::{Builder, LocalOptions, LocalRuntime};

type Stack = Coroutine<(), (), ()>;
type Body = Box<dyn FnOnce()>;

/// What a task carries: its body until it begins, then its stack.
#[derive(Default)]
pub(crate) struct Data {
    body: Cell<Option<Body>>,
    stack: RefCell<Option<Stack>>,
    yielder: Cell<Option<*const Yielder<(), ()>>>,
}

/// Switches by corosensei.
#[derive(Default)]
pub(crate) struct Stacks {
    pub(crate) blocked: Cell<bool>,
    pub(crate) ended: RefCell<Vec<TaskId>>,
    pub(crate) foreseen: RefCell<Vec<(TaskId, Foresight)>>,
}

impl Switch for Stacks {
    type Data = Rc<Data>;

    fn enter(&self, task: &Task<Self>) -> bool {
        let data = Rc::clone(task.data());
        let mut stack = data.stack.borrow_mut().take().unwrap_or_else(|| {
            let data = Rc::clone(&data);
            let body = data.body.take().expect("a task begins once");
            Stack::new(move |yielder, ()| {
                data.yielder.set(Some(yielder));
                body();
            })
        });
        match stack.resume(()) {
            CoroutineResult::Yield(()) => {
                *data.stack.borrow_mut() = Some(stack);
                true
            }
            CoroutineResult::Return(()) => false,
        }
    }

    fn leave(&self, task: &Task<Self>) {
        let yielder = task.data().yielder.get().expect("it runs");
        // SAFETY: the yielder lives on the task's own stack, which is the running one.
        unsafe { &*yielder }.suspend(());
    }

    fn foresee(&self, task: &Task<Self>, step: Foresight) {
        assert!(step == Foresight::Task || task.state() == State::Waiting, "another's stack may be where its was");
        self.foreseen.borrow_mut().push((task.id(), step));
    }

    fn can_switch(&self) -> bool {
        !self.blocked.get()
    }

    fn ended(&self, task: &Task<Self>) {
        self.ended.borrow_mut().push(task.id());
    }
}

/// An engine with its runtime, and a log of what happened.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) engine: Rc<Engine<Stacks>>,
    runtime: Rc<LocalRuntime>,
    log: Rc<RefCell<Vec<String>>>,
}

thread_local! {
    static PARKING: RefCell<Option<Rc<Engine<Stacks>>>> = const { RefCell::new(None) };
}

impl World {
    pub(crate) fn new() -> Self {
        let engine = Engine::new(Stacks::default());
        PARKING.set(Some(Rc::clone(&engine)));
        let runtime = Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .on_thread_park(|| {
                PARKING.with_borrow(|engine| {
                    if let Some(engine) = engine {
                        engine.about_to_park();
                    }
                });
            })
            .build_local(LocalOptions::default())
            .expect("a runtime");
        drop(runtime.spawn_local(engine.driver()));
        Self { engine, runtime: Rc::new(runtime), log: Rc::default() }
    }

    pub(crate) fn create(&self, body: impl FnOnce(&World) + 'static) -> Rc<Task<Stacks>> {
        let world = self.clone();
        let data = Rc::new(Data::default());
        data.body.set(Some(Box::new(move || body(&world))));
        self.engine.create(data)
    }

    /// Makes a task, runs it until its first wait, and has the engine drive it on.
    pub(crate) fn go(&self, body: impl FnOnce(&World) + 'static) -> TaskId {
        let task = self.create(body);
        self.engine.launch(&task);
        task.id()
    }

    /// Enters a parked task at once where that may be, else leaves it to the loop.
    pub(crate) fn unpark_now(&self, task: &Rc<Task<Stacks>>) {
        if self.engine.enters_now() { self.engine.enter_now(task) } else { self.engine.unpark(task) }
    }

    pub(crate) fn spawn(&self, future: impl Future<Output = ()> + 'static) {
        drop(self.runtime.spawn_local(future));
    }

    pub(crate) fn run(&self) -> Idle {
        self.block_on(self.engine.until_idle())
    }

    pub(crate) fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    pub(crate) fn say(&self, text: impl Into<String>) {
        self.log.borrow_mut().push(text.into());
    }

    pub(crate) fn said(&self) -> Vec<String> {
        self.log.take()
    }

    pub(crate) fn ended(&self) -> Vec<TaskId> {
        self.engine.switch().ended.take()
    }
}
