"""What `cargo xtask schemathesis` adds to schemathesis: the session that requests are for, and the rule that a
valid request is refused by a named state only.

HELMDECK_SESSION is the id of a running desktop session; HELMDECK_TOKEN, the token of an admin.
"""

import os
import re

import requests
import schemathesis

SESSION = os.environ["HELMDECK_SESSION"]
TOKEN = {"authorization": f"Bearer {os.environ['HELMDECK_TOKEN']}"}
DEADLINE_S = 20

# Codes that name a state: of the server, of a session, or of what a request is about.
STATES = frozenset(
    """
    already_attached capacity_reached command_failed command_not_found connection_refused control_held control_taken
    egress_denied file_exists file_not_found forward_denied host_not_found invalid_credentials invalid_ticket
    not_a_file not_desktop_mode not_driving not_found port_in_use private profile_in_use quota_reached
    range_not_satisfiable session_attached session_ended session_outdated session_starting tab_not_found
    task_limit_reached ticket_in_use too_many_attempts too_many_connections window_not_found
    """.split()
)

# Points that a schema allows may not be on the screen, which has a size of its own.
OFF_SCREEN = ("invalid_coordinates", "is outside the screen")

# Rules that a schema does not state: operation, code and field of the refusal, and the rule.
BEYOND_SCHEMA = [
    ("add_extension", "invalid_extension", None, "the body is a zip archive with a manifest"),
    ("browser_pdf", "invalid_input", "pages", "a range of pages ends where it begins, or later"),
    ("browser_upload", "invalid_input", "files", "a path leads to a file of the home"),
    ("call_tool", None, None, "the body is the input of the tool; each tool is also tried by its own path"),
    ("exec", "invalid_input", "command", "a command is more than spaces, and holds no NUL"),
    ("exec", "invalid_input", "stream", "a command in the background has no stream"),
    (None, "invalid_geometry", "geometry", "a screen has a least and a greatest size"),
    (None, "invalid_input", "cpu_limit", "a session has at most the cores of the machine"),
    (None, "invalid_input", "env", "variables have a size together, and some mean what a field says, too"),
    (None, "invalid_input", "extensions", "extensions are those that the caller has added"),
    (None, "invalid_input", "forward", "ports are at most 65535, and inside a session not those of others"),
    (None, "invalid_input", "locale", "languages are those that the machine knows"),
    (None, "invalid_input", "memory_limit", "a size is written in several units, and is enough for a browser"),
    (None, "invalid_input", "proxy.server", "a proxy has a host and a port"),
    (None, "invalid_input", "start_url", "an address is text without spaces inside"),
    (None, "invalid_input", "timezone", "time zones are those that the machine knows"),
    (None, "invalid_path", None, "a path leads to a file of the home"),
    (None, "invalid_selector", None, "selectors have a syntax of their own"),
]


# Values that this machine knows, and what a schema says of them.
KNOWN = {"cpu_limit": 1.0, "geometry": "800x600", "locale": "de-DE", "timezone": "Europe/Paris"}
VALID = {
    "cpu_limit": lambda cores: 0.01 <= cores <= 1024,
    "geometry": re.compile("^[0-9]+x[0-9]+$").match,
    "locale": re.compile("^[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*$").match,
    "timezone": re.compile("^[A-Za-z0-9+_-]+(/[A-Za-z0-9+_-]+)*$").match,
}


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """Requests are for the running session, whose id is the only valid one, and come with a token."""
    for path, operations in raw_schema["paths"].items():
        for operation in operations.values():
            parameters = [one for one in operation.get("parameters", []) if not is_ticket(one)]
            operation["parameters"] = parameters
            for parameter in parameters:
                of_session = parameter["name"] == "id" and path.startswith("/api/v1/sessions/")
                if of_session or parameter["name"] == "session_id":
                    parameter["schema"] = {"enum": [SESSION]}
                # Others could end the session.
                elif path == "/api/v1/tools/{name}":
                    parameter["schema"] = {"enum": ["desktop.click", "session.list", "session.show"]}
    for schema in raw_schema["components"]["schemas"].values():
        session = schema.get("properties", {}).get("session_id")
        if session is not None:
            optional = [None] if "null" in str(session) else []
            schema["properties"]["session_id"] = {"enum": [SESSION, *optional]}
    # The same fields once more, and the same limit by another name: what is said twice is refused.
    create = raw_schema["components"]["schemas"]["CreateSession"]["properties"]
    del create["spec"], create["wallclock_timeout_s"]


@schemathesis.hook
def map_body(context, body):
    """Text and numbers that a schema allows become some that this machine knows, so that more requests pass."""
    if isinstance(body, dict):
        for name, known in KNOWN.items():
            given = body.get(name)
            if isinstance(given, type(known)) and not isinstance(given, bool) and VALID[name](given):
                body[name] = known
    return body


def is_ticket(parameter):
    return parameter["name"] == "ticket" and parameter["in"] == "query"


def operation_id(case):
    return case.operation.definition.raw.get("operationId")


@schemathesis.hook
def before_call(context, case, kwargs):
    """A session is ended by each request that ends one, so each has its own."""
    ends = operation_id(case) == "end_session" and case.method.upper() == "DELETE"
    if ends and case.path_parameters.get("id") == SESSION:
        case.path_parameters["id"] = create(case)


@schemathesis.hook
def after_call(context, case, response):
    """Sessions that a request made are ended, so that none is refused for their number."""
    if operation_id(case) == "create_session" and response.status_code < 300:
        url = f"{sessions(case)}/{response.json()['id']}"
        requests.delete(url, headers=TOKEN, timeout=DEADLINE_S).raise_for_status()


def create(case):
    return requests.post(sessions(case), headers=TOKEN, json={}, timeout=DEADLINE_S).json()["id"]


def sessions(case):
    return case.operation.base_url.rstrip("/") + "/api/v1/sessions"


@schemathesis.check
def valid_input_is_refused_by_a_named_state_only(ctx, response, case):
    meta = case.meta
    if meta is None or not meta.generation.mode.is_positive or response.status_code < 400:
        return
    # Without an upgrade, a WebSocket is refused.
    if "101" in case.operation.definition.raw["responses"]:
        return
    try:
        refusal = response.json()
    except ValueError:
        refusal = {}
    code, message, field = (refusal.get(name) or "" for name in ("error", "message", "field"))
    if code in STATES or (code == OFF_SCREEN[0] and OFF_SCREEN[1] in message):
        return
    for operation, other_code, other_field, _ in BEYOND_SCHEMA:
        if operation in (operation_id(case), None) and other_code in (code, None) and other_field in (field.split("[")[0], None):
            return
    raise AssertionError(f"refused valid input: {response.status_code} {response.text}")
