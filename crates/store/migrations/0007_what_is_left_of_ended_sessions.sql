-- What is left of a session that ended: how it was described last, and its last picture.
ALTER TABLE ended ADD COLUMN session TEXT;

CREATE TABLE last_picture (
    session_id TEXT PRIMARY KEY NOT NULL REFERENCES ended (session_id) ON DELETE CASCADE,
    jpeg       BLOB NOT NULL
) STRICT;
