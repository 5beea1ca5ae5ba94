"""A small agent: it opens a page on a desktop, fills in a form, takes a screenshot and ends the session.

    JWT=… python3 examples/agent.py            # HELMDECK_URL, unless it is http://localhost:3000
"""
import json
import os
import urllib.error
import urllib.parse
import urllib.request

URL = os.environ.get("HELMDECK_URL", "http://localhost:3000")
PAGE = "<h1>Order</h1><input placeholder=Name><button onclick=\"document.body.append('Thanks, ', document.querySelector('input').value)\">Send</button>"


def call(method, path, body=None):
    headers = {"Authorization": "Bearer " + os.environ["JWT"], "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{URL}/api/v1/{path}", data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.read()
    except urllib.error.HTTPError as error:
        raise SystemExit(f"{path}: {error.read().decode()}") from None
    except urllib.error.URLError as error:
        raise SystemExit(f"{URL} does not answer: {error.reason}") from None


session = json.loads(call("POST", "sessions", {"mode": "desktop", "label": "python agent"}))["id"]
try:
    print("watch it live:", f"{URL}/sessions/{session}")
    act = lambda action, **fields: call("POST", action, {"session_id": session, **fields})
    act("browser/navigate", url="data:text/html," + urllib.parse.quote(PAGE))
    act("browser/click", selector="[placeholder=Name]")  # by element …
    act("desktop/type", text="Ada Lovelace 世界")  # … or with the keyboard of the desktop
    act("browser/click", selector='role=button[name="Send"]')
    print(json.loads(act("browser/markdown"))["content"])
    with open("screen.png", "wb") as file:
        file.write(act("desktop/screenshot"))
finally:
    call("DELETE", f"sessions/{session}")
