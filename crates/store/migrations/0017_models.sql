-- Calls of models: who called which, and what it used. Neither prompts nor answers.
CREATE TABLE model_call (
    id            INTEGER PRIMARY KEY,
    -- Milliseconds since 1970.
    at_ms         INTEGER NOT NULL,
    caller        TEXT NOT NULL,
    -- What the caller names its calls for one piece of work.
    run           TEXT,
    provider      TEXT NOT NULL,
    model         TEXT NOT NULL,
    -- The model that was asked for, if another one was called instead.
    instead_of    TEXT,
    input_tokens  INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    -- Whether the tokens are our estimate.
    estimated     INTEGER NOT NULL,
    -- Billionths of a dollar; NULL if the price is not known.
    cost_nanos    INTEGER,
    latency_ms    INTEGER NOT NULL,
    outcome       TEXT NOT NULL
) STRICT;

CREATE INDEX model_call_by_caller ON model_call (caller, at_ms);
CREATE INDEX model_call_by_run ON model_call (caller, run) WHERE run IS NOT NULL;
CREATE INDEX model_call_by_time ON model_call (at_ms);

-- Budgets that an admin set for a caller, for 24 hours.
CREATE TABLE model_budget (
    caller      TEXT PRIMARY KEY,
    tokens      INTEGER,
    cost_nanos  INTEGER
) STRICT;
