-- name: InsertRide :one
INSERT INTO rides (tenant_id, rider, fare, currency)
VALUES (@tenant_id, @rider, @fare, @currency)
RETURNING id;

-- name: MarkCharged :one
-- A ride that was cancelled while the card was charged gives the money back.
-- @empty 409 ride_cancelled "the ride was cancelled"
UPDATE rides
SET status = 'charged', charge_id = @charge_id::text
WHERE tenant_id = @tenant_id AND id = @id AND status = 'requested'
RETURNING id, rider, fare, currency, status, charge_id;
