-- +goose Up
CREATE TABLE payments (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id  text NOT NULL,
    order_id   text NOT NULL,
    amount     bigint NOT NULL CHECK (amount > 0),
    status     text NOT NULL DEFAULT 'authorized',
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE payment_events (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    payment_id bigint NOT NULL,
    kind       text NOT NULL
);

-- What the textbook keeps beside the business rows.
CREATE TABLE textbook_keys (
    tenant_id  text NOT NULL,
    key        text NOT NULL,
    request    bytea NOT NULL,
    status     smallint NOT NULL,
    body       jsonb NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, key)
);
CREATE INDEX textbook_keys_expires_at_idx ON textbook_keys (expires_at);

-- +goose Down
DROP TABLE textbook_keys;
DROP TABLE payment_events;
DROP TABLE payments;
