//! Where output goes.

use std::io::{self, IoSlice};

use socket2::Socket;

/// Takes output: a socket, what encrypts before one, a stream within a connection.
pub(crate) trait Sink {
    /// Takes some of the slices: how many bytes. `more`: further bytes follow at once. Fewer than were given, or the
    /// error `WouldBlock`, mean that nothing more is taken until it is ready again.
    fn write(&mut self, slices: &[IoSlice<'_>], more: bool) -> io::Result<usize>;

    /// The socket into which the kernel can send a file by itself; without one its bytes are read and written.
    fn file_target(&self) -> Option<&Socket> {
        None
    }

    /// Whether bytes that it took wait still: more of a file is not read meanwhile.
    fn waits(&self) -> bool {
        false
    }
}

impl Sink for &Socket {
    #[inline]
    fn write(&mut self, slices: &[IoSlice<'_>], more: bool) -> io::Result<usize> {
        let flags = libc::MSG_NOSIGNAL | if more { libc::MSG_MORE } else { 0 };
        match slices {
            [one] => self.send_with_flags(one, flags),
            several => self.send_vectored_with_flags(several, flags),
        }
    }

    fn file_target(&self) -> Option<&Socket> {
        Some(self)
    }
}
