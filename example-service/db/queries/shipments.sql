-- name: PrepareShipment :one
-- Prepare what the warehouse sends for an order: each message once, however often it is delivered.
-- @consume order.created
-- @bind order_id body.order.id
-- @bind items body.order.items
-- @error shipments_items_check 422 nothing_to_send "the order has no items"
-- @example {"order": {"id": 17, "items": 3}}
INSERT INTO shipments (tenant_id, order_id, items)
VALUES (@tenant_id, @order_id, @items)
RETURNING id, order_id, items;
