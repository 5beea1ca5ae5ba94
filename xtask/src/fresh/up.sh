# README's "Start" and "First click": starts the server, creates a desktop, takes a screenshot, ends both.
# `cargo xtask fresh` runs it in the clone.
set -euo pipefail

make up | tee /tmp/up.log
JWT=$(sed -n 's/^export JWT=//p' /tmp/up.log)
url=$(sed -n 's/^helmdeck: *//p' /tmp/up.log)
make status

call() { curl --fail-with-body -sS -H "Authorization: Bearer $JWT" "$@"; }
id=$(call -X POST "$url/api/v1/sessions" -d '{"mode": "desktop", "label": "fresh"}' | jq -r '.id // error(.message)')
call "$url/api/v1/desktop/screenshot" -d "{\"session_id\": \"$id\"}" >/tmp/screen.png
[[ $(head -c 4 /tmp/screen.png | tail -c 3) == PNG ]]
echo "A desktop was created; its picture has $(stat -c %s /tmp/screen.png) bytes."
call -X DELETE "$url/api/v1/sessions/$id"

make down
target/release/helmdeck doctor
