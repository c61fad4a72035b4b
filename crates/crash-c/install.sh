# Puts libraries, header and pkg-config file below a folder: sh install.sh LIBRARY PREFIX
# LIBRARY is target/release/libssdlab_crash.so of
# `cargo build --release -p ssdlab-crash-c -p ssdlab-preload`. The library for `ssdlab crashtest run
# --way preload`, which no program is linked to, comes along if it is beside LIBRARY.
set -e
library=$(realpath "$1")
preload=$(dirname "$library")/libssdlab_preload.so
mkdir -p "$2/lib/pkgconfig" "$2/lib/ssdlab" "$2/include"
prefix=$(realpath "$2")
cd "$(dirname "$0")"
version=$(sed -n 's/^version = "\(.*\)"/\1/p' ../../Cargo.toml | head -n 1)
cp "$library" "$prefix/lib/libssdlab_crash.so"
cp include/ssdlab_crash.h "$prefix/include/"
if [ -e "$preload" ]; then
  cp "$preload" "$prefix/lib/ssdlab/"
  without=
else
  echo "no $preload: \`cargo build --release -p ssdlab-preload\` makes it" >&2
  without='\,SSDLAB_PRELOAD,d; \,^preload=,d;'
fi
sed "$without s|@prefix@|$prefix|; s|@libdir@|\${prefix}/lib|; s|@includedir@|\${prefix}/include|
  s|@version@|$version|" ssdlab-crash.pc.in >"$prefix/lib/pkgconfig/ssdlab-crash.pc"
