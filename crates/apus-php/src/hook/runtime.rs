//! `Apus\Runtime`: which blocking calls are hooked.

use apus_options::hooks;
use apus_zend::class::{Class, Const, Constant, Method};
use apus_zend::value::View;
use apus_zend::{Call, Raise, handler};

use super::{gate, install};
use crate::exception::entry;

fn set(call: &Call) -> Result<(), Raise> {
    call.expect(0, 2)?;
    let flags = match call.view(0) {
        View::Bool(on) => call.int(1, if on { hooks::ALL } else { 0 })?,
        _ => call.int(0, hooks::ALL)?,
    };
    if flags < 0 {
        return Err(call.value_error(0, &format!("must be a sum of Apus\\HOOK_* constants, {flags} given")));
    }
    install::install();
    gate::set_flags(flags);
    call.ret(true)
}

fn get(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
    call.ret(gate::flags())
}

/// `Apus\Runtime`.
pub(super) static RUNTIME: Class = Class {
    name: "Apus\\Runtime",
    modifiers: "final",
    extends: "",
    implements: &[],
    doc: "Which blocking calls let other coroutines run. Inside coroutines all are hooked from the start but those on regular\n\
          files, in servers and in run() alike; outside coroutines nothing ever changes.\n@since 0.1.0",
    constants: &[],
    properties: &[],
    methods: &[
        Method {
            decl: "public static function enableCoroutine(bool|int $flags = 2147483647, int $more = 2147483647): bool",
            doc: "Sets the kinds of calls that are hooked from now on, in all coroutines of this process.\n\
                  @param bool|int $flags Apus\\HOOK_* bits, 0 for none; or true for $more, false for none\n\
                  @return bool true\n\
                  @throws \\ValueError when $flags is negative\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(set)),
        },
        Method {
            decl: "public static function setHookFlags(int $flags): bool",
            doc: "The same as enableCoroutine().\n@since 0.1.0",
            handler: Some(handler!(set)),
        },
        Method {
            decl: "public static function getHookFlags(): int",
            doc: "The kinds of calls that are hooked, as Apus\\HOOK_* bits.\n@since 0.1.0",
            handler: Some(handler!(get)),
        },
    ],
    native: false,
    lazy: None,
    entry: entry!(),
};

const fn flag(name: &'static str, value: i64, doc: &'static str) -> Constant {
    Constant { name, value: Const::Int(value), doc }
}

/// A kind that is part of others: at the boundary to libc there is no difference.
const PART: &str =
    "Has no effect of its own: what it names are sockets like others, see HOOK_TCP, HOOK_UDP, HOOK_UNIX, HOOK_UDG.";

/// `Apus\HOOK_*`.
pub(crate) static CONSTANTS: &[Constant] = &[
    flag("Apus\\HOOK_TCP", hooks::TCP, "TCP sockets: of streams, PDO, mysqli, pgsql, redis, curl, every library."),
    flag("Apus\\HOOK_UDP", hooks::UDP, "UDP sockets."),
    flag("Apus\\HOOK_UNIX", hooks::UNIX, "Unix stream sockets."),
    flag("Apus\\HOOK_UDG", hooks::UDG, "Unix datagram sockets."),
    flag("Apus\\HOOK_SSL", hooks::SSL, PART),
    flag("Apus\\HOOK_TLS", hooks::TLS, PART),
    flag("Apus\\HOOK_STREAM_FUNCTION", hooks::STREAM_FUNCTION, "select(): stream_select() and socket_select()."),
    flag("Apus\\HOOK_STREAM_SELECT", hooks::STREAM_FUNCTION, "The same as HOOK_STREAM_FUNCTION."),
    flag(
        "Apus\\HOOK_FILE",
        hooks::FILE,
        "Opening, reading and syncing regular files by PHP's own functions (fopen(), fread(), file_get_contents(), fsync() and their like),\n\
         on a pool of threads. Worth it for slow disks only: what is in the page cache comes sooner without. Not part of the default.",
    ),
    flag("Apus\\HOOK_SLEEP", hooks::SLEEP, "sleep(), usleep(), time_nanosleep(), time_sleep_until()."),
    flag(
        "Apus\\HOOK_PROC",
        hooks::PROC,
        "Child processes: proc_open(), exec(), popen() and their like, pcntl_waitpid(), and their pipes.",
    ),
    flag("Apus\\HOOK_CURL", hooks::CURL, PART),
    flag("Apus\\HOOK_NATIVE_CURL", hooks::NATIVE_CURL, PART),
    flag("Apus\\HOOK_BLOCKING_FUNCTION", hooks::BLOCKING_FUNCTION, "Name resolution, and locks on files."),
    flag("Apus\\HOOK_NET_FUNCTION", hooks::NET_FUNCTION, "Name resolution."),
    flag("Apus\\HOOK_SOCKETS", hooks::SOCKETS, PART),
    flag("Apus\\HOOK_STDIO", hooks::STDIO, "Terminals and pipes, standard input and output among them."),
    flag("Apus\\HOOK_ALL", hooks::ALL, "Everything."),
];
