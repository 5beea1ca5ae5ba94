-- How often a job began, so that one that stops the server is not run again at every start.
ALTER TABLE job ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
