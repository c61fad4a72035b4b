# Check of docs/does-your-database-survive.md: acknowledged transactions are there, and SQLite's own
# check passes.
set -e
loop=$(losetup -f --show --direct-io=on "$SSDLAB_FILE") || exit 77
trap 'umount "$SSDLAB_DIR/mnt" 2>/dev/null || true; losetup -d "$loop"' EXIT
mkdir "$SSDLAB_DIR/mnt"
mount -o noatime "$loop" "$SSDLAB_DIR/mnt"
db=$SSDLAB_DIR/mnt/test.db
result=$(sqlite3 "$db" "PRAGMA integrity_check;")
[ "$result" = ok ] || { echo "integrity: $result"; exit 1; }
last=$(tail -n 1 "$SSDLAB_MARKS")
found=$(sqlite3 "$db" "SELECT coalesce(max(n), 0) FROM t;")
count=$(sqlite3 "$db" "SELECT count(*) FROM t;")
[ "$last" = begin ] && last=0
if [ "$found" -lt "$last" ] || [ "$count" -ne "$found" ]; then
  echo "acknowledged up to $last, found up to $found, $count rows"
  exit 1
fi
