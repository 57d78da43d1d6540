//! Which functions are redirected, where, and when.

use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

use apus_options::hooks;
use apus_zend::fiber;
use apus_zend::got::{Redirect, observes_switches, redirect};

use super::{accept, curl, descriptor, dns, file, gate, message, poll, process, resolve, sleep, stream};

macro_rules! table {
    ($($name:literal => $function:expr),+ $(,)?) => {
        &[$(Redirect { name: $name, to: $function as *const c_void }),+]
    };
}

/// Each function under every name that objects call it by.
static TABLE: &[Redirect] = table! {
    c"recv" => message::recv,
    c"__recv_chk" => message::recv_chk,
    c"recvfrom" => message::recvfrom,
    c"__recvfrom_chk" => message::recvfrom_chk,
    c"recvmsg" => message::recvmsg,
    c"send" => message::send,
    c"sendto" => message::sendto,
    c"sendmsg" => message::sendmsg,
    c"read" => stream::read,
    c"__read_chk" => stream::read_chk,
    c"write" => stream::write,
    c"readv" => stream::readv,
    c"writev" => stream::writev,
    c"connect" => stream::connect,
    c"accept" => accept::accept,
    c"accept4" => accept::accept4,
    c"poll" => poll::poll,
    c"__poll_chk" => poll::poll_chk,
    c"ppoll" => poll::ppoll,
    c"__ppoll_chk" => poll::ppoll_chk,
    c"select" => poll::select,
    c"pselect" => poll::pselect,
    c"epoll_wait" => poll::epoll_wait,
    c"epoll_pwait" => poll::epoll_pwait,
    c"sleep" => sleep::sleep,
    c"usleep" => sleep::usleep,
    c"nanosleep" => sleep::nanosleep,
    c"clock_nanosleep" => sleep::clock_nanosleep,
    c"getaddrinfo" => resolve::getaddrinfo,
    c"getnameinfo" => resolve::getnameinfo,
    c"gethostbyname" => resolve::gethostbyname,
    c"gethostbyname2" => resolve::gethostbyname2,
    c"gethostbyname_r" => resolve::gethostbyname_r,
    c"gethostbyname2_r" => resolve::gethostbyname2_r,
    c"gethostbyaddr" => resolve::gethostbyaddr,
    c"res_nsearch" => dns::res_nsearch,
    c"__res_nsearch" => dns::res_nsearch,
    c"res_nquery" => dns::res_nquery,
    c"__res_nquery" => dns::res_nquery,
    c"res_search" => dns::res_search,
    c"__res_search" => dns::res_search,
    c"res_query" => dns::res_query,
    c"__res_query" => dns::res_query,
    c"waitpid" => process::waitpid,
    c"wait" => process::wait,
    c"wait3" => process::wait3,
    c"wait4" => process::wait4,
    c"pclose" => process::pclose,
    c"fork" => process::fork,
    c"system" => process::system,
    c"flock" => process::flock,
    c"fcntl" => process::fcntl,
    c"fcntl64" => process::fcntl,
    c"open" => file::open,
    c"open64" => file::open,
    c"fsync" => file::fsync,
    c"fdatasync" => file::fdatasync,
    c"close" => descriptor::close,
    c"dup2" => descriptor::dup2,
    c"dup3" => descriptor::dup3,
    c"curl_easy_perform" => curl::easy_perform,
    c"dlopen" => dlopen,
};

/// Objects that are left alone, by what their file is called: libc and the linker, whose own calls belong to the call
/// that was made of them; debuggers and profilers, which talk to their front ends while PHP code stands still; memory
/// checkers; and `OPcache`, which holds locks for the whole process.
const LEFT_ALONE: &[&str] = &[
    "linux-vdso",
    "ld-linux",
    "libc.so",
    "libpthread",
    "libdl.so",
    "librt.so",
    "libm.so",
    "libresolv",
    "libnss_",
    "libgcc_s",
    "libstdc++",
    "xdebug",
    "opcache",
    "vgpreload",
    "libasan",
    "libclang_rt",
    "libtsan",
    "libubsan",
    "libjemalloc",
    "libmimalloc",
];

fn left_alone(path: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or(path);
    LEFT_ALONE.iter().any(|start| file.starts_with(start))
}

/// Redirects what is loaded now, once.
pub(super) fn install() {
    static DONE: AtomicBool = AtomicBool::new(false);
    if !DONE.swap(true, Ordering::Relaxed) {
        redirect_loaded();
    }
}

fn redirect_loaded() {
    redirect(TABLE, &left_alone);
    fiber::switches_are_observed(observes_switches());
}

/// Takes over the setting `hook_flags`, unless it is the default and the program has said otherwise.
pub(super) fn configure(flags: i64) {
    if flags != hooks::DEFAULT {
        gate::set_flags(flags);
    }
}

/// dlopen(3): what is loaded later is redirected, too.
unsafe extern "C" fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void {
    // SAFETY: the caller's arguments.
    let handle = unsafe { libc::dlopen(file, flags) };
    if !handle.is_null() {
        redirect_loaded();
    }
    handle
}
