//! What master and worker tell each other: datagrams over a socket pair that each closes when it ends.
//!
//! One message is one datagram: a letter, and where it needs one a number of eight bytes. The worker's end turns
//! readable when the master wants something and when the master is gone; the kernel closes the ends of a killed
//! process, so neither can miss the other's death.

use std::cell::RefCell;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockType, recv, send, socketpair};
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};

use crate::parcel::Parcel;

/// What the master wants of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// Accept nothing more, finish what was begun, leave.
    Drain,
    /// Leave now.
    StopNow,
    /// Use what came with it in place of what was given before: see
    /// [`Worker::take_parcel`](crate::Worker::take_parcel).
    Renew,
}

/// What a worker wants of the master.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ask {
    /// Reload all workers.
    Reload,
    /// Reload the task workers.
    ReloadTasks,
    /// Stop the server, letting requests finish.
    Stop,
    /// Stop the server at once.
    StopNow,
    /// Replace the worker with this id by a fresh one.
    Replace(u16),
}

/// All that goes over a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Message {
    /// To a worker.
    Command(Command),
    /// To the master.
    Ask(Ask),
    /// To a worker: this connection went down with a process whose place it took, or takes.
    Orphan(i64),
    /// To the master: I serve.
    Ready,
    /// To the master: my state in the scoreboard changed.
    State,
    /// To the master: I was sent this signal.
    Signalled(i32),
}

impl Message {
    fn encode(self) -> ([u8; 9], usize) {
        let (letter, number) = match self {
            Self::Command(Command::Drain) => (b'd', None),
            Self::Command(Command::StopNow) => (b'k', None),
            Self::Command(Command::Renew) => (b'n', None),
            Self::Ask(Ask::Reload) => (b'R', None),
            Self::Ask(Ask::ReloadTasks) => (b'T', None),
            Self::Ask(Ask::Stop) => (b'S', None),
            Self::Ask(Ask::StopNow) => (b'K', None),
            Self::Ask(Ask::Replace(worker)) => (b'W', Some(i64::from(worker))),
            Self::Orphan(session) => (b'o', Some(session)),
            Self::Ready => (b'r', None),
            Self::State => (b's', None),
            Self::Signalled(signal) => (b'!', Some(i64::from(signal))),
        };
        let mut bytes = [letter; 9];
        bytes[1..].copy_from_slice(&number.unwrap_or(0).to_le_bytes());
        (bytes, if number.is_some() { 9 } else { 1 })
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (letter, rest) = bytes.split_first()?;
        let number = || rest.try_into().ok().map(i64::from_le_bytes);
        Some(match letter {
            b'd' => Self::Command(Command::Drain),
            b'k' => Self::Command(Command::StopNow),
            b'n' => Self::Command(Command::Renew),
            b'R' => Self::Ask(Ask::Reload),
            b'T' => Self::Ask(Ask::ReloadTasks),
            b'S' => Self::Ask(Ask::Stop),
            b'K' => Self::Ask(Ask::StopNow),
            b'W' => Self::Ask(Ask::Replace(u16::try_from(number()?).ok()?)),
            b'o' => Self::Orphan(number()?),
            b'r' => Self::Ready,
            b's' => Self::State,
            b'!' => Self::Signalled(i32::try_from(number()?).ok()?),
            _ => return None,
        })
    }
}

/// The datagram of [`Message::Signalled`], for the signal handler: no allocation, no lock.
pub(crate) fn signalled(signal: i32) -> ([u8; 9], usize) {
    Message::Signalled(signal).encode()
}

/// What a look at the channel gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Received {
    Message(Message),
    Nothing,
    /// The other process is gone.
    Closed,
}

/// One end of a channel; never blocks.
#[derive(Debug)]
pub(crate) struct Channel(OwnedFd);

impl Channel {
    /// The two ends.
    pub(crate) fn pair() -> io::Result<(Self, Self)> {
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let (a, b) = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, flags)?;
        Ok((Self(a), Self(b)))
    }

    /// Sends; false when the other end is gone or so far behind that the kernel takes no more.
    pub(crate) fn send(&self, message: Message) -> bool {
        let (bytes, len) = message.encode();
        send(self.0.as_raw_fd(), &bytes[..len], MsgFlags::MSG_NOSIGNAL).is_ok()
    }

    /// Has the other end renew what it was given, by what is in `parcel`; false as for [`send`](Self::send).
    pub(crate) fn send_parcel(&self, parcel: &Parcel) -> bool {
        let (bytes, len) = Message::Command(Command::Renew).encode();
        let (mut room, fds) = ([MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))], [parcel.as_fd()]);
        let mut beside = SendAncillaryBuffer::new(&mut room);
        beside.push(SendAncillaryMessage::ScmRights(&fds))
            && sendmsg(&self.0, &[IoSlice::new(&bytes[..len])], &mut beside, SendFlags::NOSIGNAL).is_ok()
    }

    /// The same as [`receive`](Self::receive), where a parcel may come: the last one stays in `parcel`.
    pub(crate) fn receive_parcel(&self, parcel: &RefCell<Option<Parcel>>) -> Received {
        let mut bytes = [0; 16];
        loop {
            let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut beside = RecvAncillaryBuffer::new(&mut room);
            let received = recvmsg(&self.0, &mut [IoSliceMut::new(&mut bytes)], &mut beside, RecvFlags::CMSG_CLOEXEC);
            for message in beside.drain() {
                if let RecvAncillaryMessage::ScmRights(fds) = message {
                    parcel.replace(fds.last().map(Parcel::from));
                }
            }
            match received.map(|message| message.bytes) {
                Ok(0) => return Received::Closed,
                // As in `receive`.
                Ok(len) => {
                    if let Some(message) = Message::decode(&bytes[..len]) {
                        return Received::Message(message);
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Received::Nothing,
                Err(_) => return Received::Closed,
            }
        }
    }

    pub(crate) fn receive(&self) -> Received {
        let mut bytes = [0; 16];
        loop {
            return match recv(self.0.as_raw_fd(), &mut bytes, MsgFlags::empty()) {
                Ok(0) => Received::Closed,
                // A message this version does not know is passed over: it cannot come from this program.
                Ok(len) => match Message::decode(&bytes[..len]) {
                    Some(message) => Received::Message(message),
                    None => continue,
                },
                Err(nix::Error::EINTR) => continue,
                Err(nix::Error::EAGAIN) => Received::Nothing,
                Err(_) => Received::Closed,
            };
        }
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_survives_the_wire() {
        let (a, b) = Channel::pair().unwrap();
        let messages = [
            Message::Command(Command::Drain),
            Message::Command(Command::StopNow),
            Message::Command(Command::Renew),
            Message::Ask(Ask::Reload),
            Message::Ask(Ask::ReloadTasks),
            Message::Ask(Ask::Stop),
            Message::Ask(Ask::StopNow),
            Message::Ask(Ask::Replace(7)),
            Message::Orphan(i64::MAX),
            Message::Ready,
            Message::State,
            Message::Signalled(15),
        ];
        for message in messages {
            assert!(a.send(message));
            assert_eq!(b.receive(), Received::Message(message));
        }
        assert_eq!(b.receive(), Received::Nothing);
    }

    #[test]
    fn parcels_come_in_their_place_and_the_last_one_stays() {
        let (a, b) = Channel::pair().unwrap();
        let kept = RefCell::new(None);
        let first = Parcel::pack(b"first").unwrap();
        assert!(a.send(Message::Ready) && a.send_parcel(&first) && a.send_parcel(&Parcel::pack(b"second").unwrap()));
        assert_eq!(b.receive_parcel(&kept), Received::Message(Message::Ready));
        for _ in 0..2 {
            assert_eq!(b.receive_parcel(&kept), Received::Message(Message::Command(Command::Renew)));
        }
        assert_eq!(kept.take().map(|parcel| parcel.open().unwrap()), Some(b"second".to_vec()));
        // Nobody can change it, not even who packed it.
        assert!(rustix::io::write(&first, b"x").is_err());
        // An end that expects none lets the descriptor go.
        assert!(a.send_parcel(&first));
        assert_eq!(b.receive(), Received::Message(Message::Command(Command::Renew)));
        assert_eq!(b.receive_parcel(&kept), Received::Nothing);
    }

    #[test]
    fn a_closed_end_is_seen_after_what_it_sent() {
        let (a, b) = Channel::pair().unwrap();
        a.send(Message::Ready);
        drop(a);
        assert_eq!(b.receive(), Received::Message(Message::Ready));
        assert_eq!(b.receive(), Received::Closed);
        assert!(!b.send(Message::State));
    }

    #[test]
    fn a_flood_is_refused_without_blocking() {
        let (a, b) = Channel::pair().unwrap();
        let sent = (0..1_000_000).take_while(|_| a.send(Message::State)).count();
        assert!(sent > 0 && sent < 1_000_000);
        assert_eq!(b.receive(), Received::Message(Message::State));
    }
}
