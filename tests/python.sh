#!/usr/bin/env bash
# Builds the Python package, installs it into a virtual environment of its own, and tests it there:
# types, examples, tests, the notebook, a sweep on Dask whose workers are killed. The same wheel is
# then tested on the oldest and the newest other Python that is installed, with no package but pytest.
#
#   bash tests/python.sh [SSDLAB]
#
# SSDLAB: the command line that results are compared with (default: target/debug/ssdlab, which is
# built if it is not there). The package is built in the profile of that binary, so that the crates
# below it are not compiled twice. SSDLAB_PYTHON names the interpreter (default: python3).
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/skips.sh
target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target"
target=$(realpath "$target")
python=${SSDLAB_PYTHON:-python3}
ssdlab=${1:-$target/debug/ssdlab}
[ -x "$ssdlab" ] || cargo build --quiet -p ssdlab -p ssdlab-python
ssdlab=$(realpath "$ssdlab")
profile=dev
[[ "$ssdlab" != */release/* ]] || profile=release

venv=$target/venv-python
[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
# One list, so that a change of it is seen.
packages=("maturin==1.*" pyarrow pandas polars duckdb "mypy==1.*" "pytest>=8" "dask[distributed]"
  nbclient ipykernel)
wanted=$(printf '%s\n' "${packages[@]}")
if [ "$(cat "$venv/installed" 2>/dev/null)" != "$wanted" ]; then
  "$venv/bin/pip" install -q --disable-pip-version-check "${packages[@]}" || {
    skip python "the packages of PyPI that it needs cannot be installed"
    exit 0
  }
  echo "$wanted" >"$venv/installed"
fi

wheels=$(mktemp -d)
trap 'rm -rf "$wheels"' EXIT
"$venv/bin/maturin" build -m crates/python/Cargo.toml --profile "$profile" \
  --interpreter "$venv/bin/python" --out "$wheels" >"$wheels/log" 2>&1 ||
  { cat "$wheels/log" && exit 1; }
"$venv/bin/pip" install -q --disable-pip-version-check --no-deps --force-reinstall "$wheels"/*.whl

# What follows sees the installed package, not the sources.
cd "$wheels"
tests=$OLDPWD/crates/python/tests
export SSDLAB=$ssdlab PYTHONDONTWRITEBYTECODE=1
"$venv/bin/mypy" --strict --no-error-summary --cache-dir "$venv/mypy" -p ssdlab
"$venv/bin/mypy" --strict --no-error-summary --cache-dir "$venv/mypy" \
  --disable-error-code=import-untyped --disable-error-code=unused-ignore "$tests"
"$venv/bin/python" -m pytest -q -p no:cacheprovider --rootdir "$tests" "$tests"

# Interpreters of other versions that run the wheel, by version: path.
others() {
  local folder path version own
  own=$("$venv/bin/python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  for path in /usr/bin/python3.? /usr/bin/python3.?? "$HOME"/.*env/versions/3.*/bin/python3; do
    version=$("$path" -c 'import sys, venv; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) ||
      continue
    case $version in "$own" | 3.[0-8]) ;; *) echo "$version $path" ;; esac
  done | sort -V -u -k 1,1 | sed -n '1p;$p' | uniq
}
mapfile -t found < <(others)
[ ${#found[@]} = 2 ] || skip "python: three versions" "installed beside this one: ${found[*]:-none}"
for other in "${found[@]}"; do
  read -r version path <<<"$other"
  [ -x "$venv-$version/bin/pytest" ] ||
    { "$path" -m venv "$venv-$version" && "$venv-$version/bin/pip" install -q "pytest>=8"; }
  "$venv-$version/bin/pip" install -q --disable-pip-version-check --no-deps --force-reinstall \
    "$wheels"/*.whl
  echo "-- $("$venv-$version/bin/python" --version)"
  # A sweep's example needs pyarrow, which the version above has tried.
  "$venv-$version/bin/python" -m pytest -q -p no:cacheprovider --rootdir "$tests" \
    --deselect "test_docs.py::test_examples[_sweep]" "$tests"/test_{crash,docs,lives,serve}.py
done
