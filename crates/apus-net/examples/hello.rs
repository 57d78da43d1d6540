//! A server without PHP: answers every request with "Hello, World!". The floor that PHP handlers are measured against.
//!
//! `hello [ADDRESS]` listens on 127.0.0.1 with a port of the system's choice, or on ADDRESS, and prints the port.

use std::future::{Ready, ready};
use std::io::Write;
use std::net::TcpListener;
use std::rc::Rc;

use apus_loop::Loop;
use apus_net::{App, Config, Control, NoMetrics, Request, Responder, ResponseHead, serve};
use tokio::runtime::{Builder, LocalOptions};

struct Hello {
    head: ResponseHead,
}

impl App for Hello {
    type Handling = Ready<()>;

    fn on_request(self: &Rc<Self>, _request: Request, response: Responder) -> Ready<()> {
        // A client that is gone needs no answer.
        let _ = response.end(&self.head, b"Hello, World!");
        ready(())
    }
}

fn main() -> std::io::Result<()> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:0".to_owned());
    let listener = TcpListener::bind(address)?;
    println!("{}", listener.local_addr()?.port());
    std::io::stdout().flush()?;
    let mut head = ResponseHead::new(200);
    head.push_field(b"Content-Type", b"text/plain");
    head.has_content_type = true;
    let events = Loop::new()?;
    let control = Control::new(Rc::new(NoMetrics::default()), &events);
    let runtime = Builder::new_current_thread().enable_all().build_local(LocalOptions::default())?;
    drop(runtime.spawn_local(events.driver()));
    runtime.block_on(serve(Rc::new(Hello { head }), vec![(listener.into(), Rc::new(Config::default()))], control))
}
