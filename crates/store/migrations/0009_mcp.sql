-- MCP sessions of protocol versions before 2026-07-28, so that clients outlive a restart of the server.
CREATE TABLE mcp_session (
    id         TEXT PRIMARY KEY,
    owner      TEXT NOT NULL,
    initialize TEXT NOT NULL,
    used_at    TEXT NOT NULL
) STRICT;

-- The session that an MCP client works in when a call names none.
CREATE TABLE mcp_current_session (
    owner      TEXT NOT NULL,
    client     TEXT NOT NULL,
    session_id TEXT NOT NULL,
    used_at    TEXT NOT NULL,
    PRIMARY KEY (owner, client)
) STRICT;
