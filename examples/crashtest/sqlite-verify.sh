# Check of docs/test-your-program.md: SQLite's own check passes, and every acknowledged
# transaction is there. Says `damaged` or `lost` first if not.
set -e
data=$SSDLAB_DATA
if [ -z "$data" ]; then
  loop=$(losetup -f --show --direct-io=on "$SSDLAB_FILE") || exit 77
  data=$SSDLAB_DIR/mnt
  trap 'umount "$data" 2>/dev/null || true; losetup -d "$loop"' EXIT
  mkdir "$data"
  mount -o noatime "$loop" "$data" || { echo "damaged: the file system"; exit 1; }
fi
found=$(sqlite3 -bail "$data/test.db" "PRAGMA integrity_check;
  SELECT count(*), coalesce(max(n), 0), coalesce(sum(length(text) = 2 * (600 + n)), 0) FROM t;" 2>&1) ||
  { echo "damaged: $found"; exit 1; }
last=$(tail -n 1 "$SSDLAB_MARKS")
[ "$last" = begin ] && last=0
rows=$(echo "$found" | tail -n 1 | cut -d'|' -f2)
# The rows are 1 to N, each with its text.
[ "$found" = "ok
$rows|$rows|$rows" ] || { echo "damaged: $found"; exit 1; }
[ "$rows" -ge "$last" ] || { echo "lost: acknowledged up to $last, found up to $rows"; exit 1; }
