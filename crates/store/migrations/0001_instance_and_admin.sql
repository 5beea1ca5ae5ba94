-- Facts about this installation that are made once, by name.
CREATE TABLE instance (
    name  TEXT PRIMARY KEY NOT NULL,
    value TEXT NOT NULL
) STRICT;

-- The one account that can log in with a password; the check keeps it the only one.
CREATE TABLE admin (
    only_row      INTEGER PRIMARY KEY NOT NULL DEFAULT 1 CHECK (only_row = 1),
    username      TEXT NOT NULL,
    password_hash TEXT NOT NULL,
    updated_at    TEXT NOT NULL
) STRICT;
