-- Who did what. Rows are only added, and removed at the oldest end. Each has the hash of the one before.
CREATE TABLE audit (
    id             INTEGER PRIMARY KEY NOT NULL,
    at             TEXT NOT NULL,
    event_type     TEXT NOT NULL,
    severity       TEXT NOT NULL,
    actor_subject  TEXT,
    actor_label    TEXT,
    human          INTEGER NOT NULL,
    session_id     TEXT,
    target         TEXT,
    details        TEXT NOT NULL,
    remote_address TEXT,
    previous_hash  TEXT NOT NULL,
    hash           TEXT NOT NULL
) STRICT;

CREATE INDEX audit_by_type ON audit (event_type, id);
CREATE INDEX audit_by_session ON audit (session_id, id);
CREATE INDEX audit_by_actor ON audit (actor_subject, id);
CREATE INDEX audit_by_time ON audit (at);

-- Both ends of the chain: the last row that was removed for its age, and the newest row.
CREATE TABLE audit_chain (
    only_row    INTEGER PRIMARY KEY NOT NULL DEFAULT 1 CHECK (only_row = 1),
    anchor_id   INTEGER NOT NULL,
    anchor_hash TEXT NOT NULL,
    head_id     INTEGER NOT NULL,
    head_hash   TEXT NOT NULL
) STRICT;

INSERT INTO audit_chain (anchor_id, anchor_hash, head_id, head_hash) VALUES
    (0, '0000000000000000000000000000000000000000000000000000000000000000',
     0, '0000000000000000000000000000000000000000000000000000000000000000');

-- A trigger, so that one statement adds rows and moves the head.
CREATE TRIGGER audit_head AFTER INSERT ON audit BEGIN
    UPDATE audit_chain SET head_id = NEW.id, head_hash = NEW.hash WHERE head_id < NEW.id;
END;
