-- +goose Up
CREATE TABLE rides (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id  text NOT NULL,
    rider      varchar(64) NOT NULL,
    fare       bigint NOT NULL CONSTRAINT rides_fare_check CHECK (fare > 0),
    currency   char(3) NOT NULL,
    status     text NOT NULL DEFAULT 'requested'
        CONSTRAINT rides_status_check CHECK (status IN ('requested', 'charged', 'cancelled')),
    charge_id  text,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE payouts (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id  text NOT NULL,
    account_id bigint NOT NULL REFERENCES accounts (id),
    amount     bigint NOT NULL CONSTRAINT payouts_amount_check CHECK (amount > 0),
    created_at timestamptz NOT NULL DEFAULT now()
);

-- +goose Down
DROP TABLE payouts;
DROP TABLE rides;
