-- Tokens that were made, so that they can be listed and revoked; never the tokens themselves.
CREATE TABLE token (
    id         TEXT PRIMARY KEY NOT NULL,
    subject    TEXT NOT NULL,
    client     TEXT,
    scopes     TEXT NOT NULL,
    created_at TEXT NOT NULL,
    expires_at TEXT NOT NULL
) STRICT;

-- Tokens and tickets that count no more, until they would have expired anyway.
CREATE TABLE revoked (
    id         TEXT PRIMARY KEY NOT NULL,
    revoked_at TEXT NOT NULL,
    expires_at TEXT NOT NULL
) STRICT;

-- Everything that was done in sessions. Rows are only ever added.
CREATE TABLE action (
    seq         INTEGER PRIMARY KEY NOT NULL,
    at          TEXT NOT NULL,
    session_id  TEXT NOT NULL,
    owner       TEXT NOT NULL,
    actor_kind  TEXT NOT NULL,
    subject     TEXT NOT NULL,
    action      TEXT NOT NULL,
    detail      TEXT NOT NULL,
    outcome     TEXT NOT NULL,
    duration_ms INTEGER NOT NULL
) STRICT;

CREATE INDEX action_by_session ON action (session_id, seq);
