#!/usr/bin/env bash
# Runs the end-to-end tests that depend on the user again as an ordinary user, which it creates. Uses
# copies of the binaries that this user can read. Needs root; removes the user and all files.
#
#   scripts/e2e-as-user.sh            run the tests listed below
#   scripts/e2e-as-user.sh ARGS...    run the test binary with these arguments
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/say.sh
source scripts/say.sh

readonly user=helmdeck-test
readonly deadline_s=300
# Tests that depend on the user who runs the server: creation, containment and removal of sandboxes, and
# ownership of their files. Everything else is the same for every user and was already tested.
readonly tests=(
  attach::an_attached_browser_answers_the_api_and_survives_a_restart
  browser::a_headless_browsers_pages_run_in_its_own_sandbox
  browser::a_visible_browsers_pages_run_in_its_own_sandbox
  browser_containment::files_are_handed_over_without_access_to_other_files
  browser_containment::the_sessions_browser_is_invisible_to_the_agents_programs
  commands::the_doctor_checks_every_requirement
  control::an_agents_token_cannot_force_control
  control::freeze_on_takeover_stops_the_agents_programs_while_a_person_has_control
  crowds::a_view_link_and_half_sent_heads_leave_the_server_reachable
  debugging::a_debugging_client_can_neither_end_the_browser_nor_obstruct_a_person
  exec::commands_outlive_a_killed_server_and_the_next_one_has_them
  exec::timeout_disconnect_kill_and_session_end_leave_no_process
  faults::a_browser_is_restarted_when_its_sandbox_is_killed
  faults::a_session_without_its_guest_ends_with_that_reason
  faults::a_session_without_its_nested_sandbox_ends_with_that_reason
  files::a_full_disk_is_reported_and_partial_files_are_removed
  files::nothing_outside_the_home_can_be_read_or_written
  files::uploaded_files_are_visible_to_programs_and_download_unchanged
  forwards::a_forwarded_port_reaches_the_developers_localhost_and_survives_the_server
  inheritance::inherited_descriptors_of_the_server_reach_no_program
  isolation::a_bus_service_of_the_agent_runs_in_the_same_sandbox
  isolation::known_ways_around_the_sandbox_are_closed
  isolation::mounting_is_refused_even_in_a_new_namespace
  isolation::only_the_agents_own_processes_are_visible
  isolation::sandboxes_run_as_separate_unprivileged_users
  isolation::the_hosts_accounts_and_name_are_not_visible
  isolation::the_hosts_files_are_not_visible
  isolation::the_sockets_of_guest_and_x_server_cannot_be_reached
  leftovers::a_killed_test_leaves_neither_server_nor_sandbox
  limits::a_fork_bomb_is_bounded_and_the_session_still_acts
  limits::a_memory_bomb_is_killed_and_the_session_survives_or_reports_why_not
  limits::a_session_reports_its_limits_and_usage
  limits::a_session_with_full_disks_keeps_working
  limits::full_disks_do_not_affect_other_sessions
  network::a_port_opened_inside_is_reachable_only_inside
  network::a_session_cannot_reach_the_hosts_loopback
  network::a_session_has_no_route_and_no_port_except_the_proxy
  private::a_private_sign_in_is_invisible_to_others_and_the_agent_gets_the_page
  processes::deleting_sessions_leaves_no_process_no_directory_and_no_user_id
  processes::sessions_outlive_a_killed_server_and_work_with_the_next
  processes::two_servers_on_one_machine_leave_each_others_sessions_alone
  processes::without_a_server_a_session_ends_at_its_limit_and_leaves_no_process
  runtime::the_local_runtime_does_what_every_runtime_must
  terminal::a_terminal_ends_with_its_programs_when_the_client_disconnects
  workspace::a_command_that_fills_the_workspace_is_killed_and_space_can_be_freed
  workspace::a_workspace_is_on_disk_and_removed_with_its_session_even_after_a_crash
)

[[ $EUID -eq 0 ]] || die "Only root can create a user. An ordinary user does not need this script: cargo nextest run --package helmdeck"

binaries=$(cargo nextest list --workspace --list-type binaries-only --message-format json)
e2e=$(jq -r '."rust-binaries"["helmdeck::e2e"]."binary-path" // empty' <<<"$binaries")
server=$(jq -r '."rust-build-meta" | ."target-directory" + "/" +
  (."non-test-binaries"[][] | select(.name == "helmdeck").path)' <<<"$binaries")
[[ -x $e2e && -x $server ]] || die "The test binary helmdeck::e2e or the helmdeck binary was not built."

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
install -m 755 "$e2e" "$dir/e2e"

cd "$dir/home"

# Failed tests are not retried.
[[ $# -gt 0 ]] || set -- --exact "${tests[@]}"
timeout --kill-after=10 "$deadline_s" \
  setpriv --reuid="$user" --regid="$user" --init-groups \
  env -i PATH=/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8 USER="$user" LOGNAME="$user" SHELL=/bin/bash \
  HOME="$dir/home" XDG_RUNTIME_DIR="$dir/run" TMPDIR="$dir/tmp" HELMDECK_BIN="$dir/helmdeck" \
  "$dir/e2e" --test-threads=2 "$@" | tee "$dir/log" || die "End-to-end tests failed as an ordinary user."
if [[ $1 == --exact ]]; then
  # The test binary ignores names that do not exist.
  passed=$(sed -n 's/^test result: ok\. \([0-9]*\) passed.*/\1/p' "$dir/log")
  [[ $passed -eq $(($# - 1)) ]] || die "$passed of $(($# - 1)) tests ran; scripts/e2e-as-user.sh lists a test that does not exist."
fi

for ((i = 0; i < 25; i++)); do
  [[ -n $(processes_of_user) ]] || exit 0
  sleep 0.2
done
processes_of_user >&2
die "The tests passed but left the processes above running."
