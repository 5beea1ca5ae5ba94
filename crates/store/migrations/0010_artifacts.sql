-- Artifacts: files that packs and callers keep for a while. Their content is not here; it is kept by its SHA-256.
CREATE TABLE artifact (
    number       INTEGER PRIMARY KEY AUTOINCREMENT,
    key          TEXT NOT NULL UNIQUE,
    sha256       TEXT NOT NULL,
    size         INTEGER NOT NULL,
    content_type TEXT NOT NULL,
    filename     TEXT NOT NULL,
    namespace    TEXT NOT NULL,
    owner        TEXT NOT NULL,
    job_id       TEXT,
    created_at   TEXT NOT NULL,
    expires_at   TEXT
) STRICT;

CREATE INDEX artifact_by_owner ON artifact (owner, number);
CREATE INDEX artifact_by_content ON artifact (sha256);
CREATE INDEX artifact_by_expiry ON artifact (expires_at) WHERE expires_at IS NOT NULL;
