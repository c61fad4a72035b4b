#!/usr/bin/busybox sh
# First process of the guest of tests/vm/passthrough.py. The host's lines are commands, run one by
# one in the tools that are on the drive with the serial number TOOLS; lines that begin with @ are
# for the host.
export PATH=/usr/bin:/usr/sbin
/usr/bin/busybox --install -s /usr/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev 2>/dev/null
stty -echo
while read -r module; do insmod "/usr/modules/$module"; done </usr/modules/order
tell() { echo; echo "@$*"; }
for _ in $(seq 200); do
  tools=$(grep -ls '^TOOLS' /sys/block/nvme*/device/serial) && [ -b /dev/nvme0n7 ] && break
  sleep 0.1
done
tools=${tools#/sys/block/}
tools=${tools%%/*}
mkdir -p /run/tools
mount -t ext4 -o ro,noload "/dev/$tools" /run/tools || tell "the tools cannot be mounted"
cd /run/tools || exit
for place in dev proc sys; do mount --rbind "/$place" "$place"; done
mount -t tmpfs tmpfs tmp
mount -t tracefs tracefs sys/kernel/tracing
tell "booted $tools $(uname -r)"
while read -r line; do
  [ "$line" = end ] && poweroff -f
  chroot . /usr/bin/busybox sh -c "cd /tmp; $line" </dev/null >/run/said 2>&1
  code=$?
  echo
  sed 's/^/@| /' /run/said
  tell "exit $code"
done
