# Workload of docs/test-your-program.md: writes eight values, each flushed before it is marked. FSYNC= skips
# the flush.
for n in 1 2 3 4 5 6 7 8; do
  printf 'value %-505d\n' $n |
    dd of="$SSDLAB_FILE" bs=512 seek=$n conv=notrunc${FSYNC-,fsync} status=none || exit 1
  "$SSDLAB" mark $n
done
