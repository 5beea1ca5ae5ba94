-- What a token was made for, when it was last used, and the MCP client that last connected with it.
ALTER TABLE token ADD COLUMN made_for TEXT;
ALTER TABLE token ADD COLUMN last_used_at TEXT;

CREATE TABLE mcp_client (
    token_id         TEXT PRIMARY KEY NOT NULL REFERENCES token (id) ON DELETE CASCADE,
    name             TEXT NOT NULL,
    version          TEXT NOT NULL,
    protocol_version TEXT NOT NULL,
    transport        TEXT NOT NULL,
    first_seen       TEXT NOT NULL,
    last_seen        TEXT NOT NULL
) STRICT;
