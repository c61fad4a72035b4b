//! Volumes: are accounts recognised, blind, and is what `fit` buys the cheapest that serves?

mod volumes {
    pub mod blind;
    pub mod fits;
    pub mod qualified;
    pub mod subjects;
}
