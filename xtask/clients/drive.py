"""Drives a server with the client that openapi-python-client generated."""

import io
import os

from helmdeck_client import AuthenticatedClient
from helmdeck_client.api.desktop import desktop_click, desktop_screenshot
from helmdeck_client.api.sessions import create_session, end_session, list_sessions, read_file, write_file
from helmdeck_client.models import Button, Click, CreateSession, ErrorBody, Mode, Screenshot, Session, Status
from helmdeck_client.types import File

client = AuthenticatedClient(os.environ["HELMDECK_URL"], os.environ["HELMDECK_TOKEN"], timeout=60)

session = create_session.sync(client=client, body=CreateSession(mode=Mode.DESKTOP, label="python"))
assert isinstance(session, Session) and session.status == Status.RUNNING, session

clicked = desktop_click.sync_detailed(
    client=client, body=Click(session_id=session.id, x=10, y=10, button=Button.RIGHT)
)
assert clicked.status_code == 200, clicked

picture = desktop_screenshot.sync(client=client, body=Screenshot(session_id=session.id))
assert isinstance(picture, File) and picture.payload.read(4) == b"\x89PNG", picture


write_file.sync(session.id, "Desktop/notes.txt", client=client, body=File(io.BytesIO(b"hello")))
notes = read_file.sync(session.id, "Desktop/notes.txt", client=client)
assert isinstance(notes, File) and notes.payload.read() == b"hello", notes

wrong = desktop_click.sync(client=client, body=Click(session_id=session.id, x=-1, y=10))
assert isinstance(wrong, ErrorBody) and wrong.error.value == "invalid_coordinates", wrong

assert end_session.sync_detailed(session.id, client=client).status_code == 204
assert all(other.id != session.id for other in list_sessions.sync(client=client).sessions)
print("openapi-python-client: created, clicked, pictured, stored and read a file, ended")
