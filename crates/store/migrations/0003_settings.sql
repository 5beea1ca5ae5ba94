-- What an admin changed while the server ran. What is not here is as the configuration says.
CREATE TABLE setting (
    name       TEXT PRIMARY KEY NOT NULL,
    value      TEXT NOT NULL,
    changed_at TEXT NOT NULL,
    changed_by TEXT NOT NULL
) STRICT;
