# The imports of an engine, and the paths that stand for imports: std's files and what other crates
# build on them.
s/\bstd::(fs|os::unix)\b/ssdlab_crash_fs::std::\1/g
s/\buse std::\{/use ssdlab_crash_fs::std::{/
s/\btempfile::NamedTempFile\b/ssdlab_crash_fs::compat::tempfile::NamedTempFile/g
s/\buse fs2::/use ssdlab_crash_fs::compat::fs2::/
s/\blibc::(sync_file_range|SYNC_FILE_RANGE|ENOSYS)/ssdlab_crash_fs::compat::libc::\1/g
# `Path::read_dir` is `fs::read_dir` as a method, and yields entries of std.
s/\b(\w+)\.read_dir\(\)/ssdlab_crash_fs::std::fs::read_dir(\1)/
