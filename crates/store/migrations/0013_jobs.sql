-- Calls of packs. A job that is `working` belongs to the running server, or was interrupted.
CREATE TABLE job (
    id              TEXT PRIMARY KEY,
    owner           TEXT NOT NULL,
    caller          TEXT NOT NULL,
    pack            TEXT NOT NULL,
    version         INTEGER NOT NULL,
    input           TEXT NOT NULL,
    state           TEXT NOT NULL,
    progress        INTEGER NOT NULL,
    message         TEXT,
    output          TEXT,
    artifacts       TEXT,
    error           TEXT,
    session_id      TEXT,
    -- A session that ends with the job.
    own_session_id  TEXT,
    idempotency_key TEXT,
    created_at      TEXT NOT NULL,
    started_at      TEXT,
    ended_at        TEXT
) STRICT;

CREATE UNIQUE INDEX job_idempotency ON job (owner, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX job_by_owner ON job (owner, created_at);
CREATE INDEX job_working ON job (state) WHERE state = 'working';

-- The session behind a workspace name.
CREATE TABLE workspace (
    owner      TEXT NOT NULL,
    name       TEXT NOT NULL,
    session_id TEXT NOT NULL,
    PRIMARY KEY (owner, name)
) STRICT;
