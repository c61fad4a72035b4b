//! The NBD server against clients that speak byte by byte, right and wrong.

mod client;
mod full;
mod nbd;
