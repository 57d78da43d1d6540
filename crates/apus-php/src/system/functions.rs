//! The functions of this room.

use apus_zend::class::Method;
use apus_zend::handler;

use super::host;

/// All functions.
pub(super) static ALL: &[Method] = &[
    Method {
        decl: "function Apus\\cpu_num(): int",
        doc: "How many processors this process may use.\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(host::cpu_num)),
    },
    Method {
        decl: "function Apus\\get_local_ip(int $family = 2): array",
        doc: "The addresses of this machine's interfaces that are up, interface => address, without loopback.\n\
              @param int $family AF_INET (2) or AF_INET6 (10)\n@throws \\ValueError for another family\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(host::get_local_ip)),
    },
    Method {
        decl: "function Apus\\get_local_mac(): array",
        doc: "The hardware addresses of this machine's interfaces that are up, interface => \"00:00:5E:00:53:01\", without loopback.\n\
              Does not wait.\n@since 0.1.0",
        handler: Some(handler!(host::get_local_mac)),
    },
    Method {
        decl: "function Apus\\strerror(int $errno, int $error_type = 0): string",
        doc: "The text of an error number.\n\
              @param int $error_type Apus\\STRERROR_SYSTEM (also knows the numbers of Apus), STRERROR_GAI, STRERROR_DNS or STRERROR_APUS\n\
              @throws \\ValueError for another type\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(host::strerror)),
    },
    Method {
        decl: "function Apus\\errno(): int",
        doc: "errno(3) of the C library as it is now: of use right after a call that failed.\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(host::errno)),
    },
    Method {
        decl: "function Apus\\last_error(): int",
        doc: "Why a function of Apus returned false last in this process; 0 for none. One coroutine's failure replaces another's: ask before\n\
              the next wait.\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(host::last_error)),
    },
    Method {
        decl: "function Apus\\clear_error(): void",
        doc: "Sets last_error() to 0.\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(host::clear_error)),
    },
    Method {
        decl: "function Apus\\set_process_name(string $process_name): bool",
        doc: "Sets what ps(1) shows of this process, where the command line of PHP runs.\n\
              @return bool false when it cannot be set\n@throws \\ValueError for an empty name or a null byte\n\
              Does not wait.\n@since 0.1.0",
        handler: Some(handler!(host::set_process_name)),
    },
];
