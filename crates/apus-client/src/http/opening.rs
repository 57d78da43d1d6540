//! What a server says before it was asked is read with its answer: hyper would take it for a mistake, and close.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A new connection, from which nothing is read until something was written to it.
pub(super) struct Opening<W> {
    wire: W,
    asked: bool,
    /// Who wants to read, until then.
    reader: Option<Waker>,
}

impl<W> Opening<W> {
    pub(super) fn new(wire: W) -> Self {
        Self { wire, asked: false, reader: None }
    }

    pub(super) fn into_inner(self) -> W {
        self.wire
    }

    fn written(&mut self) {
        self.asked = true;
        if let Some(reader) = self.reader.take() {
            reader.wake();
        }
    }
}

impl<W: AsyncRead + Unpin> AsyncRead for Opening<W> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.asked {
            return Pin::new(&mut self.wire).poll_read(cx, buf);
        }
        self.reader = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for Opening<W> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.wire).poll_write(cx, bytes);
        if !self.asked && written.is_ready() {
            self.written();
        }
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.wire).poll_write_vectored(cx, bytes);
        if !self.asked && written.is_ready() {
            self.written();
        }
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.wire.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.wire).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.wire).poll_shutdown(cx)
    }
}
