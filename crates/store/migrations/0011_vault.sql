-- The keys that sealed credentials, newest last: their ids, never the keys themselves.
CREATE TABLE vault_key (
    version    INTEGER PRIMARY KEY NOT NULL,
    key_id     TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT;

-- Credentials. `sealed` is a nonce and the encrypted secret.
CREATE TABLE credential (
    id           TEXT PRIMARY KEY NOT NULL,
    owner        TEXT NOT NULL,
    name         TEXT NOT NULL,
    kind         TEXT NOT NULL,
    host_pattern TEXT NOT NULL,
    path_pattern TEXT,
    metadata     TEXT,
    fingerprint  TEXT NOT NULL,
    sealed       BLOB NOT NULL,
    key_version  INTEGER NOT NULL REFERENCES vault_key (version),
    created_at   TEXT NOT NULL,
    updated_at   TEXT NOT NULL,
    last_used_at TEXT,
    UNIQUE (owner, name)
) STRICT;

CREATE INDEX credential_by_name ON credential (name);

-- Who may use a credential. An empty client means every client of the subject.
CREATE TABLE credential_grant (
    credential_id TEXT NOT NULL REFERENCES credential (id) ON DELETE CASCADE,
    subject       TEXT NOT NULL,
    client        TEXT NOT NULL,
    created_at    TEXT NOT NULL,
    created_by    TEXT NOT NULL,
    PRIMARY KEY (credential_id, subject, client)
) STRICT;

-- Attempts to use a credential. The newest only.
CREATE TABLE credential_usage (
    number        INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    credential_id TEXT NOT NULL REFERENCES credential (id) ON DELETE CASCADE,
    subject       TEXT NOT NULL,
    client        TEXT NOT NULL,
    host          TEXT NOT NULL,
    path          TEXT NOT NULL,
    result        TEXT NOT NULL,
    at            TEXT NOT NULL
) STRICT;

CREATE INDEX credential_usage_by_credential ON credential_usage (credential_id, number);
