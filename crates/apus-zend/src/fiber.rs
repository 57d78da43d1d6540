//! Pooled fiber contexts: what a coroutine borrows while it has something to do.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use crate::call::Raise;
use crate::callable::Callable;
use crate::engine::{ClassEntry, Thrown};
use crate::object::Object;
use crate::state::Superglobals;
use crate::sys;
use crate::value::{PhpString, Value, check};

/// What a fiber is given to do: a callable, its arguments, and what is to run after it.
///
/// Boxed, because the fiber keeps its address; the C part comes first so that the shim's pointer is ours, too.
#[repr(C)]
pub struct Job {
    raw: sys::apus_job,
    callable: Option<Callable>,
    args: Vec<Value>,
    deferred: RefCell<Vec<Callable>>,
    context: RefCell<Option<Object>>,
    is_end: Option<IsEnd>,
}

/// Whether an exception that nobody caught ends the script, by its class.
pub type IsEnd = fn(&dyn Fn(ClassEntry) -> bool) -> bool;

/// Jobs that are over, whose memory is used again.
#[allow(clippy::vec_box, reason = "a job's address is known to its fiber, so the box is what is kept")]
type Spare = RefCell<Vec<Box<Job>>>;

thread_local! {
    static SPARE: Spare = const { RefCell::new(Vec::new()) };
}

/// Jobs kept at most.
const SPARES: usize = 64;
/// Jobs with more room for arguments than this are not kept.
const SPARE_ARGS: usize = 8;

impl Job {
    /// A job that calls `callable` with `args`, in memory that an earlier one used.
    pub fn new(callable: Callable, args: impl IntoIterator<Item = Value>) -> Box<Self> {
        let mut job = SPARE.with(|spare| spare.borrow_mut().pop()).unwrap_or_else(Self::empty);
        job.raw.callable = callable.raw();
        job.raw.ends_script = None;
        job.raw.ran = sys::apus_ran_APUS_RAN;
        job.callable = Some(callable);
        job.args.extend(args);
        job.raw.argc = job.args.len() as u32;
        job.raw.args = job.args.as_mut_ptr().cast();
        job
    }

    /// The job serves a request: error handlers that it leaves behind go with it.
    pub fn serves_request(&mut self, does: bool) {
        self.raw.of_request = does;
    }

    /// What is deferred is called with what the callable returned, and an exception which `is_end` says so of is told
    /// where it is, and ends the script.
    pub fn does_as_there(&mut self, is_end: Option<IsEnd>) {
        self.is_end = is_end;
        self.raw.ends_script = is_end.map(|_| ends_script as unsafe extern "C" fn(_, _) -> _);
        self.raw.hands_on = true;
    }

    /// Nothing that was deferred is to run any more.
    pub fn forget_deferred(&self) {
        drop(self.deferred.take());
    }

    fn empty() -> Box<Self> {
        // SAFETY: plain data; the fields that matter are set in `new` and here.
        let mut raw: sys::apus_job = unsafe { std::mem::zeroed() };
        raw.next_deferred = Some(next_deferred);
        Box::new(Self {
            raw,
            callable: None,
            args: Vec::new(),
            deferred: RefCell::default(),
            context: RefCell::default(),
            is_end: None,
        })
    }

    /// Keeps the memory of a job that is over for a later one. What it still holds is given back, which may run
    /// destructors.
    pub fn recycle(mut job: Box<Self>) {
        drop(job.take_exception());
        drop(job.take_result());
        job.release();
        job.deferred.borrow_mut().clear();
        if job.args.capacity() > SPARE_ARGS || job.deferred.borrow().capacity() > SPARE_ARGS {
            return;
        }
        // At the end of the thread there is no list any more: the job is freed.
        let _ = SPARE.try_with(|spare| {
            let mut spare = spare.borrow_mut();
            if spare.len() < SPARES {
                spare.push(job);
            }
        });
    }

    /// What was deferred last. Without any its context is given back, in whose destructors it may wait, or defer more.
    fn next_deferred(&self) -> Option<Callable> {
        let last = || self.deferred.borrow_mut().pop();
        last().or_else(|| {
            self.context.take().and_then(|context| {
                drop(context);
                last()
            })
        })
    }

    /// The coroutine's context, if it was asked for.
    pub fn context(&self) -> &RefCell<Option<Object>> {
        &self.context
    }

    /// Has `callable` called after the job, last given first.
    pub fn defer(&self, callable: Callable) {
        self.deferred.borrow_mut().push(callable);
    }

    /// What the callable returned.
    pub fn take_result(&mut self) -> Value {
        let slot = &raw mut self.raw.result;
        // SAFETY: the result slot is initialised (undefined until set), and is emptied: what it held is the value's.
        let held = unsafe { Value::take_from(slot) };
        // SAFETY: alive; what a reference refers to is meant.
        if held.is_reference() { unsafe { Value::copy_of(held.as_ptr()) } } else { held }
    }

    /// How it ended; as if it had returned before it has.
    pub fn ran(&self) -> Ran {
        match self.raw.ran {
            sys::apus_ran_APUS_RAN => Ran::Returned,
            sys::apus_ran_APUS_RAN_THREW => Ran::Threw,
            _ => Ran::Bailed,
        }
    }

    /// What it threw.
    pub fn take_exception(&mut self) -> Option<Thrown> {
        NonNull::new(std::mem::replace(&mut self.raw.exception, std::ptr::null_mut())).map(Thrown::own)
    }

    /// Gives back the callable, its arguments and its context, whose destructors may run and throw. Only when the job
    /// is over.
    pub fn release(&mut self) {
        drop(self.context.take());
        drop(self.callable.take());
        Value::release_all(&mut self.args);
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        drop(self.take_exception());
        drop(self.take_result());
    }
}

unsafe extern "C" fn next_deferred(job: *mut sys::apus_job, out: *mut sys::apus_callable) -> bool {
    // SAFETY: the shim passes the pointer that `Fiber::assign` gave it, the first member of a live Job.
    let job = unsafe { &*job.cast::<Job>() };
    match job.next_deferred() {
        Some(callable) => {
            // SAFETY: the shim's out slot holds nothing; it releases what it gets.
            unsafe { out.write(callable.into_raw()) };
            true
        }
        None => false,
    }
}

unsafe extern "C" fn ends_script(job: *const sys::apus_job, thrown: *mut sys::zend_object) -> bool {
    // SAFETY: as in `next_deferred`.
    let job = unsafe { &*job.cast::<Job>() };
    let (Some(is_end), Some(thrown)) = (job.is_end, NonNull::new(thrown)) else { return false };
    is_end(&|class| class.contains(thrown))
}

/// Leaves the running context for the one that stands at `to`; returns when it is entered again. See `apus_jump_inline`
/// in `shim/apus_switch.h`.
///
/// # Safety
/// `to` and the record are what `apus_fiber_entering` or `apus_fiber_leaving` gave.
#[cfg(target_arch = "x86_64")]
#[expect(clippy::inline_always, reason = "called, it would be what it is there to avoid")]
#[inline(always)]
unsafe fn jump(to: *mut c_void, switching: &mut MaybeUninit<sys::apus_switching>) -> sys::apus_jumped {
    let (handle, transfer);
    // SAFETY: as promised by the caller. PHP's function finds the return address where a call puts it, keeps the
    // registers that a function has to keep, and comes back with the stack pointer as it was.
    unsafe {
        std::arch::asm!(
            "lea 2f(%rip), %rdx",
            "push %rdx",
            "jmp *%rax",
            "2:",
            inout("rax") sys::apus_jumper => handle,
            out("rdx") transfer,
            inout("rdi") to => _,
            inout("rsi") switching.as_mut_ptr() => _,
            clobber_abi("sysv64"),
            options(att_syntax),
        );
    }
    sys::apus_jumped { handle, transfer }
}

/// The same by a call.
///
/// # Safety
/// As above.
#[cfg(not(target_arch = "x86_64"))]
unsafe fn jump(to: *mut c_void, switching: &mut MaybeUninit<sys::apus_switching>) -> sys::apus_jumped {
    type Jumper = unsafe extern "C" fn(*mut c_void, *mut sys::apus_switching) -> sys::apus_jumped;
    // SAFETY: as promised by the caller; where that is so, it is PHP's function.
    unsafe { std::mem::transmute::<*mut c_void, Jumper>(sys::apus_jumper)(to, switching.as_mut_ptr()) }
}

/// How a job ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ran {
    /// It returned.
    Returned,
    /// It threw; [`Job::take_exception`] has it.
    Threw,
    /// A fatal error was reported; the fiber is spent.
    Bailed,
}

/// One context with its stack. Not `Drop`: a fiber goes back to its [`Pool`].
#[derive(Clone, Copy)]
pub struct Fiber(NonNull<sys::apus_fiber>);

impl Fiber {
    /// Gives an idle fiber its job.
    ///
    /// # Safety
    /// The fiber is idle; `job` stays where it is and alive until the fiber has run it or is abandoned.
    pub unsafe fn assign(self, job: &mut Job) {
        // SAFETY: as promised by the caller.
        unsafe { sys::apus_fiber_assign(self.0.as_ptr(), (&raw mut *job).cast()) };
    }

    /// Says which coroutine's job it has.
    pub fn name(self, coroutine: i64) {
        // SAFETY: alive until abandoned or destroyed.
        unsafe { sys::apus_fiber_name(self.0.as_ptr(), coroutine) };
    }

    /// Gives the job that it is to run superglobals of its own.
    pub fn give(self, superglobals: Superglobals) {
        // SAFETY: alive until abandoned or destroyed; the record is passed on.
        unsafe { sys::apus_fiber_give(self.0.as_ptr(), superglobals.into_raw()) };
    }

    /// Enters it from the running context; returns when it leaves. `true`: it waits; `false`: its job has ended.
    ///
    /// # Safety
    /// The fiber has a job, is not running, and no Rust borrow that its code may take again is held.
    #[expect(clippy::inline_always, reason = "one return less after a switch, which the processor cannot predict")]
    #[inline(always)]
    pub unsafe fn enter(self) -> bool {
        let mut switching = MaybeUninit::uninit();
        // SAFETY: as promised by the caller; the record stays where it is until this context goes on.
        let left = unsafe {
            let to = sys::apus_fiber_entering(self.0.as_ptr(), switching.as_mut_ptr());
            if to.is_null() {
                sys::apus_fiber_enter(self.0.as_ptr())
            } else {
                let jumped = jump(to, &mut switching);
                sys::apus_fiber_entered(self.0.as_ptr(), switching.as_mut_ptr(), jumped)
            }
        };
        if left == sys::apus_left_APUS_OVERFLOWED {
            overflowed();
        }
        left == sys::apus_left_APUS_WAITS
    }

    /// Leaves the running fiber towards whoever entered it; returns when it is entered again.
    ///
    /// # Safety
    /// `self` is the innermost of our fibers that runs now, and switching is allowed.
    #[expect(clippy::inline_always, reason = "one return less after a switch, which the processor cannot predict")]
    #[inline(always)]
    pub unsafe fn leave(self) {
        let mut switching = MaybeUninit::uninit();
        // SAFETY: as in `enter`.
        unsafe {
            let to = sys::apus_fiber_leaving(self.0.as_ptr(), switching.as_mut_ptr());
            if to.is_null() {
                sys::apus_fiber_leave(self.0.as_ptr());
            } else {
                let jumped = jump(to, &mut switching);
                sys::apus_fiber_back(switching.as_mut_ptr(), jumped);
            }
        }
    }

    /// Has the processor fetch its record, or, of one that waits, what lies on its stacks where it goes on.
    #[inline]
    pub fn prefetch(self, stack: bool) {
        // SAFETY: alive until abandoned or destroyed.
        unsafe { sys::apus_fiber_prefetch(self.0.as_ptr(), stack) };
    }

    /// `debug_backtrace()` of the waiting fiber.
    pub fn backtrace(self, options: i64, limit: i64) -> Result<Value, Raise> {
        backtrace(Some(self), options, limit)
    }

    /// The waiting fiber's stack as text.
    pub fn trace_text(self) -> String {
        trace_text(Some(self))
    }

    /// The function that the waiting fiber is in: `PDO::query()`.
    pub fn running_function(self) -> String {
        crate::hook::function_of(self.0.as_ptr())
    }
}

/// Has the processor fetch something, whether it is there or not.
#[inline]
pub fn prefetch<T>(thing: *const T) {
    // SAFETY: reads nothing.
    unsafe { sys::apus_prefetch(thing.cast(), size_of::<T>()) };
}

#[cold]
fn overflowed() -> ! {
    eprintln!(
        "apus: a coroutine has overflowed its C stack; raise the setting stack_size. \
         Memory beside it is damaged, so this process ends now."
    );
    std::process::abort();
}

/// `debug_backtrace()` of a waiting fiber, or of the running code.
pub fn backtrace(fiber: Option<Fiber>, options: i64, limit: i64) -> Result<Value, Raise> {
    let out = Value::undef();
    let raw = fiber.map_or(std::ptr::null(), |f| f.0.as_ptr().cast_const());
    // SAFETY: a live fiber or NULL; the result goes into an empty value.
    check(unsafe { sys::apus_backtrace(raw, options, limit, out.as_ptr()) })?;
    Ok(out)
}

/// Frames of a stack that are shown: a recursion may be a million deep.
const MOST_FRAMES: u32 = 64;

/// A stack as text, the innermost frames, one a line; of the running code without a fiber.
pub fn trace_text(fiber: Option<Fiber>) -> String {
    let raw = fiber.map_or(std::ptr::null(), |f| f.0.as_ptr().cast_const());
    let mut cut = false;
    // SAFETY: a live fiber or NULL; the shim hands over a reference.
    let Some(text) = NonNull::new(unsafe { sys::apus_trace_text(raw, MOST_FRAMES, &raw mut cut) }) else {
        return String::new();
    };
    // SAFETY: as above.
    let mut text = unsafe { PhpString::from_raw(text) }.to_text();
    text.truncate(text.trim_end().len());
    if cut {
        text.push_str("\n... (frames further out are left out)");
    }
    text
}

/// Idle fibers that a [`Pool`] keeps whether they are needed or not.
const SPARE_KEPT: usize = 64;

/// Idle fibers, most recently used first, so that warm stacks are used again.
pub struct Pool {
    idle: RefCell<VecDeque<Fiber>>,
    stack_size: Cell<usize>,
    keep: Cell<usize>,
    made: Cell<u64>,
    /// The least idle fibers since the last trim: so many were not needed.
    spare: Cell<usize>,
}

impl Pool {
    /// A pool of fibers with C stacks of `stack_size` bytes that keeps at most `keep` idle ones.
    pub fn new(stack_size: usize, keep: usize) -> Self {
        Self {
            idle: RefCell::new(VecDeque::new()),
            stack_size: Cell::new(stack_size),
            keep: Cell::new(keep),
            made: Cell::new(0),
            spare: Cell::new(0),
        }
    }

    /// Sets the size of the stacks made from now on, in bytes.
    pub fn set_stack_size(&self, bytes: usize) {
        self.stack_size.set(bytes);
    }

    /// The size of the stacks made from now on, in bytes.
    pub fn stack_size(&self) -> usize {
        self.stack_size.get()
    }

    /// An idle fiber; `None` when the system gives no memory for a stack.
    pub fn take(&self) -> Option<Fiber> {
        let taken = self.idle.borrow_mut().pop_back();
        if let Some(fiber) = taken {
            self.spare.set(self.spare.get().min(self.idle.borrow().len()));
            return Some(fiber);
        }
        self.spare.set(0);
        self.made.set(self.made.get() + 1);
        // SAFETY: makes a fresh context; NULL when there is no memory for it.
        NonNull::new(unsafe { sys::apus_fiber_new(self.stack_size.get(), true) }).map(Fiber)
    }

    /// Takes a fiber back whose job has ended so.
    #[inline]
    pub fn give_back(&self, fiber: Fiber, ran: Ran) {
        if ran == Ran::Bailed {
            // SAFETY: after a bailout the context has destroyed itself; only its struct is left.
            unsafe { sys::apus_fiber_abandon(fiber.0.as_ptr()) };
        } else if self.idle.borrow().len() >= self.keep.get() {
            // SAFETY: idle.
            unsafe { sys::apus_fiber_destroy(fiber.0.as_ptr()) };
        } else {
            self.idle.borrow_mut().push_back(fiber);
        }
    }

    /// Destroys at most `most` of the fibers that were not needed since the last call, but keeps a few, so that the
    /// memory of a burst goes back to the system. To be called now and then.
    pub fn trim(&self, most: usize) {
        let unneeded = self.spare.replace(self.idle.borrow().len()).saturating_sub(SPARE_KEPT);
        for _ in 0..unneeded.min(most) {
            // The front is the coldest.
            let Some(fiber) = self.idle.borrow_mut().pop_front() else { return };
            // SAFETY: idle.
            unsafe { sys::apus_fiber_destroy(fiber.0.as_ptr()) };
        }
    }

    /// Destroys all idle fibers (before Zend's memory goes).
    pub fn clear(&self) {
        loop {
            let Some(fiber) = self.idle.borrow_mut().pop_back() else { return };
            // SAFETY: idle.
            unsafe { sys::apus_fiber_destroy(fiber.0.as_ptr()) };
        }
    }

    /// How many fibers were ever made, and how many are idle.
    pub fn counts(&self) -> (u64, usize) {
        (self.made.get(), self.idle.borrow().len())
    }
}

/// Whether some object that is loaded may observe switches between fibers: then each is told of. Before the first fiber
/// is made, and when objects were loaded later.
pub fn switches_are_observed(may_be: bool) {
    // SAFETY: reads PHP's list of modules, which only grows, and never while an object is being loaded.
    unsafe { sys::apus_switch_imported(may_be) };
}

/// FILE(LINE) where the running PHP code stands.
pub fn position() -> String {
    let (mut file, mut line) = (std::ptr::null(), 0);
    // SAFETY: the out pointers are local.
    unsafe { sys::apus_position(&raw mut file, &raw mut line) };
    if file.is_null() {
        return "nowhere".to_owned();
    }
    // SAFETY: a C string of Zend's, alive while the code runs.
    let file = unsafe { std::ffi::CStr::from_ptr(file) };
    format!("{}({line})", file.to_string_lossy())
}
