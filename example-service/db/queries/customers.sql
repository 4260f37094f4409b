-- name: PutCustomer :one
-- Create or replace a customer.
-- @http PUT /v1/customers/{id} 200
-- @status created 201
-- @tag customers
INSERT INTO customers (tenant_id, id, name, email)
VALUES (@tenant_id, @id, @name, sqlc.narg('email'))
ON CONFLICT (tenant_id, id) DO UPDATE
SET name = excluded.name, email = excluded.email, version = customers.version + 1, updated_at = now()
RETURNING id, name, email, version, updated_at, (version = 1)::boolean AS created;

-- name: PatchCustomer :one
-- Change what is sent. `"email": null` removes the address, leaving it out keeps it.
-- @http PATCH /v1/customers/{id}
-- @bind email_sent has(body.email)
-- @tag customers
UPDATE customers
SET name = coalesce(sqlc.narg('name'), name),
    email = CASE WHEN @email_sent::boolean THEN sqlc.narg('email') ELSE email END,
    version = version + 1,
    updated_at = now()
WHERE tenant_id = @tenant_id AND id = @id
RETURNING id, name, email, version, updated_at;

-- name: DeleteCustomer :execrows
-- Delete a customer.
-- @http DELETE /v1/customers/{id} 204
-- @tag customers
DELETE FROM customers WHERE tenant_id = @tenant_id AND id = @id;
