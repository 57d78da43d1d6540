//! A listening port, as its connections see it.

mod hosts;

use std::cell::RefCell;
use std::rc::Rc;

use apus_proto::http1::Limits;
use socket2::Socket;

use crate::config::Config;
use crate::http2;
use crate::info::Local;
use crate::worker::Worker;

pub(crate) use hosts::{Hosts, too_large};

/// A listening port, as its connections see it.
pub(crate) struct Port {
    pub(crate) config: Rc<Config>,
    pub(crate) worker: Rc<Worker>,
    pub(crate) local: Rc<Local>,
    /// `Server`, `Date` and `Strict-Transport-Security` lines of one second.
    pub(crate) standing: RefCell<StandingLines>,
    /// Requests for some names are treated by settings of their own.
    pub(crate) hosts: Option<Box<Hosts>>,
    /// Of a host of a port: its number, from 1 on; 0 of the port itself.
    pub(crate) number: u16,
    /// The bounds by which heads are read, before it is known which host they are for: the widest of all.
    pub(crate) head: Limits,
    /// The same of HTTP/2.
    pub(crate) http2: Option<http2::Limits>,
}

impl Port {
    pub(crate) fn new(config: Rc<Config>, worker: Rc<Worker>, local: Rc<Local>) -> Self {
        let (mut head, mut http2) = (config.head, config.http2);
        for host in &config.hosts {
            widen(&mut head, &host.config.head);
            if let (Some(all), Some(one)) = (&mut http2, &host.config.http2) {
                all.head.max_target = all.head.max_target.max(one.head.max_target);
                all.head.list.max_list = all.head.list.max_list.max(one.head.list.max_list);
                all.head.list.max_fields = all.head.list.max_fields.max(one.head.list.max_fields);
            }
        }
        let mut port =
            Self { config, worker, local, standing: RefCell::default(), hosts: None, number: 0, head, http2 };
        port.hosts = Hosts::of(&port.config.hosts, &port);
        port
    }

    /// A host of a port.
    pub(crate) fn of_host(config: Rc<Config>, port: &Self, number: u16) -> Self {
        let (head, http2) = (config.head, config.http2);
        let (worker, local) = (Rc::clone(&port.worker), Rc::clone(&port.local));
        Self { config, worker, local, standing: RefCell::default(), hosts: None, number, head, http2 }
    }

    /// The address that a client has reached: that of the port, unless it is any address.
    pub(crate) fn reached(&self, socket: &Socket) -> Rc<Local> {
        if let Local::Tcp(addr) = &*self.local
            && addr.ip().is_unspecified()
            && let Ok(reached) = socket.local_addr()
        {
            return Rc::new(Local::from_addr(&reached));
        }
        Rc::clone(&self.local)
    }
}

fn widen(limits: &mut Limits, other: &Limits) {
    limits.max_head = limits.max_head.max(other.max_head);
    limits.max_headers = limits.max_headers.max(other.max_headers);
    limits.max_target = limits.max_target.max(other.max_target);
}

/// Field lines that all answers of a second share.
#[derive(Default)]
pub(crate) struct StandingLines {
    pub(crate) seconds: u64,
    pub(crate) lines: Vec<u8>,
    /// Where in `lines` the `Date` line starts.
    pub(crate) date_at: usize,
    /// Where it ends.
    pub(crate) hsts_at: usize,
}
