-- The label of the token or link that acted, and whether a token is a person's.
ALTER TABLE action ADD COLUMN label TEXT;
ALTER TABLE token ADD COLUMN human INTEGER NOT NULL DEFAULT 0;
