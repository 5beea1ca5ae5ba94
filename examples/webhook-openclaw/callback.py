"""Receives webhooks of helmdeck and passes them on to an OpenClaw chat as system messages.

    HELMDECK_WEBHOOK_SECRET=… OPENCLAW_HOOKS_TOKEN=… python3 examples/webhook-openclaw/callback.py

It answers POST /done on port 8080. Every message must carry a Standard Webhooks signature that is at most five minutes
old. See README.md beside this file.
"""

import base64
import hashlib
import hmac
import json
import os
import sys
import time
import urllib.request
from collections import OrderedDict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

SECRET = os.environ["HELMDECK_WEBHOOK_SECRET"]
OPENCLAW_URL = os.environ.get("OPENCLAW_URL", "http://127.0.0.1:18789")
OPENCLAW_TOKEN = os.environ["OPENCLAW_HOOKS_TOKEN"]
ADDRESS = os.environ.get("CALLBACK_ADDRESS", "127.0.0.1")
PORT = int(os.environ.get("CALLBACK_PORT", "8080"))

MAX_AGE_S = 300
MAX_BODY = 32 << 20
MAX_TEXT = 8000
DEADLINE_S = 8  # helmdeck gives up after ten seconds, and tries again.
REMEMBERED = 1000

passed_on: "OrderedDict[str, None]" = OrderedDict()
lock = Lock()


def signing_key() -> bytes:
    if SECRET.startswith("whsec_"):
        return base64.b64decode(SECRET.removeprefix("whsec_"))
    return SECRET.encode()


def is_genuine(headers, body: bytes) -> bool:
    """Whether helmdeck sent it, recently."""
    message, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > MAX_AGE_S:
        return False
    signed = f"{message}.{timestamp}.".encode() + body
    expected = base64.b64encode(hmac.new(signing_key(), signed, hashlib.sha256).digest()).decode()
    signatures = [one.removeprefix("v1,") for one in headers.get("webhook-signature", "").split(" ")]
    return any(hmac.compare_digest(expected, one) for one in signatures)


def as_text(event: dict) -> str:
    """What the chat is told."""
    reply = event.get("result") or event.get("error") or {}
    content = "\n".join(part.get("text", "") for part in reply.get("content", []))
    if len(content) > MAX_TEXT:
        content = f"{content[:MAX_TEXT]}\n… The whole result: pack-result {{\"job_id\": \"{event['job_id']}\"}}"
    return f"helmdeck: {event['pack']} has ended: {event['state']} (job {event['job_id']}).\n{content}"


def tell_openclaw(text: str) -> None:
    body = json.dumps({"text": text, "mode": "now"}).encode()
    headers = {"authorization": f"Bearer {OPENCLAW_TOKEN}", "content-type": "application/json"}
    request = urllib.request.Request(f"{OPENCLAW_URL}/hooks/wake", body, headers, method="POST")
    with urllib.request.urlopen(request, timeout=DEADLINE_S) as answer:
        answer.read()


class Callback(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        if self.path != "/done" or length > MAX_BODY:
            return self.answer(404 if self.path != "/done" else 413)
        body = self.rfile.read(length)
        if not is_genuine(self.headers, body):
            return self.answer(401)
        # The same message comes again if helmdeck did not get the answer.
        message = self.headers["webhook-id"]
        with lock:
            if message in passed_on:
                return self.answer(204)
        try:
            tell_openclaw(as_text(json.loads(body)))
        except OSError as problem:
            print(f"OpenClaw did not take it: {problem}", file=sys.stderr)
            return self.answer(503)
        with lock:
            passed_on[message] = None
            while len(passed_on) > REMEMBERED:
                passed_on.popitem(last=False)
        self.answer(204)

    def answer(self, status: int) -> None:
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, form: str, *values: object) -> None:
        print(form % values, file=sys.stderr)


if __name__ == "__main__":
    server = ThreadingHTTPServer((ADDRESS, PORT), Callback)
    print(f"listening on http://{ADDRESS}:{server.server_port}/done", flush=True)
    server.serve_forever()
