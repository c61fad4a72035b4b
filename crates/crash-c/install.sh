# Puts library, header and pkg-config file below a folder: sh install.sh LIBRARY PREFIX
# LIBRARY is target/release/libssdlab_crash.so of `cargo build --release -p ssdlab-crash-c`.
set -e
library=$(realpath "$1")
mkdir -p "$2/lib/pkgconfig" "$2/include"
prefix=$(realpath "$2")
cd "$(dirname "$0")"
version=$(sed -n 's/^version = "\(.*\)"/\1/p' ../../Cargo.toml | head -n 1)
cp "$library" "$prefix/lib/libssdlab_crash.so"
cp include/ssdlab_crash.h "$prefix/include/"
sed "s|@prefix@|$prefix|; s|@libdir@|\${prefix}/lib|; s|@includedir@|\${prefix}/include|
  s|@version@|$version|" ssdlab-crash.pc.in >"$prefix/lib/pkgconfig/ssdlab-crash.pc"
