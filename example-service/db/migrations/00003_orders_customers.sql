-- +goose Up
CREATE TABLE orders (
    id         uuid PRIMARY KEY,
    tenant_id  text NOT NULL,
    reference  varchar(64) NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE order_lines (
    order_id uuid NOT NULL REFERENCES orders (id) ON DELETE CASCADE,
    sku      varchar(32) NOT NULL CHECK (sku ~ '^[A-Z0-9-]+$'),
    qty      integer NOT NULL CHECK (qty BETWEEN 1 AND 1000),
    price    numeric(12,2) NOT NULL CHECK (price >= 0),
    PRIMARY KEY (order_id, sku)
);

CREATE TABLE customers (
    tenant_id  text NOT NULL,
    id         varchar(64) NOT NULL,
    name       varchar(200) NOT NULL CHECK (length(name) > 0),
    email      text CHECK (email ~ '^[^@ ]+@[^@ ]+$'),
    version    integer NOT NULL DEFAULT 1,
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);

-- +goose Down
DROP TABLE customers;
DROP TABLE order_lines;
DROP TABLE orders;
