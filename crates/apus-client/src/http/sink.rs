//! Where a response's body goes: memory, or a file by way of another thread.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use apus_loop::disk::{self, Started};
use tokio::sync::mpsc;

use super::Sink;
use crate::failure::{Failure, Stage, errno_of};

/// Bytes that are collected before they are written.
const BLOCK: usize = 256 << 10;

/// A body that arrives.
pub(super) enum Receiving {
    Memory(Vec<u8>),
    Stream(mpsc::Sender<Vec<u8>>),
    File { file: Arc<File>, path: PathBuf, at: u64, held: Vec<u8> },
}

impl Receiving {
    pub(super) async fn open(sink: &Sink) -> Result<Self, Failure> {
        let (path, at) = match sink {
            Sink::Memory => return Ok(Self::Memory(Vec::new())),
            Sink::Stream(pieces) => return Ok(Self::Stream(pieces.clone())),
            Sink::File { path, offset } => (path.clone(), *offset),
        };
        let open = move |path| OpenOptions::new().write(true).create(true).truncate(at == 0).open(path);
        let file = Arc::new(done(&path, disk::start_with(path.clone(), open)).await?);
        Ok(Self::File { file, path, at, held: Vec::new() })
    }

    /// Takes the next bytes.
    pub(super) async fn take(&mut self, bytes: Vec<u8>) -> Result<(), Failure> {
        match self {
            Self::Memory(body) if body.is_empty() => *body = bytes,
            Self::Memory(body) => body.extend_from_slice(&bytes),
            Self::Stream(pieces) => {
                let gone = |_| Failure::new(Stage::Receive, libc::ECANCELED, "nobody takes the body");
                pieces.send(bytes).await.map_err(gone)?;
            }
            Self::File { held, .. } => {
                held.extend_from_slice(&bytes);
                if held.len() >= BLOCK {
                    self.write().await?;
                }
            }
        }
        Ok(())
    }

    async fn write(&mut self) -> Result<(), Failure> {
        let Self::File { file, path, at, held } = self else { return Ok(()) };
        let (block, begin, file) = (std::mem::take(held), *at, Arc::clone(file));
        *at += block.len() as u64;
        done(path, disk::start(move || file.write_all_at(&block, begin))).await
    }

    /// The body is complete: gives it, if it is in memory.
    pub(super) async fn finish(mut self) -> Result<Vec<u8>, Failure> {
        self.write().await?;
        match self {
            Self::Memory(body) => Ok(body),
            Self::File { .. } | Self::Stream(_) => Ok(Vec::new()),
        }
    }
}

async fn done<T>(path: &Path, job: Started<io::Result<T>>) -> Result<T, Failure> {
    let failed = |error: &io::Error| {
        Failure::new(Stage::Receive, errno_of(error), format!("{} cannot be written: {error}", path.display()))
    };
    job.await.and_then(|done| done).map_err(|error| failed(&error))
}
