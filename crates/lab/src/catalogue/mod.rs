//! Under construction in this slice.
