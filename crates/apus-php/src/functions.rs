//! The functions in `Apus\` and `Apus\Coroutine\`.

use apus_zend::class::Method;
use apus_zend::{Call, Raise, engine, handler};

use crate::coroutine;
use crate::runtime::State;

/// What PHP calls at the end of a script that made coroutines.
pub(crate) const FINISH: &str = "Apus\\Coroutine\\finish";

fn finish(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
    let Some(state) = State::existing() else { return Ok(()) };
    if state.is_looping() {
        return Ok(());
    }
    if engine::after_fatal() {
        state.end_all();
        return Ok(());
    }
    state.run_to_end()
}

fn version(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
    call.ret_bytes(env!("CARGO_PKG_VERSION").as_bytes())
}

fn stubs(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
    call.ret_bytes(crate::stubs::text().as_bytes())
}

fn options_markdown(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
    call.ret_bytes(apus_options::markdown().as_bytes())
}

/// All functions.
pub(crate) static ALL: &[Method] = &[
    Method {
        decl: "function Apus\\go(callable $callback, mixed ...$args): int",
        doc: "The same as Apus\\Coroutine::create().\n@since 0.1.0",
        handler: Some(handler!(coroutine::create)),
    },
    Method {
        decl: "function Apus\\defer(callable $callback): void",
        doc: "The same as Apus\\Coroutine::defer().\n@since 0.1.0",
        handler: Some(handler!(coroutine::defer)),
    },
    Method {
        decl: "function Apus\\Coroutine\\run(callable $callback, mixed ...$args): bool",
        doc: "Runs $callback(...$args) in a coroutine, and returns when it, every coroutine that came of it, and every timer\n\
              has ended. What it throws, and when: see Apus\\Coroutine\\Scheduler::start().\n\
              @return bool true\n@since 0.1.0",
        handler: Some(handler!(coroutine::run)),
    },
    Method {
        decl: "function Apus\\Coroutine\\batch(array $tasks, float $timeout = -1): array",
        doc: "Runs callables at once, each in a coroutine, and waits for all.\n\
              @param callable[] $tasks\n\
              @param float $timeout seconds; negative for no limit. Tasks that are not ready by then go on, and give null\n\
              @return array what each returned, under its key in $tasks\n\
              @throws \\Throwable the first exception that a task did not catch, when all have ended\n\
              Waits; cancelled, it cancels its tasks.\n@since 0.1.0",
        handler: Some(handler!(coroutine::batch)),
    },
    Method {
        decl: "function Apus\\Coroutine\\parallel(int $n, callable $callback): void",
        doc: "Runs $callback() in $n coroutines at once and waits for all.\n\
              @throws \\ValueError when $n is below 1\n\
              @throws \\Throwable the first exception that one did not catch, when all have ended\n\
              Waits; cancelled, it cancels them.\n@since 0.1.0",
        handler: Some(handler!(coroutine::parallel)),
    },
    Method {
        decl: "function Apus\\Coroutine\\finish(): void",
        doc: "Runs what coroutines are left to their end. PHP calls it at the end of a script that made some.\n@since 0.1.0",
        handler: Some(handler!(finish)),
    },
    Method {
        decl: "function Apus\\version(): string",
        doc: "The version of Apus.\n@since 0.1.0",
        handler: Some(handler!(version)),
    },
    Method {
        decl: "function Apus\\stubs(): string",
        doc: "PHP stubs of everything that this module declares, for editors and static analysis.\n@since 0.1.0",
        handler: Some(handler!(stubs)),
    },
    Method {
        decl: "function Apus\\options_markdown(): string",
        doc: "The table of all settings, in Markdown.\n@since 0.1.0",
        handler: Some(handler!(options_markdown)),
    },
];
