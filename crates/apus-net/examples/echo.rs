//! A WebSocket server without PHP: answers every message with itself. The floor that PHP handlers are measured against.
//!
//! `echo [ADDRESS] [SETTING=VALUE…]` listens on 127.0.0.1 with a port of the system's choice, or on ADDRESS, and prints
//! the port.

use std::future::{Ready, ready};
use std::io::Write;
use std::net::TcpListener;
use std::rc::Rc;

use apus_loop::Loop;
use apus_net::proto::websocket::Opcode;
use apus_net::{App, Config, Control, Kind, Message, MessageConn, NoMetrics, Request, Responder, Upgrade, serve};
use apus_options::{Settings, Value};
use tokio::runtime::{Builder, LocalOptions};

struct Echo;

impl App for Echo {
    type Handling = Ready<()>;

    fn on_request(self: &Rc<Self>, _request: Request, response: Responder) -> Ready<()> {
        response.fail(426);
        ready(())
    }

    fn on_upgrade(self: &Rc<Self>, _request: Request, response: Responder) -> Ready<()> {
        if let Err(refusal) = response.upgrade(&Upgrade::default()) {
            response.refuse_upgrade(refusal);
        }
        ready(())
    }

    fn on_message(self: &Rc<Self>, message_conn: &Rc<MessageConn>, message: Message<'_>) -> Option<Ready<()>> {
        let opcode = if message.kind == Kind::Text { Opcode::Text } else { Opcode::Binary };
        // A client that is gone needs no answer.
        let _ = message_conn.push(opcode, true, message.compressed, message.data);
        None
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).peekable();
    let address = arguments.next_if(|argument| !argument.contains('=')).unwrap_or_else(|| "127.0.0.1:0".to_owned());
    let mut settings = Settings::default();
    settings.set("open_websocket_protocol", &Value::Bool(true))?;
    for argument in arguments {
        let (name, value) = argument.split_once('=').unwrap_or((&argument, "1"));
        settings.set(name, &Value::Str(value.to_owned()))?;
    }
    let listener = TcpListener::bind(address)?;
    println!("{}", listener.local_addr()?.port());
    std::io::stdout().flush()?;
    let events = Loop::new()?;
    let control = Control::new(Rc::new(NoMetrics::default()), &events);
    let runtime = Builder::new_current_thread().enable_all().build_local(LocalOptions::default())?;
    drop(runtime.spawn_local(events.driver()));
    runtime.block_on(serve(Rc::new(Echo), vec![(listener.into(), Rc::new(Config::from(&settings)))], control))?;
    Ok(())
}
