#!/usr/bin/busybox sh
# First process of the guest of tests/vm/pull.py. The host's lines are commands, run one by one;
# lines that begin with @ are for the host. The host is 10.0.2.2.
export PATH=/usr/sbin:/usr/bin
/usr/bin/busybox --install -s /usr/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev 2>/dev/null
mkdir -p /tmp
stty -echo
while read -r module; do insmod "/usr/modules/$module"; done </usr/modules/order
for _ in $(seq 200); do [ -b /dev/vda ] && [ -e /sys/class/net/eth0 ] && break; sleep 0.1; done
ifconfig lo up
ifconfig eth0 10.0.2.15 netmask 255.255.255.0 up
echo "@booted"
while read -r line; do
  [ "$line" = end ] && poweroff -f
  { sh -c "$line" </dev/null 2>&1; echo "exit $?"; } | while IFS= read -r said; do echo "@$said"; done
done
