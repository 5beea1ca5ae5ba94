# Finds the Rust toolchain. Sourced from the root of the repository, never run.
# shellcheck shell=bash

# Puts cargo on the PATH, or stops with the command to install it.
need_rust() {
  local needed have
  command -v cargo >/dev/null || PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
  command -v cargo >/dev/null ||
    die "Rust is not installed; install it with: curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y"
  needed=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
  have=$(cargo --version | cut -d' ' -f2)
  [[ $(printf '%s\n' "$needed" "$have" | sort -V | head -n1) == "$needed" ]] ||
    die "Rust $have is older than the $needed that helmdeck needs; update it with: rustup update stable"
}
