#!/usr/bin/env bash
# Makes the Debian package from a build and installs it in a clean Debian root; links the program
# statically and runs it in a root that holds BusyBox alone, and from an image of the container
# file: `bash tests/packages.sh target/release/ssdlab`. All of it needs root. Of a build in
# target/debug, the package is of that.
set -euo pipefail
ssdlab=$(realpath "$1")
cd "$(dirname "$0")/.."
. tests/skips.sh
target=$(realpath "${CARGO_TARGET_DIR:-target}")
case $ssdlab in
  "$target/release/ssdlab") profile=release ;;
  "$target/debug/ssdlab") profile=dev ;;
  *) echo "$ssdlab is not built in $target" >&2 && exit 2 ;;
esac
work=$(mktemp -d "$target/packages.XXXXXX")
mounted=
trap '[ -z "$mounted" ] || umount "$mounted"; rm -rf "$work"' EXIT
passed=0
failed=0
ok() { passed=$((passed + 1)); echo "ok: $*"; }
bad() { failed=$((failed + 1)); echo "FAILED: $*" >&2; }
# A whole qualification of a modelled drive, where $1 is how to run a program in its root.
qualifies() {
  local code=0
  "$@" qualify drive:consumer-sata-1tb-plp --role slog --profile quick --no-reference --quiet \
    --out /qualified >"$work/said" 2>&1 || code=$?
  # 0 pass, 1 fail, 3 undecided: each of them is a verdict.
  case $code in 0 | 1 | 3) grep -qE 'PASS|FAIL|UNKNOWN' "$work/said" ;; *) return 1 ;; esac
}

made=$target/packages
rm -rf "$made"
mkdir -p "$made"
for shell in bash zsh fish; do "$ssdlab" completions "$shell" >"$made/ssdlab.$shell"; done
"$ssdlab" man "$made/man"

# With dpkg-deb alone, from the metadata that cargo-deb reads.
by_hand() {
  mkdir -p "$work/tree/DEBIAN" "$work/debian"
  cargo metadata --no-deps --format-version 1 >"$work/metadata.json"
  python3 - "$work" "$ssdlab" <<'PY'
import glob, json, os, shutil, sys
work, program = sys.argv[1:]
packages = json.load(open(f"{work}/metadata.json"))["packages"]
package = next(p for p in packages if p["name"] == "ssdlab")
deb = package["metadata"]["deb"]
for source, place, mode in deb["assets"]:
    files = [program] if source == "target/release/ssdlab" else glob.glob(f"crates/cli/{source}")
    assert files, f"nothing is called {source}"
    for file in files:
        to = f"{work}/tree/{place}"
        if place.endswith("/"):
            to += os.path.basename(source if file == program else file)
        os.makedirs(os.path.dirname(to), exist_ok=True)
        shutil.copyfile(file, to)
        os.chmod(to, int(mode, 8))
text = deb["extended-description"].replace("\n", "\n ")
control = {"Package": deb["name"], "Version": package["version"], "Section": deb["section"],
    "Priority": deb["priority"], "Maintainer": deb["maintainer"],
    "Description": f"{package['description']}\n {text}"}
open(f"{work}/control", "w").write("".join(f"{k}: {v}\n" for k, v in control.items()))
PY
  printf 'Source: ssdlab\n\nPackage: ssdlab\nArchitecture: any\n' >"$work/debian/control"
  {
    echo "Architecture: $(dpkg --print-architecture)"
    (cd "$work" && dpkg-shlibdeps -O tree/usr/bin/ssdlab 2>/dev/null) |
      sed 's/^shlibs:Depends=/Depends: /'
    cat "$work/control"
  } >"$work/tree/DEBIAN/control"
  dpkg-deb --root-owner-group --build "$work/tree" "$work/ssdlab.deb" >/dev/null
}
deb=
usable() { "$1" --version 2>/dev/null | grep -qE '^[3-9]'; } # 2 cannot read this workspace
if usable cargo-deb && cargo-deb -q -p ssdlab --no-build --strip --fast --profile "$profile" \
  -o "$work/ssdlab.deb"; then
  deb=$work/ssdlab.deb
  ok ".deb by cargo-deb"
elif ! command -v dpkg-shlibdeps >/dev/null; then
  skip "packages: .deb" "neither cargo-deb 3 nor dpkg-dev is installed"
elif by_hand; then
  deb=$work/ssdlab.deb
  ok ".deb by dpkg-deb"
else
  bad ".deb by dpkg-deb"
fi
if [ -n "$deb" ]; then
  cp "$deb" "$made/"
  dpkg-deb -c "$deb" >"$work/contents"
  for file in usr/bin/ssdlab usr/share/bash-completion/completions/ssdlab \
    usr/share/man/man1/ssdlab-qualify.1 usr/share/doc/ssdlab/README.md; do
    if grep -q "$file" "$work/contents"; then ok ".deb has $file"; else bad ".deb without $file"; fi
  done
fi

root=$target/debian-root
if [ -z "$deb" ]; then
  :
elif [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null; then
  skip "packages: clean root" "needs root and debootstrap"
else
  suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
  # The root is kept; every run gets a copy of it.
  [ -e "$root/.made" ] || { rm -rf "$root" && debootstrap --variant=minbase "$suite" "$root" \
    >"$work/debootstrap.log" 2>&1 && touch "$root/.made"; }
  if [ -e "$root/.made" ]; then
    cp -a "$root" "$work/root"
    cp "$deb" "$work/root/ssdlab.deb"
    mount -t proc proc "$work/root/proc" && mounted=$work/root/proc
    if chroot "$work/root" dpkg -i /ssdlab.deb >"$work/dpkg.log" 2>&1; then
      ok ".deb installs in a clean root"
    else bad ".deb: $(tail -3 "$work/dpkg.log")"; fi
    if qualifies chroot "$work/root" ssdlab; then ok "the installed program qualifies a drive"
    else bad "qualify in the clean root: $(tail -3 "$work/said")"; fi
    umount "$mounted" && mounted=
  else
    skip "packages: clean root" "debootstrap failed: $(tail -1 "$work/debootstrap.log")"
  fi
fi

# The program alone is compiled again, beside a copy of what it is linked from: others may be running
# the build that was given.
static=$work/ssdlab-static
linked() {
  local built copy=$work/build
  built=$(dirname "$ssdlab")
  mkdir -p "$copy/${built##*/}"
  cp -a --reflink=auto "$built"/{deps,build,.fingerprint} "$copy/${built##*/}/" &&
    CARGO_TARGET_DIR=$copy cargo rustc -q --profile "$profile" -p ssdlab --bin ssdlab -- \
      -C target-feature=+crt-static 2>"$work/static.log" &&
    mv "$copy/${built##*/}/ssdlab" "$static" && rm -rf "$copy"
}
if [ "$(id -u)" != 0 ] || ! command -v busybox >/dev/null; then
  skip "packages: static binary" "needs root and busybox"
elif ! linked; then
  bad "static binary: $(tail -3 "$work/static.log")"
else
  if ldd "$static" 2>&1 | grep -qE 'statically linked|not a dynamic'; then ok "the binary is static"
  else bad "the binary needs libraries: $(ldd "$static" | head -2)"; fi
  bare=$work/bare
  mkdir -p "$bare/tmp"
  cp "$(command -v busybox)" "$bare/busybox"
  cp "$static" "$bare/ssdlab"
  if ! chroot "$bare" /busybox true; then
    skip "packages: static binary" "busybox is not static: install busybox-static"
  elif qualifies chroot "$bare" /ssdlab && [ -s "$bare/qualified/report.html" ]; then
    ok "the static binary qualifies a drive in a root of BusyBox alone"
  else bad "the static binary: $(tail -3 "$work/said")"; fi
fi

# The archive that cargo-dist would make of it, by the place and the layout where the metadata of
# cargo binstall look for it.
archived() {
  local triple
  triple=$(rustc -vV | sed -n 's/^host: //p')
  mkdir -p "$work/archive/ssdlab-$triple" "$work/unpacked"
  cp "$static" "$work/archive/ssdlab-$triple/ssdlab"
  tar -C "$work/archive" -cJf "$made/ssdlab-$triple.tar.xz" "ssdlab-$triple"
  cargo metadata --no-deps --format-version 1 >"$work/metadata.json"
  python3 - "$work" "$made" "$triple" <<'PY'
import json, os, subprocess, sys, tomllib
work, made, triple = sys.argv[1:]
packages = json.load(open(f"{work}/metadata.json"))["packages"]
package = next(p for p in packages if p["name"] == "ssdlab")
binstall = package["metadata"]["binstall"]
targets = tomllib.load(open("dist-workspace.toml", "rb"))["dist"]["targets"]
assert triple in targets, f"cargo-dist makes nothing for {triple}"
def filled(template):
    known = {"repo": "https://example.org/r", "version": package["version"], "name": package["name"],
        "target": triple, "bin": "ssdlab", "binary-ext": ""}
    for key, value in known.items():
        template = template.replace("{ %s }" % key, value)
    assert "{" not in template, f"{template}: a key that is not known"
    return template
assert binstall["pkg-fmt"] == "txz", binstall
archive = f"{made}/{os.path.basename(filled(binstall['pkg-url']))}"
assert os.path.exists(archive), f"{archive} is not what was made"
subprocess.run(["tar", "-C", f"{work}/unpacked", "-xJf", archive], check=True)
program = f"{work}/unpacked/{filled(binstall['bin-dir'])}"
said = subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout
assert package["version"] in said, said
PY
}
if [ ! -x "$static" ]; then
  skip "packages: archive" "there is no static binary"
elif archived 2>"$work/archive.log"; then ok "cargo binstall's metadata lead to the program in the archive"
else bad "archive: $(tail -1 "$work/archive.log")"; fi

# Nothing is fetched: the image begins with nothing. It is built and run without a daemon.
build() { buildah --root "$work/containers" --runroot "$work/containers-run" --storage-driver vfs "$@"; }
contained() {
  mkdir -p "$work/context/target/release" "$work/containers"
  cp Containerfile "$work/context/" && cp "$static" "$work/context/target/release/ssdlab"
  build build -q --isolation chroot -t ssdlab -f Containerfile "$work/context" &&
    build from --name ssdlab-run ssdlab &&
    build run --isolation chroot ssdlab-run -- ssdlab list drives
}
if [ "$(id -u)" != 0 ] || ! command -v buildah >/dev/null; then
  skip "packages: container" "needs root and buildah"
elif [ ! -x "$static" ]; then
  skip "packages: container" "there is no static binary"
elif contained >"$work/contained" 2>&1 && grep -q consumer-sata-1tb "$work/contained"; then
  ok "the container file makes an image whose program runs"
else bad "container: $(tail -3 "$work/contained")"; fi
echo "packages: $passed passed, $failed failed"
[ "$failed" = 0 ]
