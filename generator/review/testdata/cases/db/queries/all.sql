-- name: AddOdd :one
-- Adds <b>odd</b> | things; see @someone, `code` and #12. More.
-- @http POST /odd/{id} 201
-- @key header optional
-- @policy inflight=reject success=1h record=none
-- @error "check | <b>" 422 empty_name "the name; is #empty"
INSERT INTO "Odd | Names" (tenant_id, "a`b", "größe") VALUES (@tenant_id, @name, @id)
RETURNING id, "größe" AS size;

-- name: TakeJob :one
-- @http POST /jobs/take
-- @empty 404 no_job "there is no job"
-- @policy fingerprint=none timeout=5s server_error=5m
UPDATE jobs SET state = 'running'
WHERE id = (SELECT j.id FROM jobs j WHERE j.tenant_id = @tenant_id AND j.state = 'new' ORDER BY j.id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, state;

-- name: DropJob :exec
-- @http DELETE /jobs/{id} 204
-- @key header required
DELETE FROM jobs WHERE tenant_id = @tenant_id AND id = @id;

-- name: AddJob :one
-- @http POST /jobs
-- @intent jobs (tenant_id, id)
-- @key intent
-- @policy isolation=serializable
INSERT INTO jobs (tenant_id, id) VALUES (@tenant_id, @id)
RETURNING id, state;

-- name: AddChild :one
INSERT INTO jobs (id, tenant_id, parent) VALUES (@id, @tenant_id, @parent)
RETURNING id;

-- name: ListJobs :many
-- @http GET /jobs
SELECT id, state FROM jobs WHERE tenant_id = @tenant_id ORDER BY id;
