-- +goose Up
CREATE TYPE payment_status AS ENUM ('authorized', 'captured', 'refunded');

CREATE TABLE api_keys (
    digest     bytea PRIMARY KEY, -- SHA-256 of the key: the key itself is stored nowhere
    tenant_id  text NOT NULL CHECK (length(tenant_id) BETWEEN 1 AND 64),
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE accounts (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id  text NOT NULL,
    owner      varchar(100) NOT NULL CHECK (length(owner) > 0),
    currency   varchar(3) NOT NULL CONSTRAINT accounts_currency_check CHECK (currency ~ '^[A-Z]{3}$'),
    balance    bigint NOT NULL CONSTRAINT accounts_balance_check CHECK (balance >= 0), -- in the currency's smallest unit
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX accounts_tenant_id_idx ON accounts (tenant_id, id);

CREATE TABLE payments (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id   text NOT NULL,
    order_id    varchar(64) NOT NULL CHECK (length(order_id) > 0),
    amount      bigint NOT NULL CONSTRAINT payments_amount_check CHECK (amount > 0),
    currency    varchar(3) NOT NULL CONSTRAINT payments_currency_check CHECK (currency ~ '^[A-Z]{3}$'),
    status      payment_status NOT NULL DEFAULT 'authorized',
    note        text,
    created_at  timestamptz NOT NULL DEFAULT now(),
    captured_at timestamptz
);
CREATE INDEX payments_tenant_id_idx ON payments (tenant_id, id);

-- +goose Down
DROP TABLE payments;
DROP TABLE accounts;
DROP TABLE api_keys;
DROP TYPE payment_status;
