#!/usr/bin/env bash
# Builds, starts, stops and inspects the server of this checkout.
#
#   scripts/server.sh build|up|down|status|logs|doctor
#
# If HELMDECK_BIN is set, that binary is used and nothing is installed or built.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/say.sh
source scripts/say.sh
# shellcheck source=scripts/toolchain.sh
source scripts/toolchain.sh

readonly bin="${HELMDECK_BIN:-${CARGO_TARGET_DIR:-target}/release/helmdeck}"
readonly start_deadline_s=30
readonly stop_deadline_s=15
readonly token_label="make up"

build() {
  if [[ -n ${HELMDECK_BIN:-} ]]; then return 0; fi
  scripts/packages.sh install build
  need_rust
  say "Building the web page."
  scripts/web.sh build
  if [[ -x $bin ]]; then
    say "Building helmdeck."
  else
    say "Building helmdeck. The first build takes about five minutes on two cores."
  fi
  cargo build --release --package helmdeck
  # The name under which MCP clients can start `helmdeck mcp`.
  ln -sf helmdeck "${bin}-mcp"
}

up() {
  local pid token changes why advice
  if [[ -z ${HELMDECK_BIN:-} ]]; then scripts/packages.sh install runtime; fi
  build
  read_config
  if pid=$(server_pid); then
    changes=$(changed_settings)
    why=''
    if ! cmp -s "/proc/$pid/exe" "$bin"; then why="helmdeck was rebuilt since it started"; fi
    if [[ -n $changes ]]; then
      say "Settings that changed since helmdeck started:"
      sed 's/^/  /' <<<"$changes"
      why=${why:-"The settings changed"}
    fi
    if [[ -z $why ]]; then
      say "helmdeck is already running (pid $pid)."
    else
      # Check before the old server is stopped.
      if grep -q '^addr: ' <<<"$changes"; then refuse_used_address; fi
      say "$why; restarting it. Its sessions keep running."
      stop "$pid" TERM
      start
    fi
  else
    start
  fi
  ready || true # It knows whether the server speaks TLS.
  token=$("$bin" token --sub "$("$bin" config --get admin_username)" --scopes admin --label "$token_label")
  revoke_earlier_tokens "$token" || true
  say ""
  say "helmdeck: $(url)"
  say "login:    $("$bin" config --get admin_username)   (reset a lost password: $bin admin reset-password)"
  say "log:      $log   (show: make logs; stop: make down)"
  say "connect:  $bin connect claude-code   (list other clients: $bin connect)"
  advice=$("$bin" config --advice)
  if [[ $advice == WARNING* ]]; then
    say ""
    say "$bold$red$advice$plain"
  elif [[ -n $advice ]]; then
    say ""
    say "$advice"
  fi
  say ""
  say "To call the API from a shell, paste:"
  say "export JWT=$token"
}

down() {
  local pid
  if [[ -x $bin ]]; then
    read_config
  else
    pid_file=$(usual_data_dir)/server.pid
  fi
  if pid=$(server_pid); then
    stop "$pid" INT
    say "helmdeck is stopped."
  elif [[ -x $bin ]]; then
    say "helmdeck is not running."
  else
    say "helmdeck is not built here, and $pid_file names no running server. Set HELMDECK_DATA_DIR if it runs with another data directory."
  fi
}

status() {
  local pid changes started_with
  [[ -x $bin ]] || die "helmdeck is not built yet; run: make up"
  read_config
  if ! pid=$(server_pid); then
    say "helmdeck is not running; start it with: make up"
    return 0
  fi
  changes=$(changed_settings)
  # The running server still uses its old address.
  started_with=$(sed -n 's/^addr: "\(.*\)" -> .*/\1/p' <<<"$changes")
  addr=${started_with:-$addr}
  if ready; then
    say "helmdeck is running and ready: $(url) (pid $pid, since $(date -d "@$(stat -c %Y "/proc/$pid")" '+%F %T'))"
    cmp -s "/proc/$pid/exe" "$bin" || say "It was rebuilt since it started; restart it with: make up"
    if [[ -n $changes ]]; then
      say "Settings that changed since it started; apply them with: make up"
      sed 's/^/  /' <<<"$changes"
    fi
  else
    say "helmdeck is running (pid $pid) but not ready; its log: make logs"
  fi
}

logs() {
  [[ -x $bin ]] || die "helmdeck is not built yet; run: make up"
  read_config
  [[ -r $log ]] || die "There is no log yet at $log; start the server with: make up"
  exec tail -n 100 -F "$log"
}

doctor() {
  [[ -x $bin ]] || build
  exec "$bin" doctor
}

# Reads the settings from the binary, which is the only reader of the configuration.
read_config() {
  local data_dir
  addr=$("$bin" config --get addr)
  data_dir=$("$bin" config --get data_dir)
  log=$data_dir/server.log
  pid_file=$data_dir/server.pid
}

# The data directory unless the configuration file sets another, for when there is no binary to ask.
usual_data_dir() {
  if [[ -n ${HELMDECK_DATA_DIR:-} ]]; then
    printf '%s' "$HELMDECK_DATA_DIR"
  elif [[ $EUID -eq 0 ]]; then
    printf /var/lib/helmdeck
  else
    printf '%s/helmdeck' "${XDG_DATA_HOME:-$HOME/.local/share}"
  fi
}

# revoke_earlier_tokens TOKEN: revokes what earlier calls printed. The list has TOKEN, the newest, first.
revoke_earlier_tokens() {
  local token=$1 id
  # With a token and without an address, the binary calls the server of this machine.
  call() { (unset HELMDECK_URL && HELMDECK_TOKEN="$token" "$bin" call "$@"); }
  call token.list |
    jq -r --arg wanted "$token_label" \
      '[.tokens[] | select(.client == $wanted and .revoked_at == null)] | .[1:] | .[].id' |
    while read -r id; do call token.revoke "id=$id" >/dev/null; done
}

# The pid of this checkout's server if it runs. Ignores stale pids that are unused or belong to
# another program.
server_pid() {
  local pid
  pid=$(cat "$pid_file" 2>/dev/null) || return 1
  [[ $pid =~ ^[0-9]+$ && $(cat "/proc/$pid/comm" 2>/dev/null) == helmdeck ]] || return 1
  tr '\0' '\n' <"/proc/$pid/cmdline" 2>/dev/null | grep -qx serve || return 1
  printf '%s' "$pid"
}

# Settings that differ from those of the running server, one per line. Old servers do not store
# their settings, but are restarted anyway because they were rebuilt.
changed_settings() { "$bin" config --changes 2>/dev/null || true; }

refuse_used_address() {
  if answers; then
    die "$addr is in use by another program; stop that one, or choose another address: HELMDECK_ADDR=127.0.0.1:3001 make up"
  fi
}

start() {
  local pid login seen_log
  refuse_used_address
  login=$("$bin" admin init)
  if [[ -n $login ]]; then
    say ""
    say "An administrator was created; the password is shown only once:"
    say "  username  ${login%%$'\t'*}"
    say "  password  ${login#*$'\t'}"
  fi

  umask 077
  mkdir -p "$(dirname "$log")"
  touch "$log"
  seen_log=$(stat -c %s "$log")
  setsid nohup "$bin" serve >>"$log" 2>&1 </dev/null &
  pid=$!
  for ((i = 0; i < start_deadline_s * 5; i++)); do
    if ready; then return 0; fi
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.2
  done

  say "The end of $log:" >&2
  tail -c "+$((seen_log + 1))" "$log" | tail -n 30 >&2
  if kill -0 "$pid" 2>/dev/null; then
    die "helmdeck was started (pid $pid) but is not ready after $start_deadline_s s; 'make doctor' checks this machine."
  fi
  die "helmdeck stopped while starting, for the reason above; 'make doctor' checks this machine."
}

# stop PID SIGNAL: INT ends the sessions, too; TERM leaves them to the next server.
stop() {
  kill -"$2" "$1" 2>/dev/null || [[ ! -e /proc/$1 ]] ||
    die "The server (pid $1) belongs to another user; stop it as that user."
  for ((i = 0; i < stop_deadline_s * 5; i++)); do
    [[ -e /proc/$1 ]] || return 0
    sleep 0.2
  done
  die "helmdeck (pid $1) did not stop within $stop_deadline_s s; end it with: kill -KILL $1"
}

# The host to reach the server from this machine: loopback for a wildcard address.
reachable_host() {
  case ${addr%:*} in
    0.0.0.0 | '' | '[::]') printf 127.0.0.1 ;;
    *) printf '%s' "${addr%:*}" ;;
  esac
}

# The server's URL.
url() {
  local host
  host=$(reachable_host)
  [[ $host == 127.0.0.1 || $host == '[::1]' ]] && host=localhost
  printf '%s://%s:%s' "$scheme" "$host" "${addr##*:}"
}

# Whether the server is ready; sets the scheme that it speaks. The certificate is not checked: nothing is sent
# but this request, and the name in it need not be this machine's.
ready() {
  for scheme in https http; do
    if curl --insecure --noproxy '*' -fsS -m 2 -o /dev/null "$scheme://$(reachable_host):${addr##*:}/readyz" 2>/dev/null; then
      return 0
    fi
  done
  return 1
}

# Whether a program listens on the address.
answers() {
  local host
  host=$(reachable_host)
  host=${host#[}
  (exec 3<>"/dev/tcp/${host%]}/${addr##*:}") 2>/dev/null
}

case ${1:-} in
  build | up | down | status | logs | doctor) "$1" ;;
  *) die "Usage: scripts/server.sh build|up|down|status|logs|doctor" ;;
esac
