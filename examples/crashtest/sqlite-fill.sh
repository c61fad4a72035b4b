# Workload of docs/does-your-database-survive.md: transactions of SQLite on ext4 on the drive.
# Needs root, /dev/fuse and a loop device. JOURNAL and SYNCHRONOUS are SQLite's pragmas.
set -e
loop=$(losetup -f --show --direct-io=on "$SSDLAB_FILE") || exit 77
trap 'umount "$SSDLAB_DIR/mnt" 2>/dev/null || true; losetup -d "$loop"' EXIT
mkdir "$SSDLAB_DIR/mnt"
mkfs.ext4 -q -F -E nodiscard,lazy_itable_init=1 -J size=4 "$loop"
mount -o noatime "$loop" "$SSDLAB_DIR/mnt"
db=$SSDLAB_DIR/mnt/test.db
sqlite3 "$db" "PRAGMA journal_mode=${JOURNAL:-WAL}; CREATE TABLE t (n INTEGER PRIMARY KEY);" >/dev/null
sync
"$SSDLAB" mark begin
for n in $(seq "${COUNT:-30}"); do
  sqlite3 "$db" "PRAGMA synchronous=${SYNCHRONOUS:-FULL}; INSERT INTO t VALUES ($n);"
  "$SSDLAB" mark "$n"
done
