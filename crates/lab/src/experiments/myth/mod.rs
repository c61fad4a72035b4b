//! Article `myth`: how a drive slows down in production, and what keeps it from doing so.
