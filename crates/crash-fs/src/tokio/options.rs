//! How tasks open files.

use super::file::{File, timed};
use crate::std::fs as blocking;
use std::io::Result;
use std::path::Path;

/// As `tokio::fs::OpenOptions`.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    options: blocking::OpenOptions,
}

macro_rules! options {
    ($($name:ident),*) => {$(
        #[doc = concat!("As `tokio::fs::OpenOptions::", stringify!($name), "`.")]
        pub fn $name(&mut self, $name: bool) -> &mut OpenOptions {
            self.options.$name($name);
            self
        }
    )*};
}

impl OpenOptions {
    /// As `tokio::fs::OpenOptions::new`.
    pub fn new() -> OpenOptions {
        OpenOptions::default()
    }

    options!(read, write, append, truncate, create, create_new);

    /// As `tokio::fs::OpenOptions::mode`.
    #[cfg(unix)]
    pub fn mode(&mut self, mode: u32) -> &mut OpenOptions {
        crate::std::fs::unix::OpenOptionsExt::mode(&mut self.options, mode);
        self
    }

    /// As `tokio::fs::OpenOptions::custom_flags`.
    #[cfg(unix)]
    pub fn custom_flags(&mut self, flags: i32) -> &mut OpenOptions {
        crate::std::fs::unix::OpenOptionsExt::custom_flags(&mut self.options, flags);
        self
    }

    /// As `tokio::fs::OpenOptions::open`.
    ///
    /// # Errors
    /// As [`blocking::OpenOptions::open`].
    pub async fn open(&self, path: impl AsRef<Path>) -> Result<File> {
        let machine = crate::paths::place(path.as_ref())?.machine;
        let file = timed(machine, || self.options.open(path)).await?;
        Ok(File::from_std(file))
    }
}

impl From<blocking::OpenOptions> for OpenOptions {
    fn from(options: blocking::OpenOptions) -> OpenOptions {
        OpenOptions { options }
    }
}

impl File {
    /// As `tokio::fs::File::open`.
    ///
    /// # Errors
    /// As [`blocking::File::open`].
    pub async fn open(path: impl AsRef<Path>) -> Result<File> {
        OpenOptions::new().read(true).open(path).await
    }

    /// As `tokio::fs::File::create`.
    ///
    /// # Errors
    /// As [`blocking::File::create`].
    pub async fn create(path: impl AsRef<Path>) -> Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        options.open(path).await
    }

    /// As `tokio::fs::File::create_new`.
    ///
    /// # Errors
    /// As [`blocking::File::create_new`].
    pub async fn create_new<P: AsRef<Path>>(path: P) -> Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        options.open(path).await
    }

    /// As `tokio::fs::File::options`.
    pub fn options() -> OpenOptions {
        OpenOptions::new()
    }
}
