//! One connection: its buffers, and what to watch for next.

use std::os::fd::OwnedFd;

use rustix::buffer::spare_capacity;
use rustix::event::epoll::EventFlags;
use rustix::io::Errno;

use crate::clock::Clock;
use crate::http::{self, Parsed};
use crate::routes::Site;

/// Room for a request head; one `read` takes all of a small request.
const READ_ROOM: usize = 4096;

/// What the loop has to do after a connection was driven.
pub enum Next {
    Same,
    Watch(EventFlags),
    Close,
}

pub struct Conn {
    socket: OwnedFd,
    input: Vec<u8>,
    output: Vec<u8>,
    /// Bytes of `output` already written; not zero only while the peer reads slower than we write.
    sent: usize,
    /// Bytes `input` must hold before it is worth parsing again.
    wanted: usize,
    closing: bool,
}

impl Conn {
    pub fn new(socket: OwnedFd) -> Self {
        Self {
            socket,
            input: Vec::with_capacity(READ_ROOM),
            output: Vec::with_capacity(READ_ROOM),
            sent: 0,
            wanted: 0,
            closing: false,
        }
    }

    pub fn socket(&self) -> &OwnedFd {
        &self.socket
    }

    pub fn drive(&mut self, site: &Site, clock: &Clock) -> Next {
        if !self.output.is_empty() {
            return match self.flush() {
                // Requests that came pipelined behind the blocked answer wait in `input`: serve them now.
                Next::Same => self.serve(site, clock, true),
                next => next,
            };
        }
        match rustix::io::read(&self.socket, spare_capacity(&mut self.input)) {
            Ok(0) => Next::Close,
            Ok(_) => self.serve(site, clock, false),
            Err(Errno::AGAIN | Errno::INTR) => Next::Same,
            Err(_) => Next::Close,
        }
    }

    /// Answers every complete request in `input` with one `write`. `blocked`: the loop watches for writability.
    fn serve(&mut self, site: &Site, clock: &Clock, blocked: bool) -> Next {
        let mut used = 0;
        while !self.closing && self.input.len() - used >= self.wanted.max(1) {
            let rest = &self.input[used..];
            match http::parse(rest) {
                Parsed::Complete(request) => {
                    self.wanted = 0;
                    self.closing = !request.keep_alive;
                    used += request.length;
                    site.answer(&request, clock.date(), &mut self.output);
                }
                Parsed::Partial(total) => {
                    self.wanted = total;
                    break;
                }
                Parsed::Malformed => {
                    self.closing = true;
                    http::bad_request(&mut self.output);
                }
            }
        }
        self.consume(used);
        if self.output.is_empty() {
            return if blocked { Next::Watch(EventFlags::IN) } else { Next::Same };
        }
        match self.flush() {
            Next::Same if blocked => Next::Watch(EventFlags::IN),
            next => next,
        }
    }

    /// Drops the served bytes and makes room for the next `read`: all of a body whose length is known.
    fn consume(&mut self, used: usize) {
        if used == self.input.len() {
            self.input.clear();
        } else {
            self.input.drain(..used);
        }
        let room = self.wanted.saturating_sub(self.input.len()).max(READ_ROOM / 4);
        self.input.reserve(room);
    }

    fn flush(&mut self) -> Next {
        match rustix::io::write(&self.socket, &self.output[self.sent..]) {
            Ok(written) => self.sent += written,
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(_) => return Next::Close,
        }
        if self.sent < self.output.len() {
            return Next::Watch(EventFlags::OUT);
        }
        self.output.clear();
        self.sent = 0;
        if self.closing { Next::Close } else { Next::Same }
    }
}
