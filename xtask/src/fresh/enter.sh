# Makes a folder the root of the file system and runs a script there, in a separate PID namespace. A plain
# chroot does not work: user namespaces cannot be created in one.
#
#   unshare --mount --pid --ipc --uts --fork --kill-child bash enter.sh SYSTEM TOOLCHAIN NEXTEST BUILD ACCOUNT SCRIPT
set -euo pipefail
system=$1 toolchain=$2 nextest=$3 build=$4 account=$5 script=$6

mount --make-rprivate /
mount --bind "$system" "$system"
cd "$system"
mount -t proc proc proc
mount --rbind /sys sys
mount -t tmpfs -o mode=755 dev dev
for node in null zero full random urandom tty; do
  touch "dev/$node"
  mount --bind "/dev/$node" "dev/$node"
done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=666,mode=620 devpts dev/pts
mount -t tmpfs -o mode=1777 shm dev/shm
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
ln -s /proc/self/fd/0 dev/stdin
ln -s /proc/self/fd/1 dev/stdout
ln -s /proc/self/fd/2 dev/stderr
mount -t tmpfs -o mode=1777 tmp tmp
mount -t tmpfs -o mode=755 run run

mkdir -p opt/rust opt/nextest srv/helmdeck/target
mount --bind -o ro "$toolchain" opt/rust
if [[ -n $nextest ]]; then
  touch opt/nextest/cargo-nextest
  mount --bind -o ro "$nextest" opt/nextest/cargo-nextest
fi
mount --bind "$build" srv/helmdeck/target

mkdir -p mnt
pivot_root . mnt
umount -l /mnt
cd /srv/helmdeck
hostname fresh
home=$(getent passwd "$account" | cut -d: -f6)
# A new folder belongs to root.
[[ $(stat -c %U target) == "$account" ]] || chown -R "$account:" target
exec setpriv --reuid="$account" --regid="$account" --init-groups \
  env HOME="$home" USER="$account" LOGNAME="$account" SHELL=/bin/bash LANG=C.UTF-8 \
  PATH=/opt/rust/bin:/opt/nextest:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  bash -c "$script" </dev/null
