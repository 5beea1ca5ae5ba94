#!/usr/bin/env bash
# Connects OpenClaw to helmdeck: registers the MCP server with a new token, and installs the skill.
# Can be run again at any time, for a new token or after an update.
#
#   scripts/configure-openclaw.sh [--seed-identity] [--skip-mcp] [--skip-skills] [--profile NAME]
#
#   --seed-identity   also write an IDENTITY.md into the agent's workspace, unless there is one
#   --skip-mcp        leave the MCP server as it is
#   --skip-skills     leave the skill as it is
#   --profile NAME    the tools that OpenClaw lists: all, core (default), browser, desktop, code
#
# OPENCLAW_CONTAINER names the container that OpenClaw runs in; without it, `openclaw` of this machine
# is used. HELMDECK_URL is the address of helmdeck, HELMDECK_TOKEN the token that makes the new one;
# OPENCLAW_HELMDECK_URL is the address as the container reaches it, if that is another one.
# HELMDECK_BIN is the helmdeck program, if it is not on the PATH.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/say.sh
source "$root/scripts/say.sh"

identity=false mcp=true skills=true profile=core
while [[ $# -gt 0 ]]; do
  case $1 in
    --seed-identity) identity=true ;;
    --skip-mcp) mcp=false ;;
    --skip-skills) skills=false ;;
    --profile)
      profile=${2:?"--profile needs a name"}
      shift
      ;;
    -h | --help)
      sed -n '2,17s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    *) die "There is no option '$1'; see --help." ;;
  esac
  shift
done

container=${OPENCLAW_CONTAINER:-}
program=${HELMDECK_BIN:-}
if [[ -z $program ]]; then
  program=$(command -v helmdeck || true)
  for built in "$root/target/release/helmdeck" "$root/target/debug/helmdeck"; do
    [[ -z $program && -x $built ]] && program=$built
  done
fi
[[ -n $program ]] || die "There is no helmdeck program; run 'make up' first, or set HELMDECK_BIN."

# Where OpenClaw runs: in a container, or here.
if [[ -n $container ]]; then
  command -v docker >/dev/null || die "OPENCLAW_CONTAINER is set, and there is no docker."
  inside() { docker exec -i "$container" "$@"; }
else
  command -v openclaw >/dev/null || die "There is no openclaw program; install OpenClaw, or set OPENCLAW_CONTAINER."
  inside() { "$@"; }
fi
# shellcheck disable=SC2016 # the variables are those of the machine that OpenClaw runs on
state=$(inside sh -c 'printf %s "${OPENCLAW_STATE_DIR:-$HOME/.openclaw}"')

if [[ $mcp == true ]]; then
  if [[ -n $container ]]; then
    server=${OPENCLAW_HELMDECK_URL:-${HELMDECK_URL:-}}
    [[ -n $server ]] || die "Set OPENCLAW_HELMDECK_URL to the address of helmdeck as the container reaches it."
    token=$("$program" call connect.create client=openclaw "profile=$profile" | jq -er .token)
    entry=$(TOKEN=$token URL="${server%/}/mcp?profile=$profile" jq -nc '{
      url: env.URL, transport: "streamable-http", requestTimeoutMs: 3660000,
      headers: {Authorization: "Bearer \(env.TOKEN)"}}')
    inside openclaw mcp set helmdeck "$entry" >/dev/null
    say "Registered helmdeck in the OpenClaw of $container."
  else
    "$program" connect openclaw --profile "$profile"
  fi
fi

if [[ $skills == true ]]; then
  "$program" skill print | inside sh -c "mkdir -p '$state/skills/helmdeck' && cat >'$state/skills/helmdeck/SKILL.md'"
  say "Installed the skill: $state/skills/helmdeck/SKILL.md"
fi

if [[ $identity == true ]]; then
  file=$state/workspace/IDENTITY.md
  if inside test -e "$file"; then
    say "$file exists and stays as it is."
  else
    inside sh -c "mkdir -p '$state/workspace' && cat >'$file'" <<'IDENTITY'
# Identity

You operate computers with helmdeck. Load the helmdeck skill before you browse, click or run programs,
and give the user the link to the live view when you start.
IDENTITY
    say "Wrote $file."
  fi
fi
say "Check it: openclaw mcp probe helmdeck"
