#!/usr/bin/busybox sh
# First process of the guest of tests/vm/cuts.py and kills.py: SQLite on ext4 on the virtio disk /dev/vda.
# The host says what to do, a line each; lines that begin with @ are for it.
export PATH=/usr/sbin:/usr/bin
/usr/bin/busybox --install -s /usr/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev 2>/dev/null
mkdir -p /run/mnt
stty -echo
while read -r module; do insmod "/usr/modules/$module"; done </usr/modules/order
for _ in $(seq 200); do [ -b /dev/vda ] && break; sleep 0.1; done
database=/run/mnt/db
tell() { echo; echo "@$*"; }
tell "queues $(ls /sys/block/vda/mq | wc -l) cache $(cat /sys/block/vda/queue/write_cache)"
sql() { sqlite3 -bail "$database" "$@"; }
# Inserts rows from number $1 on, each a transaction that is durable before `@ack` is said, until
# one fails or $2 are there.
insert() {
  i=$1
  echo 'PRAGMA synchronous=FULL;'
  while [ "$i" -lt "$2" ]; do
    echo "INSERT INTO t VALUES($i, hex(randomblob(300))); SELECT '@ack ' || $i;"
    i=$((i + 1))
  done
}
# Writes the number $1 as block $2 of a file; more arguments are of dd.
block() {
  number=$1 at=$2
  shift 2
  printf '%-4095d\n' "$number" |
    dd of=/run/mnt/numbers bs=4096 "seek=$at" iflag=fullblock "$@" 2>/dev/null
}
# Writes every second number from $1 to $2, and says `@durable` of each.
numbers() {
  i=$1
  while [ "$i" -lt "$2" ] && block "$i" "$i" conv=notrunc,fsync; do
    printf '\n@durable %d\n' "$i"
    i=$((i + 2))
  done
}
while read -r what from to; do
  case $what in
  make)
    /usr/sbin/mke2fs -q -F -t ext4 -b 4096 /dev/vda && mount -t ext4 /dev/vda /run/mnt &&
      sql 'PRAGMA journal_mode=WAL; CREATE TABLE t(i INTEGER PRIMARY KEY, x);' >/dev/null &&
      umount /run/mnt && tell made
    ;;
  run)
    if mount -t ext4 /dev/vda /run/mnt; then
      insert "$from" "$to" 2>/dev/null | sql 2>&1
      umount /run/mnt || { sync; umount -l /run/mnt; }
    fi
    tell stopped
    ;;
  check)
    if mount -t ext4 /dev/vda /run/mnt; then
      found=$(sql "SELECT ifnull(max(i), -1) || ' ' || count(*) FROM t; PRAGMA integrity_check;" 2>&1)
      umount /run/mnt
    else
      found="-1 0 cannot be mounted"
    fi
    tell "found $(echo $found)"
    ;;
  write)
    mount -t ext4 /dev/vda /run/mnt
    numbers "$from" "$to" & numbers $((from + 1)) "$to" & wait
    umount /run/mnt
    tell written
    ;;
  look)
    mount -t ext4 /dev/vda /run/mnt
    tell "there $(echo $(tr '\0' ' ' </run/mnt/numbers | tr -cs '0-9' ' '))"
    umount /run/mnt
    ;;
  put)
    mount -t ext4 /dev/vda /run/mnt
    block "$from" 0 conv=notrunc oflag=direct && tell put
    ;;
  flush)
    sync /run/mnt/numbers
    umount /run/mnt
    tell flushed
    ;;
  cache)
    echo "write $from" >/sys/block/vda/cache_type
    tell "cache $(cat /sys/block/vda/cache_type)"
    ;;
  end) poweroff -f ;;
  esac
done
