//! Files of tasks.

use crate::CrashFs;
use crate::hooks::Pause;
use crate::std::fs as blocking;
use ::tokio::io::{AsyncRead, AsyncSeek, AsyncWrite, ReadBuf};
use blocking::{Metadata, Permissions};
use std::fmt;
use std::io::{ErrorKind, IoSlice, Read, Result, Seek, SeekFrom, Write};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

/// How long the task must sleep for what the drive did since a time.
fn pause_since(machine: &CrashFs, start: crate::Nanos) -> Option<Pause> {
    let nanos = machine.now().0.saturating_sub(start.0);
    if nanos == 0 {
        return None;
    }
    machine.sleep(Duration::from_nanos(nanos))
}

pub(super) async fn after(pause: Option<Pause>) {
    if let Some(pause) = pause {
        pause.await;
    }
}

/// A call, and the time that the drive takes for it.
pub(super) async fn timed<T>(machine: CrashFs, call: impl FnOnce() -> Result<T>) -> Result<T> {
    let start = machine.now();
    let result = call();
    after(pause_since(&machine, start)).await;
    result
}

/// What a call has done.
enum Done {
    Written(usize),
    Read(Vec<u8>),
}

/// As `tokio::fs::File`.
pub struct File {
    file: blocking::File,
    /// A call that is done, for which the task still sleeps.
    running: Option<(Pause, Result<Done>)>,
    sought: Option<Result<u64>>,
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.file.fmt(f)
    }
}

impl File {
    /// As `tokio::fs::File::from_std`.
    pub fn from_std(file: blocking::File) -> File {
        File {
            file,
            running: None,
            sought: None,
        }
    }

    /// As `tokio::fs::File::into_std`.
    pub async fn into_std(self) -> blocking::File {
        self.file
    }

    async fn timed<T>(&self, call: impl FnOnce(&blocking::File) -> Result<T>) -> Result<T> {
        timed(self.file.machine().clone(), || call(&self.file)).await
    }

    /// As `tokio::fs::File::sync_all`.
    ///
    /// # Errors
    /// As [`blocking::File::sync_all`].
    pub async fn sync_all(&self) -> Result<()> {
        self.timed(blocking::File::sync_all).await
    }

    /// As `tokio::fs::File::sync_data`.
    ///
    /// # Errors
    /// As [`blocking::File::sync_data`].
    pub async fn sync_data(&self) -> Result<()> {
        self.timed(blocking::File::sync_data).await
    }

    /// As `tokio::fs::File::set_len`.
    ///
    /// # Errors
    /// As [`blocking::File::set_len`].
    pub async fn set_len(&self, size: u64) -> Result<()> {
        self.timed(|file| file.set_len(size)).await
    }

    /// As `tokio::fs::File::metadata`.
    ///
    /// # Errors
    /// As [`blocking::File::metadata`].
    pub async fn metadata(&self) -> Result<Metadata> {
        self.timed(blocking::File::metadata).await
    }

    /// As `tokio::fs::File::try_clone`.
    ///
    /// # Errors
    /// Never.
    pub async fn try_clone(&self) -> Result<File> {
        self.file.try_clone().map(File::from_std)
    }

    /// As `tokio::fs::File::set_permissions`.
    ///
    /// # Errors
    /// As [`blocking::File::set_permissions`].
    pub async fn set_permissions(&self, permissions: Permissions) -> Result<()> {
        self.file.set_permissions(permissions)
    }

    /// Forgets a call of the other kind that a task gave up: a write is done, a read is not.
    fn give_up(&mut self, reads: bool) -> Result<()> {
        match &self.running {
            Some((_, Ok(Done::Read(bytes)))) if !reads => {
                self.file.seek(SeekFrom::Current(-(bytes.len() as i64)))?;
                self.running = None;
            }
            Some((_, Ok(Done::Written(_)))) if reads => self.running = None,
            _ => {}
        }
        Ok(())
    }

    /// Makes a call, or waits for the time of the one that is made.
    fn poll(
        &mut self,
        context: &mut Context<'_>,
        call: impl FnOnce(&mut blocking::File) -> Result<Done>,
    ) -> Poll<Result<Done>> {
        if self.running.is_none() {
            let start = self.file.machine().now();
            let result = call(&mut self.file);
            match pause_since(self.file.machine(), start) {
                None => return Poll::Ready(result),
                Some(pause) => self.running = Some((pause, result)),
            }
        }
        if let Some((pause, _)) = &mut self.running {
            ready!(pause.as_mut().poll(context));
        }
        match self.running.take() {
            Some((_, result)) => Poll::Ready(result),
            None => Poll::Pending,
        }
    }
}

fn written(answer: Poll<Result<Done>>) -> Poll<Result<usize>> {
    Poll::Ready(match ready!(answer)? {
        Done::Written(count) => Ok(count),
        Done::Read(_) => Err(ErrorKind::Interrupted.into()),
    })
}

impl AsyncRead for File {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        self.give_up(true)?;
        let room = buffer.remaining();
        let answer = self.poll(context, |file| {
            let mut bytes = vec![0; room];
            let count = file.read(&mut bytes)?;
            bytes.truncate(count);
            Ok(Done::Read(bytes))
        });
        if let Done::Read(bytes) = ready!(answer)? {
            // The buffer may be a shorter one by now.
            let count = bytes.len().min(buffer.remaining());
            buffer.put_slice(&bytes[..count]);
            let surplus = (bytes.len() - count) as i64;
            self.file.seek(SeekFrom::Current(-surplus))?;
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for File {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<Result<usize>> {
        self.give_up(false)?;
        written(self.poll(context, |file| file.write(bytes).map(Done::Written)))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        self.give_up(false)?;
        written(self.poll(context, |file| {
            file.write_vectored(slices).map(Done::Written)
        }))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl AsyncSeek for File {
    fn start_seek(mut self: Pin<&mut Self>, position: SeekFrom) -> Result<()> {
        self.sought = Some(self.file.seek(position));
        Ok(())
    }

    fn poll_complete(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<u64>> {
        let sought = self.sought.take();
        Poll::Ready(sought.unwrap_or_else(|| self.file.stream_position()))
    }
}
