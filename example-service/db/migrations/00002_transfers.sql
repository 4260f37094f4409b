-- +goose Up
CREATE TABLE transfers (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id    text NOT NULL,
    from_account bigint NOT NULL REFERENCES accounts (id),
    to_account   bigint NOT NULL REFERENCES accounts (id),
    amount       bigint NOT NULL CONSTRAINT transfers_amount_check CHECK (amount > 0),
    created_at   timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT transfers_accounts_differ CHECK (from_account <> to_account)
);

-- +goose Down
DROP TABLE transfers;
