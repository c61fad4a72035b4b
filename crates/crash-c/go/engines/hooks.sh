# Copies bbolt's source to a folder, with the four calls that write, sync and resize its file going
# through hooks, and the module's files with that copy in its place. bbolt has no interface for them.
#   sh hooks.sh FOLDER && go test -modfile FOLDER/go.mod ./...
set -e
mkdir -p "$1"
folder=$(realpath "$1")
cd "$(dirname "$0")"
source=$(go list -m -f '{{.Dir}}' go.etcd.io/bbolt)
cp -r "$source" "$folder/bbolt"
chmod -R u+w "$folder/bbolt"
sed -i 's/db\.ops\.writeAt = db\.file\.WriteAt/db.ops.writeAt = func(b []byte, off int64) (int, error) { return CrashWriteAt(db.file, b, off) }/
  s/db\.file\.Truncate(int64(sz))/CrashTruncate(db.file, int64(sz))/
  s/db\.file\.Sync()/CrashSync(db.file)/' "$folder/bbolt/db.go"
[ "$(diff "$source/db.go" "$folder/bbolt/db.go" | grep -c '^>')" = 3 ] ||
  { echo "bbolt's source is another than hooks.sh knows" >&2; exit 2; }
cat >"$folder/bbolt/bolt_linux.go" <<'GO'
package bbolt

import "os"

// Hooks of a test; see hooks.sh.
var (
	CrashWriteAt  func(*os.File, []byte, int64) (int, error)
	CrashTruncate func(*os.File, int64) error
	CrashSync     func(*os.File) error
	CrashSyncData func(*os.File) error
)

func fdatasync(db *DB) error { return CrashSyncData(db.file) }
GO
cp go.mod go.sum "$folder/"
go mod edit -replace "go.etcd.io/bbolt=$folder/bbolt" "$folder/go.mod"
