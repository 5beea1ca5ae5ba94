# Runs the steps of a script and always reports the result. Sourced after say.sh, never run.
#
#   begin_steps NAME; step TITLE COMMAND...; end_steps
#
# A signal ends the running step with everything it started, and the summary reports it. For that,
# each step runs in a separate process group, without a terminal. Use `ask_step` for a step that may
# ask for a password.
# A script that is killed leaves no step behind either.
# shellcheck shell=bash

# How long a step may take to end after SIGTERM: tests get ten seconds from their runner.
step_grace_s=${step_grace_s:-30}
steps_name='' current='' timings='' job='' guard='' stopped='' finished=no

begin_steps() {
  local signal
  steps_name=$1
  trap summary EXIT
  for signal in HUP INT QUIT PIPE TERM; do
    # shellcheck disable=SC2064
    trap "stopped=$signal; exit $((128 + $(kill -l "$signal")))" "$signal"
  done
}

# Only after this does the summary report success.
end_steps() { finished=yes; }

step() {
  local began=$SECONDS code=0
  current=$1
  shift
  heading "$current"
  set -m
  "$@" </dev/null &
  job=$!
  # In a separate process group, because SIGKILL may be sent to that of this script.
  end_job_after $$ </dev/null &>/dev/null &
  guard=$!
  set +m
  disown "$guard"
  wait "$job" || code=$?
  [[ $code -eq 0 ]] || exit "$code"
  end_guard
  job=''
  took "$began"
}

ask_step() {
  local began=$SECONDS
  current=$1
  shift
  heading "$current"
  "$@"
  took "$began"
}

took() {
  say "-- $current: $((SECONDS - $1)) s"
  timings+="$current $((SECONDS - $1)) s, "
}

# Whether processes of the step are running, without zombies.
job_runs() {
  local file fields
  for file in /proc/[0-9]*/stat; do
    read -r fields 2>/dev/null <"$file" || continue
    # State, parent, process group. The name in parentheses before them may contain spaces.
    read -r -a fields <<<"${fields##*) }"
    if [[ ${fields[2]} == "$job" && ${fields[0]} != [ZX] ]]; then return 0; fi
  done
  return 1
}

# Ends the step when the given process, the parent, is gone. No script can do that itself after SIGKILL.
end_job_after() {
  local parent
  while read -r _ _ _ parent _ <"/proc/$BASHPID/stat" && [[ $parent == "$1" ]]; do sleep 1; done
  end_job
}

end_guard() {
  [[ -z $guard ]] || kill -KILL -- "-$guard" 2>/dev/null || true
  guard=''
}

# Ends the process group of the step and waits until it is gone.
end_job() {
  kill -TERM -- "-$job" 2>/dev/null || return 0
  for ((i = 0; i < step_grace_s * 10; i++)); do
    job_runs || return 0
    sleep 0.1
  done
  say "\"$current\" did not end within $step_grace_s s and was killed." >&2
  kill -KILL -- "-$job" 2>/dev/null || true
}

summary() {
  local code=$?
  trap '' HUP INT QUIT PIPE TERM
  [[ -z $job ]] || end_job
  end_guard
  if [[ -n $stopped ]]; then
    printf '\n%s%s: STOPPED by SIG%s in "%s" after %s s; later steps were not run%s\n' \
      "$red" "$steps_name" "$stopped" "$current" "$SECONDS" "$plain" >&2
  elif [[ $code -ne 0 || $finished != yes ]]; then
    printf '\n%s%s: FAILED in "%s" after %s s%s\n' "$red" "$steps_name" "$current" "$SECONDS" "$plain" >&2
    [[ $code -ne 0 ]] || exit 1
  else
    say ""
    say "$steps_name: everything passed in $SECONDS s (${timings%, })"
  fi
}
