-- What the account is known by and how it stands with Pixiv; instants of rate_limit_state are epoch ms.

CREATE TABLE tokens (
  key TEXT PRIMARY KEY NOT NULL CHECK (key <> ''),
  value TEXT NOT NULL,
  updated_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP
) WITHOUT ROWID;

CREATE TABLE rate_limit_state (
  scope TEXT PRIMARY KEY NOT NULL CHECK (scope <> ''),
  state TEXT NOT NULL CHECK (json_valid(state)),
  updated_at INTEGER NOT NULL
) WITHOUT ROWID;
