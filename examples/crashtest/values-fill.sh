# Workload of docs/crashtest.md: eight values, each flushed before it is said to be there.
# With FSYNC= it forgets to flush.
for n in 1 2 3 4 5 6 7 8; do
  printf 'value %-505d\n' $n |
    dd of="$SSDLAB_FILE" bs=512 seek=$n conv=notrunc${FSYNC-,fsync} status=none || exit 1
  "$SSDLAB" mark $n
done
