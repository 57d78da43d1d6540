//! Streams that are one of several.

/// Reads and writes by the stream that a value holds, whichever it is: `$each!(VALUE, stream => EXPRESSION)` names it.
macro_rules! forward_io {
    ([$($generics:tt)*] $type:ty, $each:ident) => {
        impl<$($generics)*> tokio::io::AsyncRead for $type {
            fn poll_read(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                buf: &mut tokio::io::ReadBuf<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                $each!(self.get_mut(), stream => std::pin::Pin::new(stream).poll_read(cx, buf))
            }
        }

        $crate::forward::forward_write!([$($generics)*] $type, $each);
    };
}

/// The half of it that writes.
macro_rules! forward_write {
    ([$($generics:tt)*] $type:ty, $each:ident) => {
        impl<$($generics)*> tokio::io::AsyncWrite for $type {
            fn poll_write(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                bytes: &[u8],
            ) -> std::task::Poll<std::io::Result<usize>> {
                $each!(self.get_mut(), stream => std::pin::Pin::new(stream).poll_write(cx, bytes))
            }

            fn poll_flush(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                $each!(self.get_mut(), stream => std::pin::Pin::new(stream).poll_flush(cx))
            }

            fn poll_shutdown(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                $each!(self.get_mut(), stream => std::pin::Pin::new(stream).poll_shutdown(cx))
            }

            fn poll_write_vectored(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                slices: &[std::io::IoSlice<'_>],
            ) -> std::task::Poll<std::io::Result<usize>> {
                $each!(self.get_mut(), stream => std::pin::Pin::new(stream).poll_write_vectored(cx, slices))
            }

            fn is_write_vectored(&self) -> bool {
                $each!(self, stream => stream.is_write_vectored())
            }
        }
    };
}

pub(crate) use {forward_io, forward_write};
