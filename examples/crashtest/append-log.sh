# A small append log with one missing fsync: the program of docs/test-your-program.md.
#
#     sh append-log.sh [RECORDS]
#
# Appends records to segments of 8 in the current folder, syncs each, and prints it as acknowledged.
# A record that opens a segment takes another path, and there its author has forgotten the fsync:
# records 9, 17, 25 and so on are acknowledged before they are durable. MENDED=1 puts it back.
set -e
records=${1:-32} segment=log-0 n=0
: >"$segment"
sync "$segment" .
while [ "$n" -lt "$records" ]; do
  n=$((n + 1))
  if [ "$n" -gt 1 ] && [ $((n % 8)) = 1 ]; then
    segment=log-$((n / 8))
    echo "record $n" >"$segment"
    [ -z "$MENDED" ] || sync "$segment" .
  else
    echo "record $n" >>"$segment"
    sync "$segment"
  fi
  echo "record $n"
done
