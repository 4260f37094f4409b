-- +goose Up
CREATE TABLE shipments (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id  text NOT NULL,
    order_id   bigint NOT NULL,
    items      integer NOT NULL CONSTRAINT shipments_items_check CHECK (items > 0),
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX shipments_tenant_id_idx ON shipments (tenant_id, order_id);

-- +goose Down
DROP TABLE shipments;
