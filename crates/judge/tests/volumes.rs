//! Volumes: are accounts distinguished from drives, blind, and is what `fit` buys the cheapest that serves?

mod volumes {
    pub mod blind;
    pub mod fits;
    pub mod subjects;
}
