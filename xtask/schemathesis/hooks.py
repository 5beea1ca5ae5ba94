"""Extends schemathesis for `cargo xtask schemathesis`: selects the session of the requests, and checks that valid
requests are refused only with codes that name a state.

HELMDECK_SESSION is the id of a running desktop session, HELMDECK_TOKEN an admin token.
"""

import os
import re

import requests
import schemathesis

SESSION = os.environ["HELMDECK_SESSION"]
TOKEN = {"authorization": f"Bearer {os.environ['HELMDECK_TOKEN']}"}
DEADLINE_S = 20

# Codes that name a state of the server, of a session or of another object.
STATES = frozenset(
    """
    already_attached artifact_not_found capacity_reached command_failed command_not_found connection_refused control_held control_taken
    disk_full duplicate expectation_failed invalid_link model_not_found not_ready quota_exceeded unknown_job unknown_pack
    egress_denied file_exists file_not_found forward_denied host_not_found invalid_credentials invalid_ticket
    not_a_file not_desktop_mode not_driving not_found port_in_use private profile_in_use quota_reached
    range_not_satisfiable session_attached session_ended session_outdated session_starting tab_not_found
    target_ambiguous target_not_found task_limit_reached ticket_in_use too_many_attempts too_many_connections vision_running window_not_found
    """.split()
)

# Codes of a server that cannot run a pack now, all with the status 503.
UNAVAILABLE = frozenset("capacity_reached cdp_unavailable no_model_key overloaded session_unavailable unavailable".split())

# Points that the schema allows can be outside the screen.
OFF_SCREEN = ("invalid_coordinates", "is outside the screen")

# Operations with paths of files, and those with selectors.
OF_FILES = ("list_files", "read_file", "write_file")
OF_ELEMENTS = """
    browser_click browser_extract browser_hover browser_interact browser_markdown browser_press browser_screenshot
    browser_select browser_snapshot browser_type browser_upload browser_wait_for
    """.split()

# Rules that the schema does not state: operation, code and field of the error, and the rule.
BEYOND_SCHEMA = [
    ("add_extension", "invalid_extension", None, "the body is a zip archive with a manifest"),
    ("browser_pdf", "invalid_input", "pages", "a range of pages ends where it begins, or later"),
    ("browser_upload", "invalid_input", "files", "a path leads to a file of the home"),
    ("call_tool", "invalid_button", None, "the body is the input of the tool; each tool is also tried by its own path"),
    ("call_tool", "invalid_coordinates", None, "the body is the input of the tool"),
    ("call_tool", "invalid_input", None, "the body is the input of the tool"),
    ("call_tool", "missing_session_id", None, "the body is the input of the tool"),
    ("create_credential", "invalid_input", "metadata", "metadata is at most 8 KiB"),
    ("create_credential", "invalid_input", "value", "a secret is given once, and suits its type"),
    ("create_credential", "invalid_plaintext_b64", "plaintext_b64", "a secret is base64"),
    ("rotate_credential", "invalid_input", "value", "a secret is given once, and suits its type"),
    ("rotate_credential", "invalid_plaintext_b64", "plaintext_b64", "a secret is base64"),
    ("add_provider_key", "invalid_input", "provider", "a provider is one of the list, and needs a key"),
    ("test_provider", "invalid_input", "provider", "a provider is one of the list"),
    ("change_settings", "invalid_input", "vision_model", "ids of models name a provider"),
    ("exec", "invalid_input", "command", "the first word is a program"),
    ("exec", "invalid_input", "stream", "a command in the background has no stream"),
    ("upload_artifact", "invalid_input", "file", "a form has the field file"),
    (None, "invalid_coordinates", "x", "an action has a position or a target"),
    (None, "invalid_coordinates", "y", "an action has a position or a target"),
    (None, "invalid_input", "target", "an action has a position or a target, not both"),
    (None, "invalid_input", "end_target", "a drag has a position or a target for its end, and no path beside it"),
    (None, "missing_selector", "selector", "an action has a selector or a target"),
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
    *((operation, "invalid_path", None, "a path leads to a file of the home") for operation in OF_FILES),
    *((operation, "invalid_selector", None, "selectors have their own syntax") for operation in OF_ELEMENTS),
]


# Values that are valid on this machine, and the rules of their schemas.
KNOWN = {"cpu_limit": 1.0, "geometry": "800x600", "locale": "de-DE", "timezone": "Europe/Paris"}
VALID = {
    "cpu_limit": lambda cores: 0.01 <= cores <= 1024,
    "geometry": re.compile("^[0-9]+x[0-9]+$").match,
    "locale": re.compile("^[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*$").match,
    "timezone": re.compile("^[A-Za-z0-9+_-]+(/[A-Za-z0-9+_-]+)*$").match,
}


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """Makes the id of the running session the only valid one, and removes tickets."""
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
    # These repeat other fields, and requests with both are refused.
    create = raw_schema["components"]["schemas"]["CreateSession"]["properties"]
    del create["spec"], create["wallclock_timeout_s"]


@schemathesis.hook
def map_body(context, body):
    """Replaces valid values with values that are valid on this machine, so that more requests succeed."""
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
    """Gives each request that ends a session its own session."""
    ends = operation_id(case) == "end_session" and case.method.upper() == "DELETE"
    if ends and case.path_parameters.get("id") == SESSION:
        case.path_parameters["id"] = create(case)


@schemathesis.hook
def after_call(context, case, response):
    """Ends sessions that requests created, so that their limit is not reached."""
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
    # WebSockets are refused without an upgrade.
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


@schemathesis.check
def packs_answer_503_or_no_server_error(ctx, response, case):
    if operation_id(case) not in ("run_pack", "run_pack_version") or response.status_code < 500:
        return
    try:
        code = response.json().get("error")
    except ValueError:
        code = None
    if response.status_code != 503 or code not in UNAVAILABLE:
        raise AssertionError(f"a pack answered with a server error: {response.status_code} {response.text}")
