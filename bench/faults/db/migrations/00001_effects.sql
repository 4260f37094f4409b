-- What the operations do, and nothing that would keep them from doing it twice:
-- no constraint, no unique index on the reference.
-- +goose Up
CREATE TABLE effects (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id  text NOT NULL,
    reference  text NOT NULL,
    note       text,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- A second row of the same operation: there with the first, or not at all.
CREATE TABLE lines (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id text NOT NULL,
    reference text NOT NULL,
    effect_id bigint NOT NULL
);

-- +goose Down
DROP TABLE lines;
DROP TABLE effects;
