#!/usr/bin/env bash
# Runs the end-to-end tests that depend on the user again as an ordinary user, which it creates. Uses
# copies of the binaries that this user can read. Needs root; removes the user and all files.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/say.sh
source scripts/say.sh

readonly user=helmdeck-test
readonly deadline_s=900
# Modules that do not depend on the user who runs the server. They were already tested.
readonly above=(auth cancel cdp clock control crowds events forwards health live make_up metrics openapi ownership
  pictures pointing readme rebinding refusals structured tokens typing vnc wall windows)

[[ $EUID -eq 0 ]] || die "Only root can create a user. An ordinary user does not need this script: cargo nextest run --package helmdeck"

binaries=$(cargo nextest list --workspace --list-type binaries-only --message-format json)
tests=$(jq -r '."rust-binaries"["helmdeck::e2e"]."binary-path" // empty' <<<"$binaries")
server=$(jq -r '."rust-build-meta" | ."target-directory" + "/" +
  (."non-test-binaries"[][] | select(.name == "helmdeck").path)' <<<"$binaries")
[[ -x $tests && -x $server ]] || die "The test binary helmdeck::e2e or the helmdeck binary was not built."

made_user=no
# Short, because unix socket paths have at most 107 bytes.
dir=$(mktemp -d /tmp/hd.XXXXXX)

# Without zombies, which have ended already.
processes_of_user() { { ps -o pid=,stat=,args= -u "$user" 2>/dev/null || true; } | awk '$2 !~ /^Z/'; }

clean_up() {
  if [[ $made_user == yes ]]; then
    # Repeated, because a process may start another one meanwhile.
    for ((i = 0; i < 50; i++)); do
      [[ -n $(processes_of_user) ]] || break
      for pid in $(processes_of_user | awk '{ print $1 }'); do
        kill -KILL "$pid" 2>/dev/null || true
      done
      sleep 0.1
    done
    userdel "$user" 2>/dev/null || say "The user $user could not be removed; remove it with: userdel $user" >&2
  fi
  rm -rf "$dir"
}
# Also runs when a signal ends this script.
trap clean_up EXIT

if ! id "$user" >/dev/null 2>&1; then
  useradd --system --user-group --no-create-home --home-dir "$dir/home" --shell /bin/bash "$user"
  made_user=yes
fi
chmod 711 "$dir"
for private in home run tmp; do
  install -d -m 700 -o "$user" -g "$user" "$dir/$private"
done
install -m 755 "$server" "$dir/helmdeck"
install -m 755 "$tests" "$dir/e2e"

cd "$dir/home"

# run_tests LOG ARGS...: runs the test binary as the user.
run_tests() {
  local log=$1
  shift
  timeout --kill-after=10 "$deadline_s" \
    setpriv --reuid="$user" --regid="$user" --init-groups \
    env -i PATH=/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8 USER="$user" LOGNAME="$user" SHELL=/bin/bash \
    HOME="$dir/home" XDG_RUNTIME_DIR="$dir/run" TMPDIR="$dir/tmp" HELMDECK_BIN="$dir/helmdeck" \
    "$dir/e2e" --test-threads=2 "$@" | tee "$log"
}

# As in .config/nextest.toml: a few tests with a real browser may be retried on a busy machine. They
# are reported.
run=1
if [[ $# -eq 0 ]]; then
  for module in "${above[@]}"; do
    set -- "$@" "--skip=$module::"
  done
fi
until run_tests "$dir/run-$run" "$@"; do
  mapfile -t failed < <(sed -n 's/^test \(.*\) \.\.\. FAILED$/\1/p' "$dir/run-$run")
  [[ $run -le 2 && ${#failed[@]} -gt 0 && ${#failed[@]} -le 8 ]] ||
    die "${#failed[@]} end-to-end tests failed as an ordinary user."
  say "Flaky, retrying: ${failed[*]}"
  set -- --exact "${failed[@]}"
  run=$((run + 1))
done

for ((i = 0; i < 25; i++)); do
  [[ -n $(processes_of_user) ]] || exit 0
  sleep 0.2
done
processes_of_user >&2
die "The tests passed but left the processes above running."
