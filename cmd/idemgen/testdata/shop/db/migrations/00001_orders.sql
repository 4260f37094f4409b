-- +goose Up
CREATE TABLE orders (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id  text   NOT NULL,
    reference  text   NOT NULL,
    amount     bigint NOT NULL CONSTRAINT orders_amount_check CHECK (amount > 0)
);

-- +goose Down
DROP TABLE orders;
