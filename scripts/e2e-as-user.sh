#!/usr/bin/env bash
# Runs the end-to-end tests that depend on it once more as an ordinary user made for that, from
# copies of the binaries in a place such a user can read. Needs root; leaves neither user nor files.
#
#   scripts/e2e-as-user.sh            the tests below
#   scripts/e2e-as-user.sh ARGS...    the tests that these arguments of the test binary choose
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/say.sh
source scripts/say.sh

readonly user=helmdeck-test
readonly deadline_s=300
# The tests that depend on who runs the server: how sandboxes are made, contain and are cleared away, and who
# owns what is in them. What is decided above the sandbox is the same for every user.
readonly tests=(
  attach::a_browser_of_somebodys_own_answers_the_api_goes_and_comes_back
  browser::a_headless_browsers_pages_run_in_its_own_sandbox
  browser::a_visible_browsers_pages_run_in_its_own_sandbox
  browser_containment::files_are_handed_over_and_lead_the_browser_nowhere_else
  browser_containment::the_sessions_browser_does_not_exist_for_the_agents_programs
  commands::the_doctor_looks_at_every_requirement
  control::the_agents_programs_stop_while_a_person_has_control_if_the_session_asks_for_it
  exec::commands_outlive_a_server_that_is_killed_and_the_next_one_has_them
  exec::time_out_hang_up_and_kill_leave_no_process_and_so_does_the_end_of_the_session
  faults::a_browser_whose_sandbox_was_killed_comes_back
  faults::a_session_without_its_guest_ends_and_says_so
  faults::a_session_without_its_nested_sandbox_ends_and_says_so
  files::a_full_disk_is_said_and_nothing_is_left_of_what_did_not_fit
  files::nothing_outside_the_home_can_be_read_or_written
  files::what_goes_in_is_there_for_programs_and_comes_out_the_same
  forwards::a_forwarded_port_is_the_developers_own_localhost_and_survives_the_server
  inheritance::a_descriptor_that_the_server_inherited_reaches_no_program
  isolation::a_bus_service_of_the_agents_runs_no_closer_to_the_guest
  isolation::known_ways_around_the_sandbox_are_closed
  isolation::mounting_is_refused_even_in_a_namespace_of_ones_own
  isolation::nothing_of_the_hosts_own_files_is_visible
  isolation::only_the_agents_own_processes_are_visible
  isolation::sandboxes_run_as_nobody_in_particular
  isolation::the_accounts_and_the_name_of_the_host_are_not_told
  isolation::the_sockets_of_guest_and_x_server_cannot_be_reached
  leftovers::a_test_that_is_killed_leaves_neither_server_nor_sandbox
  limits::a_fork_bomb_is_bounded_and_the_session_still_acts
  limits::a_memory_bomb_dies_and_the_session_lives_or_says_why_not
  limits::a_session_full_of_files_lives_on
  limits::a_session_says_what_limits_it_and_what_it_uses
  limits::full_disks_are_the_sessions_own
  network::a_port_opened_inside_is_reachable_inside_only
  network::a_session_has_no_route_and_no_port_but_the_proxys
  network::the_hosts_loopback_is_not_the_sessions
  processes::deleting_sessions_leaves_no_process_no_directory_and_no_user_id
  processes::sessions_outlive_a_server_that_is_killed_and_obey_its_successor
  processes::two_servers_on_one_machine_leave_each_others_sessions_alone
  processes::without_any_server_a_session_still_ends_at_its_limit_and_leaves_no_process
  runtime::the_local_runtime_does_what_every_runtime_must
  terminal::a_terminal_whose_client_hangs_up_ends_with_everything_in_it
  workspace::a_workspace_is_on_the_disk_and_gone_with_its_session_also_after_a_crash
  workspace::who_fills_the_workspace_is_stopped_and_can_make_room
)

[[ $EUID -eq 0 ]] || die "Only root can make a user; as an ordinary user the tests already ran as one: cargo nextest run --package helmdeck"

binaries=$(cargo nextest list --workspace --list-type binaries-only --message-format json)
e2e=$(jq -r '."rust-binaries"["helmdeck::e2e"]."binary-path" // empty' <<<"$binaries")
server=$(jq -r '."rust-build-meta" | ."target-directory" + "/" +
  (."non-test-binaries"[][] | select(.name == "helmdeck").path)' <<<"$binaries")
[[ -x $e2e && -x $server ]] || die "The test binary helmdeck::e2e or the helmdeck binary was not built."

made_user=no
# Short, because paths of unix sockets may not be longer than 107 bytes.
dir=$(mktemp -d /tmp/hd.XXXXXX)

# Zombies are left out: they have ended, and their parent is not ours to hurry.
processes_of_user() { { ps -o pid=,stat=,args= -u "$user" 2>/dev/null || true; } | awk '$2 !~ /^Z/'; }

clean_up() {
  if [[ $made_user == yes ]]; then
    # One that is about to start another may need a second round.
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
# Also when a signal ends this script: without a trap for it, bash does not wait for what it runs.
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
install -m 755 "$e2e" "$dir/e2e"

cd "$dir/home"

# None is tried again: a test that fails now and then is a fault of it or of the product.
[[ $# -gt 0 ]] || set -- --exact "${tests[@]}"
timeout --kill-after=10 "$deadline_s" \
  setpriv --reuid="$user" --regid="$user" --init-groups \
  env -i PATH=/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8 USER="$user" LOGNAME="$user" SHELL=/bin/bash \
  HOME="$dir/home" XDG_RUNTIME_DIR="$dir/run" TMPDIR="$dir/tmp" HELMDECK_BIN="$dir/helmdeck" \
  "$dir/e2e" --test-threads=2 "$@" | tee "$dir/log" || die "End-to-end tests failed as an ordinary user."
if [[ $1 == --exact ]]; then
  # A name that no test has is not run, and not complained about.
  passed=$(sed -n 's/^test result: ok\. \([0-9]*\) passed.*/\1/p' "$dir/log")
  [[ $passed -eq $(($# - 1)) ]] || die "$passed of $(($# - 1)) tests ran; scripts/e2e-as-user.sh lists one that does not exist."
fi

for ((i = 0; i < 25; i++)); do
  [[ -n $(processes_of_user) ]] || exit 0
  sleep 0.2
done
processes_of_user >&2
die "The tests passed but left the processes above running."
