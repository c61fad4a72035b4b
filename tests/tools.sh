# Sourced by tests/all.sh and tests/outer.sh: what a test needs, installed when it is missing. A test
# whose tools cannot be installed says so itself, in a line that begins with SKIPPED.
target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target"
target=$(realpath "$target")

# Needs root, or sudo without a password.
install() { # Debian packages
  local as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo -n)
  echo "installing: $*"
  # The lists of the last half hour are new enough.
  [ -n "$(find "$target/apt-updated" -mmin -30 2>/dev/null)" ] ||
    { "${as_root[@]}" apt-get update -q && touch "$target/apt-updated"; } || return 1
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -q --no-install-recommends "$@"
}
# Each argument is PROGRAM:PACKAGE, where PROGRAM is a command or the path of a file.
tools() {
  local tool missing=()
  for tool in "$@"; do
    PATH=$PATH:/usr/sbin:/sbin command -v "${tool%:*}" >/dev/null 2>&1 || [ -e "${tool%:*}" ] ||
      missing+=("${tool##*:}")
  done
  [ ${#missing[@]} = 0 ] || install "${missing[@]}" ||
    echo "could not install ${missing[*]}: tests without them say so"
}
# Modules of Python, in a virtual environment in the build folder.
modules() {
  tools /usr/bin/python3:python3
  python3 -c 'import venv, ensurepip' 2>/dev/null || install python3-venv || true
  [ -x "$target/venv/bin/python" ] || python3 -m venv "$target/venv" || true
  "$target/venv/bin/pip" install -q --disable-pip-version-check "$@" ||
    echo "could not install $*: tests without them say so"
}
# The programs that scripts run. The whole workspace and an example are named so that dependencies
# have the features that `cargo test --workspace` gives them: nothing is compiled twice.
program() {
  cargo build --quiet --workspace --bins --example serve_memory "$@"
}
# Nothing is built twice in continuous integration, and no debugger runs: neither intermediate
# results nor line tables.
[ -z "${CI:-}" ] || export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0
