# Boots the guest of `ssdlab conform` on what a user-space program makes of the drive:
#   ssdlab conform --kernel KERNEL --modules MODULES -- \
#     sh examples/conform/through.sh PROGRAM {kernel} {initrd} {append} {drive}
# PROGRAM: vhost-user-blk, vhost-user-blk-writethrough (QEMU's storage daemon); qemu-nbd; nbdkit,
# nbdkit-cache (its filter of that name).
set -eu
program=$1 kernel=$2 initrd=$3 append=$4 uri=$5
drive=${uri#*socket=}
folder=$(mktemp -d)
socket=$folder/socket
trap 'kill "$server" 2>/dev/null || true; wait || true; rm -rf "$folder"' EXIT INT TERM
storage_daemon() { # words of the export
  qemu-storage-daemon \
    --blockdev "driver=nbd,node-name=drive,server.type=unix,server.path=$drive,cache.direct=on" \
    --export "type=vhost-user-blk,id=e,node-name=drive,addr.type=unix,addr.path=$socket,$1" >&2 &
  disk="-chardev socket,id=c,path=$socket -device vhost-user-blk-pci,chardev=c"
}
disk="-drive if=none,id=d,format=raw,cache=none,file=nbd+unix:///?socket=$socket
  -device virtio-blk-pci,drive=d"
case $program in
vhost-user-blk) storage_daemon writable=on ;;
vhost-user-blk-writethrough) storage_daemon writable=on,writethrough=on ;;
qemu-nbd) qemu-nbd -k "$socket" -f raw "$uri" >&2 & ;;
nbdkit) nbdkit -f -U "$socket" nbd uri="$uri" >&2 & ;;
nbdkit-cache) nbdkit -f -U "$socket" --filter=cache nbd uri="$uri" >&2 & ;;
*) echo "PROGRAM=$program: see the head of $0" >&2; exit 2 ;;
esac
server=$!
while [ ! -S "$socket" ]; do
  kill -0 "$server" || exit 2
  sleep 0.1
done
# shellcheck disable=SC2086 # Words of an option.
qemu-system-x86_64 -m 1G -machine q35,memory-backend=mem -display none -serial stdio -monitor none \
  -object memory-backend-memfd,id=mem,size=1G,share=on -no-reboot -nodefaults \
  -kernel "$kernel" -initrd "$initrd" -append "$append" $disk
