-- How sessions ended, for those who ask for one that is gone. The newest only.
CREATE TABLE ended (
    number     INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    session_id TEXT NOT NULL UNIQUE,
    owner      TEXT NOT NULL,
    reason     TEXT NOT NULL,
    ended_at   TEXT NOT NULL
) STRICT;

-- The oldest actions are found by their age, to be removed.
CREATE INDEX action_by_time ON action (at);
