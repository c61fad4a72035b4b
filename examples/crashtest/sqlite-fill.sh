# Workload of docs/test-your-program.md: transactions of SQLite on ext4 on the drive.
# Needs root, /dev/fuse and a loop device; works in the folder SSDLAB_DATA if there is one.
#   JOURNAL      DELETE, TRUNCATE, PERSIST or WAL (WAL)
#   SYNCHRONOUS  OFF, NORMAL, FULL or EXTRA (FULL)
#   COUNT        transactions (30)
# One connection stays open for all of them: closing the last one would checkpoint the WAL, and a
# journal mode other than WAL is forgotten with its connection.
set -e
journal=${JOURNAL:-WAL} synchronous=${SYNCHRONOUS:-FULL}
case $journal in DELETE | TRUNCATE | PERSIST | WAL) ;; *)
  echo "JOURNAL=$journal: allowed are DELETE, TRUNCATE, PERSIST and WAL"; exit 2 ;;
esac
case $synchronous in OFF) level=0 ;; NORMAL) level=1 ;; FULL) level=2 ;; EXTRA) level=3 ;; *)
  echo "SYNCHRONOUS=$synchronous: allowed are OFF, NORMAL, FULL and EXTRA"; exit 2 ;;
esac
finish() {
  kill "$sqlite" 2>/dev/null && wait "$sqlite" || true
  [ -z "$loop" ] || { umount "$data" 2>/dev/null || true; losetup -d "$loop"; }
}
loop="" data=$SSDLAB_DATA
trap finish EXIT
if [ -z "$data" ]; then
  loop=$(losetup -f --show --direct-io=on "$SSDLAB_FILE") || exit 77
  data=$SSDLAB_DIR/mnt
  mkdir "$data"
  mkfs.ext4 -q -F -E nodiscard,lazy_itable_init=1 -J size=4 "$loop"
  mount -o noatime "$loop" "$data"
fi

mkfifo "$SSDLAB_DIR/ask" "$SSDLAB_DIR/answers"
stdbuf -oL sqlite3 -bail "$data/test.db" <"$SSDLAB_DIR/ask" >"$SSDLAB_DIR/answers" &
sqlite=$!
exec 3>"$SSDLAB_DIR/ask" 4<"$SSDLAB_DIR/answers"
answer() { # SQL, and the answer it must give
  echo "$1" >&3
  read -r said <&4 || said="nothing"
  [ "$said" = "$2" ] || { echo "$1 answered $said, not $2"; exit 1; }
}
answer "PRAGMA journal_mode=$journal;" "$(echo "$journal" | tr '[:upper:]' '[:lower:]')"
answer "PRAGMA wal_autocheckpoint=10;" 10
answer "CREATE TABLE t (n INTEGER PRIMARY KEY, text TEXT); SELECT 'made';" made
answer "PRAGMA synchronous=$synchronous; PRAGMA synchronous;" "$level"
sync
"$SSDLAB" mark begin
for n in $(seq "${COUNT:-30}"); do
  answer "INSERT INTO t VALUES ($n, hex(zeroblob(600 + $n))); SELECT $n;" "$n"
  "$SSDLAB" mark "$n"
done
