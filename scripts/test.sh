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
  # Debian makes it when it boots, a container may lack it, and only root can: X servers keep their
  # sockets there.
  [[ -d /tmp/.X11-unix ]] || as_root install -d -m 1777 /tmp/.X11-unix
}

toolchain() {
  cargo --version
  cargo clippy --version || die "clippy is missing; install it with: rustup component add clippy"
  if ! cargo nextest --version >/dev/null 2>&1; then
    say "cargo-nextest is missing; it runs the tests side by side and ends the ones that hang. Installing it."
    cargo install cargo-nextest --locked
  fi
}

# One build for lints and tests: clippy's compiler makes the programs, too. What `cargo clippy` runs is the same,
# and would compile all dependencies once more, to nothing but their interfaces.
lint_while_building() {
  export RUSTC_WORKSPACE_WRAPPER CLIPPY_ARGS CARGO_INCREMENTAL
  RUSTC_WORKSPACE_WRAPPER="$(rustc --print sysroot)/bin/clippy-driver"
  CLIPPY_ARGS=-Dwarnings__CLIPPY_HACKERY__
  # What one run leaves for the next takes a tenth of the time.
  CARGO_INCREMENTAL=0
}

# The page waits most of its time for browsers, so generated requests run beside it.
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

# Installing cargo-deny takes minutes, so this runs where it is installed.
dependencies() {
  if cargo deny --version >/dev/null 2>&1; then
    cargo deny check licenses bans sources
  else
    say "Skipped: cargo-deny is not installed. Install it with: cargo install cargo-deny --locked"
  fi
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
step "lints and tests" cargo nextest run --workspace
programs=$(realpath "${CARGO_TARGET_DIR:-target}/debug")
HELMDECK_BIN="$programs/helmdeck" step "the page in a browser, and generated requests" page_and_requests
if [[ $EUID -eq 0 ]]; then
  # A server run by root and one run by a person build their sandboxes differently.
  step "end-to-end as an ordinary user" scripts/e2e-as-user.sh
fi
end_steps
