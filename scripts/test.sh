#!/usr/bin/env bash
# Every check that must pass before a change is merged, the same by hand and in CI.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/say.sh
source scripts/say.sh
# shellcheck source=scripts/toolchain.sh
source scripts/toolchain.sh
# shellcheck source=scripts/steps.sh
source scripts/steps.sh

packages() {
  scripts/packages.sh install runtime build test
  scripts/web.sh node
  # X servers keep their sockets here. Debian creates it at boot, but containers may lack it.
  [[ -d /tmp/.X11-unix ]] || as_root install -d -m 1777 /tmp/.X11-unix
}

toolchain() {
  cargo --version
  cargo clippy --version || die "clippy is missing; install it with: rustup component add clippy"
  if ! cargo nextest --version >/dev/null 2>&1; then
    say "cargo-nextest, which runs the tests, is missing. Installing it."
    cargo install cargo-nextest --locked
  fi
}

# Lints and tests share one build: clippy's compiler also produces the programs. `cargo clippy` would
# check all dependencies a second time.
lint_while_building() {
  export RUSTC_WORKSPACE_WRAPPER CLIPPY_ARGS CARGO_INCREMENTAL
  RUSTC_WORKSPACE_WRAPPER="$(rustc --print sysroot)/bin/clippy-driver"
  CLIPPY_ARGS=-Dwarnings__CLIPPY_HACKERY__
  # Writing incremental data takes a tenth of the time.
  CARGO_INCREMENTAL=0
}

# The page tests mostly wait for browsers, so the generated requests run at the same time.
page_and_requests() {
  local requests code=0
  requests=$(mktemp)
  HELMDECK_FAKE_SERVER="$programs/fake-server" "$programs/xtask" schemathesis --seconds 60 >"$requests" 2>&1 &
  scripts/web.sh e2e || code=$?
  wait $! || code=$?
  cat "$requests"
  rm -f "$requests"
  return "$code"
}

# Installing cargo-deny takes minutes, so this runs only if it is installed.
dependencies() {
  if cargo deny --version >/dev/null 2>&1; then
    cargo deny check licenses bans sources
  else
    say "Skipped: cargo-deny is not installed. Install it with: cargo install cargo-deny --locked"
  fi
}

# The commands of clients build for systems without sandboxes, so they need no crates but these.
client() {
  local servers
  servers=$(cargo tree --package helmdeck --no-default-features --edges normal --prefix none |
    grep -oE '^helmdeck-[a-z0-9-]+' | sort -u |
    grep -vxE 'helmdeck-(cdp|egress|schema|task|tls|wire)' || true)
  [[ -z $servers ]] || die "The commands of clients depend on crates of servers: $servers"
  cargo check --package helmdeck --no-default-features
}

begin_steps "make test"
ask_step "packages" packages
need_rust
step "toolchain" toolchain
step "web page" scripts/web.sh build
step "web page: types and unit tests" scripts/web.sh check
step "format" cargo fmt --check
step "dependencies" dependencies
lint_while_building
step "client commands alone" client
step "lints and tests" cargo nextest run --workspace
programs=$(realpath "${CARGO_TARGET_DIR:-target}/debug")
HELMDECK_BIN="$programs/helmdeck" step "the page in a browser, and generated requests" page_and_requests
if [[ $EUID -eq 0 ]]; then
  # Sandboxes differ between root and ordinary users.
  step "end-to-end as an ordinary user" scripts/e2e-as-user.sh
fi
end_steps
