// The tables in PostgreSQL, as store.h describes what they hold.
#pragma once

namespace edict::server {

inline constexpr const char* kPostgresqlSchema = R"sql(
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS features (id SERIAL PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS streams (
  id BIGSERIAL PRIMARY KEY, name TEXT NOT NULL UNIQUE, origin DOUBLE PRECISION,
  base DOUBLE PRECISION, about TEXT NOT NULL DEFAULT '{}');
CREATE TABLE IF NOT EXISTS observations (
  stream BIGINT NOT NULL, time DOUBLE PRECISION NOT NULL, feature INTEGER NOT NULL,
  value DOUBLE PRECISION NOT NULL, received DOUBLE PRECISION NOT NULL,
  corrected INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (stream, time, feature));
CREATE TABLE IF NOT EXISTS states (
  stream BIGINT NOT NULL, time DOUBLE PRECISION NOT NULL, model BIGINT NOT NULL,
  first DOUBLE PRECISION NOT NULL, events BIGINT NOT NULL, bytes BYTEA NOT NULL,
  PRIMARY KEY (stream, time));
CREATE TABLE IF NOT EXISTS alarms (
  id BIGINT PRIMARY KEY, stream BIGINT NOT NULL, rule TEXT NOT NULL, body TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS audit (
  id BIGSERIAL PRIMARY KEY, at DOUBLE PRECISION NOT NULL, what TEXT NOT NULL, who TEXT NOT NULL,
  stream TEXT NOT NULL, detail TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS rejected (
  id BIGSERIAL PRIMARY KEY, at DOUBLE PRECISION NOT NULL, source TEXT NOT NULL,
  detail TEXT NOT NULL, payload BYTEA NOT NULL);
)sql";

// What was received by when is not known of the states of format 1: as if all of it came now.
inline constexpr const char* kPostgresqlFromFormat1 = R"sql(
BEGIN;
ALTER TABLE streams ADD COLUMN IF NOT EXISTS first DOUBLE PRECISION;
ALTER TABLE observations ADD COLUMN IF NOT EXISTS prior DOUBLE PRECISION;
ALTER TABLE states ADD COLUMN IF NOT EXISTS received DOUBLE PRECISION NOT NULL DEFAULT 0;
UPDATE states SET received = extract(epoch FROM now()) WHERE received = 0;
UPDATE streams SET first = (SELECT first FROM states WHERE stream = streams.id
  ORDER BY time LIMIT 1) WHERE base IS NOT NULL AND first IS NULL;
INSERT INTO meta (key, value) VALUES ('format', '2') ON CONFLICT (key) DO UPDATE SET value = '2';
COMMIT;
)sql";

// Of all servers of this kind on one database: only one may write.
inline constexpr const char* kOnlyOne = "SELECT pg_try_advisory_lock(5246237)";

}  // namespace edict::server
