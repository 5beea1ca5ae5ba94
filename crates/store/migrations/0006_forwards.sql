-- Ports of this machine that are forwarded into sessions, for the server that adopts them.
CREATE TABLE forward (
    session_id TEXT NOT NULL,
    port       INTEGER NOT NULL,
    to_port    INTEGER NOT NULL,
    PRIMARY KEY (session_id, port)
) STRICT;
