//! Whole requests of PHP, one after the other, in a process that the command line's PHP began.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::ptr;

use crate::call::Raise;
use crate::engine::Thrown;
use crate::library::Source;
use crate::sys;

/// What PHP reads and writes by. None runs PHP code or panics.
#[derive(Clone, Copy, Debug)]
pub struct Hooks {
    /// Goes on with the answer's body; false when the client is gone.
    pub write: fn(&[u8]) -> bool,
    /// Lets the client have what there is; false when it is gone.
    pub flush: fn() -> bool,
    /// Begins the head of the answer: its status, and a status line of the program's own or nothing.
    pub status: fn(u16, &[u8]),
    /// Goes on with it: a line without its end.
    pub line: fn(&[u8]),
    /// Ends it.
    pub headed: fn(),
    /// Reads what comes next of the request's body; 0 at its end.
    pub read: fn(&mut [u8]) -> usize,
}

/// A text with a NUL behind it. PHP may take one with a NUL inside for shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text<'a>(&'a [u8]);

impl<'a> Text<'a> {
    /// What is there in front of the NUL at the end; `None` where there is none.
    #[inline]
    pub fn new(with_nul: &'a [u8]) -> Option<Self> {
        (with_nul.last() == Some(&0)).then_some(Self(with_nul))
    }

    /// Its bytes.
    #[inline]
    pub fn bytes(self) -> &'a [u8] {
        &self.0[..self.0.len() - 1]
    }

    #[inline]
    fn as_ptr(self) -> *const c_char {
        self.0.as_ptr().cast()
    }
}

impl<'a> From<&'a CStr> for Text<'a> {
    fn from(text: &'a CStr) -> Self {
        Self(text.to_bytes_with_nul())
    }
}

/// A name and its value, as the shim takes them.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a>(sys::apus_sapi_pair, PhantomData<&'a [u8]>);

impl<'a> Pair<'a> {
    /// Of these two.
    #[inline]
    pub fn new(name: Text<'a>, value: Text<'a>) -> Self {
        let (name_len, value_len) = (name.bytes().len(), value.bytes().len());
        let pair = sys::apus_sapi_pair { name: name.as_ptr(), name_len, value: value.as_ptr(), value_len };
        Self(pair, PhantomData)
    }

    /// The name's bytes.
    #[inline]
    pub fn name(&self) -> &'a [u8] {
        // SAFETY: those that it was made of, which live so long.
        unsafe { bytes(self.0.name, self.0.name_len) }
    }

    /// The value.
    #[inline]
    pub fn value(&self) -> Text<'a> {
        // SAFETY: as in `name`; the NUL belongs to it.
        Text(unsafe { bytes(self.0.value, self.0.value_len + 1) })
    }

    fn first(all: &[Self]) -> *const sys::apus_sapi_pair {
        // The same in memory.
        all.as_ptr().cast()
    }
}

/// A request.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Name and value of what `$_SERVER` has.
    pub pairs: &'a [Pair<'a>],
    /// `GET`.
    pub method: Text<'a>,
    /// The target as it was asked for.
    pub uri: Text<'a>,
    /// What follows the question mark.
    pub query: Text<'a>,
    /// The file that is run.
    pub script: Text<'a>,
    /// The body's media type.
    pub content_type: Option<Text<'a>>,
    /// The field Cookie.
    pub cookies: Option<Text<'a>>,
    /// The field Authorization.
    pub authorization: Option<Text<'a>>,
    /// Bytes of the body.
    pub content_length: u64,
    /// Whether it came by HTTP/1.0.
    pub old: bool,
    /// When it came, in seconds since 1970.
    pub received_at: f64,
    /// Entries of php.ini.
    pub values: &'a [Pair<'a>],
    /// Those that nothing changes.
    pub admin: &'a [Pair<'a>],
}

static HOOKS: std::sync::OnceLock<Hooks> = std::sync::OnceLock::new();

/// Whether this PHP is there to serve scripts: `apus.serve`.
pub fn is_wanted() -> bool {
    // SAFETY: reads a setting of PHP's.
    unsafe { sys::apus_sapi_wanted() }
}

/// Leaves the request of the command line for ever.
///
/// # Safety
/// The process was just forked, runs PHP on its one thread outside coroutines, and MUST end by `_exit()`: no frame of
/// PHP, and no value of it that Rust has, may be used again.
pub unsafe fn take_over(hooks: Hooks) {
    let _ = HOOKS.set(hooks);
    let hooks = sys::apus_sapi_hooks {
        write: Some(write),
        flush: Some(flush),
        status: Some(status),
        line: Some(line),
        headed: Some(headed),
        read: Some(read),
    };
    // SAFETY: by contract; the shim copies the hooks.
    unsafe { sys::apus_sapi_take_over(&raw const hooks) };
}

/// Has errors that end a request answered with a page. `source` returns a function of the error and its exception,
/// which gives a header line and the body. Once, after [`take_over`].
pub fn show_errors(source: &'static Source) {
    // SAFETY: by the contract of `take_over` no PHP code runs; the source lives for ever.
    unsafe { sys::apus_error_page_open(&raw const source.0) }
}

/// Runs a request to its end; the status that was answered. Only after [`take_over`].
pub fn run(request: &Request<'_>) -> u16 {
    // SAFETY: by the contract of `take_over` there is no other request.
    given(request, |given| status_of(unsafe { sys::apus_sapi_run(given, false) }))
}

/// Runs a script that stays: it says by [`stay`] that it has begun, then calls [`serve`]. `request` is its own.
pub fn run_staying(request: &Request<'_>) {
    // SAFETY: as in `run`.
    given(request, |given| unsafe { sys::apus_sapi_run(given, true) });
}

/// The script that stays has begun: what it sent and opened as a request's is over.
///
/// # Errors
/// When a fatal error ended an output handler.
pub fn stay() -> Result<(), Raise> {
    // SAFETY: guarded by the shim; by the caller's being PHP code the script runs.
    whole(unsafe { sys::apus_stay_end() })
}

/// Serves a request by `handler`, in a script that stays. The status that was answered, and what `handler` gave.
///
/// # Errors
/// When a fatal error ended it.
pub fn serve<T>(request: &Request<'_>, handler: impl FnOnce() -> T) -> (u16, Result<T, Raise>) {
    given(request, |given| {
        // SAFETY: the request lives until `apus_sapi_end`; both are guarded by the shim.
        let begun = whole(unsafe { sys::apus_sapi_begin(given) });
        let result = begun.map(|()| handler());
        // SAFETY: the same.
        (status_of(unsafe { sys::apus_sapi_end() }), result)
    })
}

/// Reports an exception that nobody caught to the client and the log, as PHP does; the script goes on.
///
/// # Errors
/// When a fatal error ended that.
pub fn show_uncaught(thrown: &Thrown) -> Result<(), Raise> {
    // SAFETY: alive; guarded by the shim.
    whole(unsafe { sys::apus_stay_uncaught(thrown.object().as_raw().as_ptr()) })
}

fn whole(whole: bool) -> Result<(), Raise> {
    if whole { Ok(()) } else { Err(Raise::Bailed) }
}

fn status_of(status: c_int) -> u16 {
    u16::try_from(status).unwrap_or(500)
}

/// Hands a request to the shim, where it is valid for the time of `then`.
fn given<T>(request: &Request<'_>, then: impl FnOnce(*const sys::apus_sapi_request) -> T) -> T {
    let text = |text: Option<Text<'_>>| text.map_or(ptr::null(), Text::as_ptr);
    let request = sys::apus_sapi_request {
        pairs: Pair::first(request.pairs),
        count: request.pairs.len(),
        method: request.method.as_ptr(),
        uri: request.uri.as_ptr(),
        query: request.query.as_ptr(),
        script: request.script.as_ptr(),
        content_type: text(request.content_type),
        cookies: text(request.cookies),
        authorization: text(request.authorization),
        content_length: request.content_length,
        protocol: if request.old { 1000 } else { 1001 },
        received_at: request.received_at,
        values: Pair::first(request.values),
        admin: Pair::first(request.admin),
        value_count: request.values.len(),
        admin_count: request.admin.len(),
    };
    then(&raw const request)
}

/// Whether PHP has this entry of php.ini.
pub fn has_entry(name: &str) -> bool {
    // SAFETY: reads the table of entries.
    std::ffi::CString::new(name).is_ok_and(|name| unsafe { sys::apus_ini_is_known(name.as_ptr()) })
}

/// Whether a request runs here.
pub fn is_running() -> bool {
    // SAFETY: reads a pointer.
    unsafe { sys::apus_sapi_is_running() }
}

/// Ends the answer of the request that runs, which goes on; false when it had ended.
///
/// # Errors
/// When a fatal error ended an output handler.
pub fn finish() -> Result<bool, Raise> {
    let mut first = false;
    // SAFETY: writes into the value on this stack; guarded by the shim.
    match unsafe { sys::apus_sapi_finish(&raw mut first) } {
        sys::apus_status_APUS_BAILED => Err(Raise::Bailed),
        _ => Ok(first),
    }
}

/// The lines of the answer's head so far.
pub fn lines() -> Vec<Vec<u8>> {
    unsafe extern "C" fn each(context: *mut c_void, line: *const c_char, length: usize) {
        // SAFETY: the vector of the frame below, and `length` bytes of the shim.
        unsafe { (*context.cast::<Vec<Vec<u8>>>()).push(bytes(line, length).to_vec()) };
    }
    let mut all: Vec<Vec<u8>> = Vec::new();
    // SAFETY: the vector lives through the call.
    unsafe { sys::apus_sapi_lines((&raw mut all).cast(), Some(each)) };
    all
}

/// # Safety
/// `length` bytes that live as long as the result is used.
unsafe fn bytes<'a>(text: *const c_char, length: usize) -> &'a [u8] {
    if length == 0 {
        return &[];
    }
    // SAFETY: by contract.
    unsafe { std::slice::from_raw_parts(text.cast(), length) }
}

unsafe extern "C" fn write(text: *const c_char, length: usize) -> bool {
    // SAFETY: PHP hands over `length` bytes, which live through the call.
    HOOKS.get().is_some_and(|hooks| (hooks.write)(unsafe { bytes(text, length) }))
}

unsafe extern "C" fn flush() -> bool {
    HOOKS.get().is_some_and(|hooks| (hooks.flush)())
}

unsafe extern "C" fn status(status: c_int, text: *const c_char, length: usize) {
    if let Some(hooks) = HOOKS.get() {
        // SAFETY: as in `write`.
        (hooks.status)(u16::try_from(status).unwrap_or(500), unsafe { bytes(text, length) });
    }
}

unsafe extern "C" fn line(text: *const c_char, length: usize) {
    if let Some(hooks) = HOOKS.get() {
        // SAFETY: as in `write`.
        (hooks.line)(unsafe { bytes(text, length) });
    }
}

unsafe extern "C" fn headed() {
    if let Some(hooks) = HOOKS.get() {
        (hooks.headed)();
    }
}

unsafe extern "C" fn read(into: *mut c_char, length: usize) -> usize {
    if length == 0 {
        return 0;
    }
    // SAFETY: PHP has room for `length` bytes, which may be of any value.
    let into: &mut [u8] = unsafe {
        into.write_bytes(0, length);
        std::slice::from_raw_parts_mut(into.cast(), length)
    };
    HOOKS.get().map_or(0, |hooks| (hooks.read)(into))
}
