//! One connection of the client: its socket, and what came or goes in parts.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};

use crate::engine::now;
use crate::wire::{self, Fault};

#[derive(Clone, Copy, PartialEq)]
pub enum Stage {
    Upgrading,
    Open,
}

/// What becomes of connections. A fault that `opened` or `message` return ends the connection.
pub trait Events {
    fn opened(&mut self, conn: &mut Conn, now: u64) -> Result<(), Fault>;
    fn message(&mut self, conn: &mut Conn, opcode: u8, payload: &[u8], now: u64) -> Result<(), Fault>;
    fn lost(&mut self, conn: &Conn, fault: Fault);
}

pub struct Conn {
    socket: OwnedFd,
    pub number: usize,
    pub stage: Stage,
    /// When the connection was begun, then when its last message was sent; nanoseconds of the monotonic clock.
    pub since: u64,
    /// Of the mode: the number of the message whose echo is awaited.
    pub sequence: u64,
    nonce: [u8; 16],
    /// Bytes of a head or frame that is not whole.
    input: Vec<u8>,
    /// Bytes that the kernel did not take.
    output: Vec<u8>,
    /// The opcode and payload of a message whose last fragment has not come.
    fragments: Option<(u8, Vec<u8>)>,
}

/// A socket that is connecting. It sends a reset when it is closed, so no port stays in TIME-WAIT for the next run.
fn begin(source: Ipv4Addr, server: SocketAddrV4) -> rustix::io::Result<OwnedFd> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = rustix::net::socket_with(AddressFamily::INET, SocketType::STREAM, flags, None)?;
    sockopt::set_socket_linger(&socket, Some(Duration::ZERO))?;
    rustix::net::bind(&socket, &SocketAddrV4::new(source, 0))?;
    match rustix::net::connect(&socket, &server) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
        Err(error) => Err(error),
    }
}

impl Conn {
    /// Begins one. Its request waits for `flush`.
    pub fn connect(number: usize, source: Ipv4Addr, server: SocketAddrV4, nonce: [u8; 16]) -> Result<Self, Fault> {
        let since = now();
        let socket = begin(source, server).map_err(|error| fault("connect", error))?;
        let mut output = Vec::with_capacity(192);
        wire::request(&server.to_string(), nonce, &mut output);
        let (input, fragments, stage) = (Vec::new(), None, Stage::Upgrading);
        Ok(Self { socket, number, stage, since, sequence: 0, nonce, input, output, fragments })
    }

    pub fn socket(&self) -> &OwnedFd {
        &self.socket
    }

    /// A message in one masked frame, sent at once. `mask` must differ from frame to frame, as a browser's does.
    pub fn send(&mut self, opcode: u8, payload: &[u8], mask: [u8; 4], scratch: &mut Vec<u8>) -> Result<(), Fault> {
        scratch.clear();
        wire::put(opcode, payload, Some(mask), scratch);
        self.write(scratch)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let mut rest = bytes;
        while self.output.is_empty() && !rest.is_empty() {
            match rustix::io::write(&self.socket, rest) {
                Ok(written) => rest = &rest[written..],
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => {}
                Err(error) => return Err(fault("write", error)),
            }
        }
        self.output.extend_from_slice(rest);
        Ok(())
    }

    /// The socket is writable: connected, or has room again. A connection that was refused shows here.
    pub fn flush(&mut self) -> Result<(), Fault> {
        let waiting = std::mem::take(&mut self.output);
        self.write(&waiting)
    }

    /// Reads until nothing is left, as edge-triggered readiness asks for.
    pub fn readable(&mut self, buffer: &mut [u8], events: &mut impl Events, now: u64) -> Result<(), Fault> {
        loop {
            match rustix::io::read(&self.socket, &mut *buffer) {
                Ok(0) => return Err("closed by the server".into()),
                Ok(count) => {
                    self.take(&buffer[..count], events, now)?;
                    if count < buffer.len() {
                        return Ok(());
                    }
                }
                Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(error) => return Err(fault("read", error)),
            }
        }
    }

    fn take(&mut self, bytes: &[u8], events: &mut impl Events, now: u64) -> Result<(), Fault> {
        if self.input.is_empty() {
            let used = self.parse(bytes, events, now)?;
            self.input.extend_from_slice(&bytes[used..]);
            return Ok(());
        }
        let mut whole = std::mem::take(&mut self.input);
        whole.extend_from_slice(bytes);
        let used = self.parse(&whole, events, now)?;
        whole.drain(..used);
        self.input = whole;
        Ok(())
    }

    /// Everything that is whole; returns how many bytes that was.
    fn parse(&mut self, bytes: &[u8], events: &mut impl Events, now: u64) -> Result<usize, Fault> {
        let mut used = 0;
        if self.stage == Stage::Upgrading {
            let Some(length) = wire::head_length(bytes) else { return Ok(0) };
            wire::check_answer(&bytes[..length], self.nonce)?;
            self.stage = Stage::Open;
            used = length;
            events.opened(self, now)?;
        }
        while let Some(frame) = wire::parse(&bytes[used..])? {
            let payload = &bytes[used + frame.start..used + frame.end];
            used += frame.end;
            if frame.mask.is_some() {
                return Err("a frame of the server is masked".into());
            }
            self.frame(frame.opcode, frame.fin, payload, events, now)?;
        }
        Ok(used)
    }

    fn frame(
        &mut self,
        opcode: u8,
        fin: bool,
        payload: &[u8],
        events: &mut impl Events,
        now: u64,
    ) -> Result<(), Fault> {
        match (opcode, fin, self.fragments.take()) {
            (wire::TEXT | wire::BINARY, true, None) => events.message(self, opcode, payload, now),
            (wire::TEXT | wire::BINARY, false, None) => {
                self.fragments = Some((opcode, payload.to_vec()));
                Ok(())
            }
            (0, fin, Some((first, mut message))) => {
                message.extend_from_slice(payload);
                if fin {
                    return events.message(self, first, &message, now);
                }
                self.fragments = Some((first, message));
                Ok(())
            }
            (wire::PING, true, begun) => {
                self.fragments = begun;
                let mut pong = Vec::new();
                wire::put(wire::PONG, payload, Some((now as u32).to_ne_bytes()), &mut pong);
                self.write(&pong)
            }
            (wire::PONG, true, begun) => {
                self.fragments = begun;
                Ok(())
            }
            (wire::CLOSE, true, _) => Err(match payload {
                [high, low, ..] => format!("closed by the server with {}", u16::from_be_bytes([*high, *low])).into(),
                _ => "closed by the server without a code".into(),
            }),
            _ => Err(format!("a frame out of place (opcode {opcode}, fin {fin})").into()),
        }
    }
}

fn fault(what: &str, error: Errno) -> Fault {
    format!("{what}: {}", std::io::Error::from(error)).into()
}
