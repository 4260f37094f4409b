-- +goose Up
CREATE TABLE "Odd | Names" (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id text NOT NULL,
    "a`b"     text NOT NULL CONSTRAINT "check | <b>" CHECK (length("a`b") > 0),
    "größe"   int NOT NULL
);
CREATE TABLE jobs (
    id        bigint PRIMARY KEY,
    tenant_id text NOT NULL,
    state     text NOT NULL DEFAULT 'new',
    parent    bigint REFERENCES jobs (id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX jobs_running ON jobs (tenant_id) WHERE state = 'running';

-- +goose Down
DROP TABLE jobs;
DROP TABLE "Odd | Names";
