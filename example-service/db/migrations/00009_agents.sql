-- +goose Up
CREATE TABLE invoices (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id  text NOT NULL,
    order_id   varchar(64) NOT NULL CHECK (length(order_id) > 0),
    amount     bigint NOT NULL CONSTRAINT invoices_amount_check CHECK (amount > 0), -- in the currency's smallest unit
    currency   varchar(3) NOT NULL CONSTRAINT invoices_currency_check CHECK (currency ~ '^[A-Z]{3}$'),
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT invoices_order_key UNIQUE (tenant_id, order_id)
);

-- What agents have done, a row per step that has an effect outside. It is written
-- with the effect and its event (idem.outbox, PENDING), and PROCESSED like it.
CREATE TABLE agent_steps (
    tenant_id    text NOT NULL,
    key          text NOT NULL, -- of the step's tool call
    tool         varchar(64) NOT NULL,
    status       text NOT NULL DEFAULT 'AWAITING_EXTERNAL_DISPATCH'
        CONSTRAINT agent_steps_status_check CHECK (status IN ('AWAITING_EXTERNAL_DISPATCH', 'PROCESSED')),
    invoice_id   bigint NOT NULL REFERENCES invoices (id),
    created_at   timestamptz NOT NULL DEFAULT now(),
    processed_at timestamptz,
    PRIMARY KEY (tenant_id, key)
);
CREATE INDEX agent_steps_invoice_idx ON agent_steps (invoice_id);

-- +goose Down
DROP TABLE agent_steps;
DROP TABLE invoices;
