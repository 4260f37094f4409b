-- name: Good :one
-- @outbox payment.created
-- @outbox payment.large key=order_id if=large
-- @outbox payment.audited columns=id,customer.name,secret
-- @outbox v2/payments:created_2 columns="customer.name"
-- @outbox payment.created key=id
SELECT 1;

-- name: Bad :one
-- @outbox
-- @outbox it's
-- @outbox "it's gone"
-- @outbox order.*
-- @outbox payment.created order_id
-- @outbox payment.created key=
-- @outbox payment.created key=a,b
-- @outbox payment.created key=a key=b
-- @outbox payment.created columns=a, b
-- @outbox payment.created columns=a,,b
-- @outbox payment.created columns=a,a
-- @outbox payment.created columns=a-b
-- @outbox payment.created clumns=a
-- @outbox payment.created when=a
SELECT 1;
