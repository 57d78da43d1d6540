//! Makes the tables of what `php/stub` declares and this crate implements, and the text of all stubs.

const ROOMS: &[&str] = &[
    "client",
    "coroutine",
    "coserver",
    "functions.stub.php",
    "http",
    "memory",
    "metrics.stub.php",
    "pool",
    "process",
    "serve",
    "server",
    "socket",
    "swoole",
    "sync",
    "system",
    "timer.stub.php",
];

fn main() {
    apus_stub::build_script(apus_stub::Part { rooms: ROOMS, seen: "pub(crate)" });
    apus_stub::all_script(env!("CARGO_PKG_VERSION"));
    apus_stub::library_script();
}
