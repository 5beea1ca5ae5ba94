-- Where the end of a job is reported. A row is `waiting` until its job ends, in the same transaction
-- as the job, and lives as long as the job.
CREATE TABLE delivery (
    id           TEXT PRIMARY KEY,
    job_id       TEXT NOT NULL REFERENCES job (id) ON DELETE CASCADE,
    owner        TEXT NOT NULL,
    url          TEXT NOT NULL,
    -- The secret that signs it, sealed by the vault's key with this version.
    sealed       BLOB,
    key_version  INTEGER,
    state        TEXT NOT NULL,
    attempts     INTEGER NOT NULL DEFAULT 0,
    -- Milliseconds since 1970.
    due_ms       INTEGER,
    last_status  INTEGER,
    last_error   TEXT,
    created_at   TEXT NOT NULL,
    delivered_at TEXT
) STRICT;

CREATE INDEX delivery_by_job ON delivery (job_id);
CREATE INDEX delivery_by_owner ON delivery (owner, created_at);
CREATE INDEX delivery_due ON delivery (due_ms) WHERE state = 'pending';
