-- name: TenantOfKey :one
SELECT tenant_id FROM api_keys WHERE digest = @digest;

-- name: AddAPIKey :exec
INSERT INTO api_keys (digest, tenant_id) VALUES (@digest, @tenant_id)
ON CONFLICT (digest) DO NOTHING;
