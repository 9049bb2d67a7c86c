-- Every request on the run route is a row; those that were refused unauthenticated are counted, one row a minute.

CREATE TABLE trigger_requests (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  received_at INTEGER NOT NULL,
  route TEXT NOT NULL
    CHECK (route IN ('run', 'schedules', 'drain', 'refetch', 'recover', 'jobs', 'status', 'metrics')),
  schedule_id TEXT CHECK (schedule_id <> ''),
  slot_id TEXT CHECK (slot_id <> ''),
  occurrence_at INTEGER,
  attempt_id TEXT CHECK (length(attempt_id) BETWEEN 1 AND 64),
  provider TEXT CHECK (length(provider) BETWEEN 1 AND 32),
  disposition TEXT NOT NULL
    CHECK (disposition IN ('accepted', 'already_running', 'already_completed', 'rejected', 'too_early', 'too_late',
                           'bad_request', 'not_found', 'unauthorized', 'disabled', 'stopping', 'error')),
  http_status INTEGER NOT NULL CHECK (http_status = 0 OR http_status BETWEEN 100 AND 599),
  reason TEXT,
  elapsed_ms INTEGER NOT NULL DEFAULT 0 CHECK (elapsed_ms >= 0),
  count INTEGER NOT NULL DEFAULT 1 CHECK (count >= 1)
);

CREATE INDEX idx_trigger_requests_time ON trigger_requests (received_at);
CREATE INDEX idx_trigger_requests_schedule ON trigger_requests (schedule_id, received_at);
