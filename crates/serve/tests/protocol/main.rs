//! The NBD server against clients that speak byte by byte, right and wrong.

mod client;
mod crowd;
mod extended;
mod full;
#[cfg(target_os = "linux")]
mod landed;
mod nbd;
mod overlapped;
#[cfg(feature = "tls")]
mod tls;
