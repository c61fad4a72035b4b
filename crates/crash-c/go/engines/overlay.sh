# Prints the overlay with which `go test -overlay` compiles bbolt: its own source, with the four calls
# that write, sync and resize its file going through hooks. Usage: sh overlay.sh FOLDER >overlay.json
set -e
folder=$(realpath "$1")
source=$(go list -m -f '{{.Dir}}' go.etcd.io/bbolt)
sed 's/db\.ops\.writeAt = db\.file\.WriteAt/db.ops.writeAt = func(b []byte, off int64) (int, error) { return CrashWriteAt(db.file, b, off) }/
  s/db\.file\.Truncate(int64(sz))/CrashTruncate(db.file, int64(sz))/
  s/db\.file\.Sync()/CrashSync(db.file)/' "$source/db.go" >"$folder/db.go"
[ "$(diff "$source/db.go" "$folder/db.go" | grep -c '^>')" = 3 ] ||
  { echo "bbolt's source is another than overlay.sh knows" >&2; exit 2; }
cat >"$folder/bolt_linux.go" <<'GO'
package bbolt

import "os"

// Hooks of a test; see overlay.sh.
var (
	CrashWriteAt  func(*os.File, []byte, int64) (int, error)
	CrashTruncate func(*os.File, int64) error
	CrashSync     func(*os.File) error
	CrashSyncData func(*os.File) error
)

func fdatasync(db *DB) error { return CrashSyncData(db.file) }
GO
printf '{"Replace": {"%s/db.go": "%s/db.go", "%s/bolt_linux.go": "%s/bolt_linux.go"}}\n' \
  "$source" "$folder" "$source" "$folder"
