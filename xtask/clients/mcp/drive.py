"""Drives a server with the unmodified Python SDK, in the steps of drive.mjs."""

import asyncio
import base64
import os
import sys
import time

import anyio
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

URL, TOKEN = os.environ["HELMDECK_URL"], os.environ["HELMDECK_TOKEN"]
TRANSPORT, ERA = os.environ["TRANSPORT"], os.environ["ERA"]
LONG_S = float(os.environ.get("LONG_S", "90"))
HEADERS = {"Authorization": f"Bearer {TOKEN}"}


def transport():
    if TRANSPORT == "http":
        http = httpx2.AsyncClient(headers=HEADERS, timeout=httpx2.Timeout(30, read=300))
        return streamable_http_client(f"{URL}/mcp", http_client=http)
    if TRANSPORT == "sse":
        return sse_client(f"{URL}/api/v1/mcp/sse", headers=HEADERS)
    return StdioServerParameters(command=os.environ["HELMDECK_BIN"], args=["mcp"], env=dict(os.environ))


async def succeed(client, name, args=None, **how):
    result = await client.call_tool(name, args or {}, **how)
    assert not result.is_error, f"{name}: {result.content}"
    return result


async def run(client, command, **how):
    args = {"command": command, "timeout_s": 600}
    return (await succeed(client, "session-exec", args, **how)).structured_content


async def until(attempt, what):
    deadline = time.monotonic() + 30
    while True:
        try:
            if await attempt():
                return
            last = "not yet"
        except Exception as error:  # A server that is not there yet.
            last = repr(error)
        assert time.monotonic() < deadline, f"waited in vain: {what}: {last}"
        await asyncio.sleep(0.2)


async def lists(client):
    tools = (await client.list_tools()).tools
    assert any(tool.name == "desktop-click" for tool in tools)
    resources = (await client.list_resources()).resources
    assert any(str(resource.uri) == "helmdeck://sessions" for resource in resources)
    guide = await client.read_resource("helmdeck://routing-guide")
    assert len(guide.contents[0].text) > 100


async def error(client):
    # The listed schema of replies does not describe errors.
    result = await client.call_tool("session-show", {"_session_id": "none"})
    assert result.is_error, "a call for an unknown session succeeded"
    assert result.content[0].text.startswith("not_found: "), result.content


async def desktop(client):
    created = (await succeed(client, "session-create", {"mode": "desktop", "label": "python"})).structured_content
    assert created["status"] == "running" and created["_session_id"] and created["_live_view"]


async def click(client):
    await succeed(client, "desktop-click", {"x": 40, "y": 40})


async def screenshot(client):
    content = (await succeed(client, "desktop-screenshot")).content
    picture = next(block for block in content if block.type == "image")
    assert base64.b64decode(picture.data)[1:4] == b"PNG"


async def long(client):
    notices = []

    async def heard(progress, total, message):
        notices.append(progress)

    output = await run(client, f"sleep {LONG_S}; echo rested", progress_callback=heard)
    assert output["stdout"].strip() == "rested", output
    assert len(notices) >= LONG_S // 10, f"{len(notices)} notices in {LONG_S} s"


async def cancel(client):
    command = f"sleep 7{os.getpid() % 1000}2"

    async def seen():
        return (await run(client, f"pgrep -fx '{command}' || true"))["stdout"].strip() != ""

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run, client, f"exec {command}")
        await until(seen, "the command runs")
        tasks.cancel_scope.cancel()

    async def gone():
        return not await seen()

    await until(gone, "the cancelled command is gone")


async def restart(client):
    print("RESTART", flush=True)
    await asyncio.to_thread(sys.stdin.readline)

    async def works():
        return not (await client.call_tool("desktop-click", {"x": 50, "y": 50})).is_error

    await until(works, "a call after the restart")
    await screenshot(client)
    await client.list_tools()


async def end(client):
    await succeed(client, "session-end")
    # The SDK's transport of 2024 fails if a notification arrives while the client closes.
    await asyncio.sleep(0.5)


STEPS = {
    "list": lists, "error": error, "desktop": desktop, "click": click, "screenshot": screenshot,
    "long": long, "cancel": cancel, "restart": restart, "end": end,
}
# Server-sent events of 2024 belong to one server: that transport cannot go on after a restart.
if TRANSPORT == "sse":
    del STEPS["restart"]


async def main():
    step, began = "connect", time.monotonic()
    try:
        async with Client(transport(), mode=ERA) as client:
            print(f"PROTOCOL {client.protocol_version}", flush=True)
            for step, act in STEPS.items():
                began = time.monotonic()
                await act(client)
                print(f"OK {step} {time.monotonic() - began:.1f} s", flush=True)
            step = "close"
    except BaseException as error:
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        print(f"FAILED {step} {str(error) or repr(error)}"[:400].replace("\n", " "), flush=True)
        sys.exit(1)


asyncio.run(main())
