//! DISKSPD command lines.
