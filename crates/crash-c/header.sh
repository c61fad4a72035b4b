# Makes include/ssdlab_crash.h from the source, or another file: sh header.sh [FILE]
# Debian's cbindgen (0.24) does not read the attribute of edition 2024.
set -e
cd "$(dirname "$0")"
to=$(realpath "${1:-include/ssdlab_crash.h}")
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
for file in src/*.rs; do
  sed 's/#\[unsafe(no_mangle)\]/#[no_mangle]/' "$file" >>"$copy/all.rs"
done
# One file: modules and their paths are of no use to C.
sed -i '/^mod \|^use crate::/d; s/^#!.*//; s/^\/\/!.*//' "$copy/all.rs"
cbindgen --quiet --config cbindgen.toml --lang c --output "$to" "$copy/all.rs"
