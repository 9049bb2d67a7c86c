-- Files of works, and how many new works a cell of many has brought.

CREATE TABLE downloads (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  pixiv_id TEXT NOT NULL CHECK (pixiv_id <> ''),
  type TEXT NOT NULL CHECK (type IN ('illustration', 'novel')),
  tag TEXT NOT NULL DEFAULT '',
  title TEXT NOT NULL DEFAULT '',
  file_path TEXT NOT NULL CHECK (file_path <> ''),
  author TEXT,
  user_id TEXT,
  downloaded_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
  UNIQUE (pixiv_id, type, file_path)
);

CREATE INDEX idx_downloads_work ON downloads (pixiv_id, type);
CREATE INDEX idx_downloads_tag ON downloads (tag);
CREATE INDEX idx_downloads_at ON downloads (downloaded_at);

-- A row is staged while its page is being fetched, and final once the whole work has its names.
CREATE TABLE download_files (
  pixiv_id TEXT NOT NULL CHECK (pixiv_id <> ''),
  type TEXT NOT NULL CHECK (type IN ('illustration', 'novel')),
  page INTEGER NOT NULL CHECK (page >= 0),
  file_path TEXT,
  part_path TEXT,
  validator TEXT,
  bytes_done INTEGER NOT NULL DEFAULT 0 CHECK (bytes_done >= 0),
  size INTEGER CHECK (size >= 0),
  sha256 TEXT CHECK (length(sha256) = 64),
  format TEXT,
  degraded INTEGER NOT NULL DEFAULT 0 CHECK (degraded IN (0, 1)),
  state TEXT NOT NULL CHECK (state IN ('staged', 'final')),
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (pixiv_id, type, page),
  CHECK ((state = 'final') = (file_path IS NOT NULL)),
  CHECK (state <> 'final' OR (part_path IS NULL AND size IS NOT NULL AND sha256 IS NOT NULL)),
  CHECK (state <> 'staged' OR part_path IS NOT NULL)
) WITHOUT ROWID;

CREATE INDEX idx_download_files_staged ON download_files (updated_at) WHERE state = 'staged';

ALTER TABLE schedule_slot_items ADD COLUMN stored_count INTEGER NOT NULL DEFAULT 0 CHECK (stored_count >= 0);
