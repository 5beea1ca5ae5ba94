# Sets up the account of a new system, in a chroot. Only a user gets sudo: a minimal Debian has none.
#
#   chroot SYSTEM bash -e account.sh ACCOUNT HOME
account=$1 home=/$2

# Debian's installer creates it; debootstrap does not.
[[ -e /etc/hosts ]] || printf '127.0.0.1 localhost\n::1 localhost\n' >/etc/hosts
# The certificates of this machine; without the package, its installation does this.
if command -v update-ca-certificates >/dev/null; then update-ca-certificates >/dev/null; fi
if [[ $account != root ]]; then
  apt-get -q update
  DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends sudo
  mkdir -p "$home"
  useradd --no-create-home --home-dir "$home" --shell /bin/bash --groups sudo "$account"
  # The folder exists: it has the configuration of registries.
  cp -a /etc/skel/. "$home"
  echo "$account ALL=(ALL) NOPASSWD: ALL" >/etc/sudoers.d/fresh
fi
chown -R "$account:" "$home"
