//! Serving an app on listening sockets.

use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use socket2::{Domain, Socket};
use tokio::sync::oneshot;

use crate::app::App;
use crate::body::sweep_temporary_files;
use crate::config::Config;
use crate::control::Control;
use crate::info::Local;
use crate::port::Port;
use crate::shared::SharedSocket;
use crate::worker::Worker;
use crate::{listener, sweep};

/// Serves `app` on the sockets, which must be bound and listening, until [`Control::drain`] was called and the last
/// connection is closed.
///
/// MUST run where `tokio::task::spawn_local` works: a `LocalRuntime` (or a `LocalSet`), with I/O and time enabled.
///
/// # Errors
/// When a socket cannot be registered with the runtime; nothing is served then.
pub async fn serve<A: App>(app: Rc<A>, listeners: Vec<(OwnedFd, Rc<Config>)>, control: Rc<Control>) -> io::Result<()> {
    control.conns.prepare()?;
    let mut accepting = Vec::with_capacity(listeners.len());
    for (fd, config) in listeners {
        if config.parse_multipart && config.store_files && !config.stream {
            // A worker that was killed could not.
            sweep_temporary_files(&config.upload_dir);
        }
        let socket = Socket::from(fd);
        let port = open_port(&socket, config, &control.worker)?;
        accepting.push((SharedSocket::register(socket)?, port));
    }
    let sweep = tokio::task::spawn_local(sweep::run(Rc::clone(&control)));
    let tasks: Vec<_> = accepting
        .into_iter()
        .map(|(listener, port)| {
            let (end, ended) = oneshot::channel::<()>();
            let accepting = listener::run(Rc::clone(&app), listener, port, Rc::clone(&control.conns));
            // In turn with the coroutines: one that drains finds the port closed when it next waits.
            control.conns.events.spawn(async move {
                accepting.await;
                drop(end);
            });
            ended
        })
        .collect();
    for ended in tasks {
        // A listener ends only when the worker drains.
        let _ = ended.await;
    }
    control.idle().await;
    sweep.abort();
    Ok(())
}

fn open_port(socket: &Socket, config: Rc<Config>, worker: &Rc<Worker>) -> io::Result<Rc<Port>> {
    socket.set_nonblocking(true)?;
    let domain = socket.domain()?;
    if domain == Domain::IPV4 || domain == Domain::IPV6 {
        // Accepted sockets inherit it.
        socket.set_tcp_nodelay(config.nodelay)?;
    }
    let local = Rc::new(Local::from_addr(&socket.local_addr()?));
    Ok(Rc::new(Port::new(config, Rc::clone(worker), local)))
}
