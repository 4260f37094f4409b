-- +goose Up
ALTER TABLE payments
ADD COLUMN refunded bigint NOT NULL DEFAULT 0
CONSTRAINT payments_refunded_check CHECK (refunded BETWEEN 0 AND amount);

CREATE TABLE refunds (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id  text NOT NULL,
    payment_id bigint NOT NULL REFERENCES payments (id),
    amount     bigint NOT NULL CONSTRAINT refunds_amount_check CHECK (amount > 0),
    reason     text,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX refunds_payment_id_idx ON refunds (payment_id);

-- +goose Down
DROP TABLE refunds;
ALTER TABLE payments DROP COLUMN refunded;
