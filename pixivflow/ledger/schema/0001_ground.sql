-- Occurrences, their cells and executions; deliveries, their outbox and audit; the file's own state.

CREATE TABLE schedule_slots (
  id TEXT PRIMARY KEY CHECK (id <> ''),
  schedule_id TEXT NOT NULL CHECK (schedule_id <> ''),
  occurrence_at INTEGER,
  occurrence_date TEXT NOT NULL DEFAULT '',
  occurrence_label TEXT NOT NULL DEFAULT '',
  timezone TEXT NOT NULL DEFAULT 'UTC',
  target_ids TEXT,
  status TEXT NOT NULL DEFAULT 'pending'
    CHECK (status IN ('pending', 'running', 'success', 'partial', 'failed', 'expired')),
  trigger_source TEXT,
  slot_date TEXT NOT NULL DEFAULT '',
  slot_name TEXT NOT NULL DEFAULT '',
  lease_owner TEXT,
  lease_until INTEGER,
  heartbeat_at INTEGER,
  manual_request_id TEXT CHECK (manual_request_id <> ''),
  correlation_id TEXT,
  recovery_request_id TEXT,
  recovery_mode TEXT CHECK (recovery_mode IN ('normal', 'relaxed')),
  params_json TEXT,
  created_at DATETIME DEFAULT CURRENT_TIMESTAMP,
  started_at DATETIME,
  completed_at DATETIME,
  last_error TEXT,
  reported_at INTEGER,
  events_closed_at INTEGER,
  CHECK ((lease_owner IS NULL) = (lease_until IS NULL))
);

CREATE INDEX idx_slots_schedule_occ ON schedule_slots (schedule_id, occurrence_at DESC);
CREATE INDEX idx_slots_open ON schedule_slots (occurrence_at) WHERE status IN ('pending', 'running');
CREATE INDEX idx_slots_unreported ON schedule_slots (occurrence_at) WHERE reported_at IS NULL;
CREATE INDEX idx_slots_events_open ON schedule_slots (created_at)
  WHERE manual_request_id IS NOT NULL AND events_closed_at IS NULL;
CREATE UNIQUE INDEX idx_slots_manual_request ON schedule_slots (manual_request_id) WHERE manual_request_id IS NOT NULL;

CREATE TABLE schedule_slot_items (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  slot_id TEXT NOT NULL REFERENCES schedule_slots (id) DEFERRABLE INITIALLY DEFERRED,
  target_id TEXT NOT NULL CHECK (target_id <> ''),
  work_id TEXT CHECK (work_id <> ''),
  work_type TEXT CHECK (work_type IN ('illustration', 'novel', 'unknown')),
  status TEXT NOT NULL DEFAULT 'pending'
    CHECK (status IN ('pending', 'selected', 'artifact_ready', 'delivery_pending',
                      'submitted', 'no_candidate', 'duplicate', 'failed')),
  attempt_count INTEGER NOT NULL DEFAULT 0 CHECK (attempt_count >= 0),
  fallback_stage INTEGER NOT NULL DEFAULT 0 CHECK (fallback_stage >= 0),
  last_error TEXT CHECK (length(last_error) <= 1000),
  terminal_reason_code TEXT CHECK (length(terminal_reason_code) <= 64),
  terminal_reason_message TEXT CHECK (length(terminal_reason_message) <= 400),
  candidate_report TEXT CHECK (length(candidate_report) <= 4000),
  created_at DATETIME DEFAULT CURRENT_TIMESTAMP,
  updated_at DATETIME DEFAULT CURRENT_TIMESTAMP,
  completed_at DATETIME,
  UNIQUE (slot_id, target_id)
);

CREATE INDEX idx_slot_items_slot ON schedule_slot_items (slot_id);
CREATE INDEX idx_slot_items_work ON schedule_slot_items (work_id, work_type);

CREATE TABLE scheduler_executions (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  execution_number INTEGER NOT NULL,
  schedule_id TEXT NOT NULL DEFAULT 'default',
  status TEXT NOT NULL CHECK (status IN ('success', 'failed', 'timeout', 'skipped')),
  start_time DATETIME NOT NULL,
  end_time DATETIME,
  duration_ms INTEGER,
  error_message TEXT,
  items_downloaded INTEGER DEFAULT 0,
  created_at DATETIME DEFAULT CURRENT_TIMESTAMP
);

CREATE INDEX idx_scheduler_executions_number ON scheduler_executions (execution_number);
CREATE INDEX idx_scheduler_executions_status ON scheduler_executions (status);
CREATE INDEX idx_scheduler_executions_schedule ON scheduler_executions (schedule_id, execution_number);

CREATE TABLE deliveries (
  id TEXT PRIMARY KEY CHECK (id <> ''),
  delivery_target TEXT NOT NULL CHECK (delivery_target <> ''),
  work_type TEXT NOT NULL CHECK (work_type IN ('illustration', 'novel')),
  pixiv_id TEXT NOT NULL CHECK (pixiv_id <> ''),
  slot_id TEXT,
  target_id TEXT,
  idempotency_key TEXT NOT NULL UNIQUE CHECK (idempotency_key <> ''),
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'duplicate', 'failed')),
  remote_id TEXT,
  remote_status TEXT,
  reuse_reason TEXT,
  attempts INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  last_error TEXT,
  created_at DATETIME DEFAULT CURRENT_TIMESTAMP,
  updated_at DATETIME DEFAULT CURRENT_TIMESTAMP,
  delivered_at DATETIME
);

CREATE INDEX idx_deliveries_dedupe ON deliveries (delivery_target, work_type, pixiv_id, status);
CREATE INDEX idx_deliveries_cell ON deliveries (slot_id, target_id);

CREATE TABLE outbox (
  id TEXT PRIMARY KEY CHECK (id <> ''),
  kind TEXT NOT NULL CHECK (kind IN ('delivery', 'notification', 'event_callback')),
  idempotency_key TEXT CHECK (idempotency_key <> ''),
  delivery_id TEXT REFERENCES deliveries (id) DEFERRABLE INITIALLY DEFERRED,
  delivery_target TEXT NOT NULL CHECK (delivery_target <> ''),
  payload_json TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'pending'
    CHECK (status IN ('pending', 'processing', 'retry_wait', 'done', 'dead', 'cancelled')),
  attempts INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  max_attempts INTEGER NOT NULL DEFAULT 12 CHECK (max_attempts >= 1),
  next_attempt_at INTEGER NOT NULL,
  lease_owner TEXT,
  lease_until INTEGER,
  last_error TEXT CHECK (length(last_error) <= 1000),
  answer_unknown INTEGER NOT NULL DEFAULT 0 CHECK (answer_unknown IN (0, 1)),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  completed_at INTEGER,
  CHECK ((status = 'processing') = (lease_owner IS NOT NULL AND lease_until IS NOT NULL)),
  CHECK ((kind = 'delivery') = (delivery_id IS NOT NULL))
);

CREATE UNIQUE INDEX idx_outbox_key ON outbox (kind, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX idx_outbox_due ON outbox (delivery_target, next_attempt_at)
  WHERE status IN ('pending', 'retry_wait', 'processing');
CREATE INDEX idx_outbox_leases ON outbox (lease_until) WHERE status = 'processing';
CREATE INDEX idx_outbox_delivery ON outbox (delivery_id);

CREATE TABLE delivery_events (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  ts INTEGER NOT NULL,
  delivery_id TEXT,
  outbox_id TEXT,
  execution_id TEXT,
  slot_id TEXT,
  pixiv_id TEXT,
  delivery_target TEXT,
  event TEXT NOT NULL CHECK (event <> ''),
  error_class TEXT,
  retryable INTEGER CHECK (retryable IN (0, 1)),
  counts_as_attempt INTEGER NOT NULL DEFAULT 0 CHECK (counts_as_attempt IN (0, 1)),
  actor TEXT,
  detail TEXT
);

CREATE INDEX idx_delivery_events_execution ON delivery_events (execution_id);
CREATE INDEX idx_delivery_events_outbox ON delivery_events (outbox_id);
CREATE INDEX idx_delivery_events_ts ON delivery_events (ts);
CREATE INDEX idx_delivery_events_slot_event ON delivery_events (slot_id, event);

-- One row a process that has the ledger open; a row left behind tells of an end that was not orderly.
CREATE TABLE ledger_openings (
  owner TEXT PRIMARY KEY,
  opened_at INTEGER NOT NULL
);

-- One row: the newest instant that any writer of this file has seen.
CREATE TABLE ledger_clock (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  newest_at INTEGER NOT NULL
);

INSERT INTO ledger_clock (id, newest_at) VALUES (1, 0);
