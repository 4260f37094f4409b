-- name: Http :one
-- @http post /v1/a
-- @intnet payments (a)
-- @Router /x [get]
-- @norows 404
-- @idempotent
-- @unique a
-- @alice asked for this
-- @outbox a.b key=c
-- @async
-- @webhook stripe
-- @consume t
-- @tool x "y"
SELECT 1;

-- name: Paths :one
-- @http GET v1/a
SELECT 1;
-- name: Paths2 :one
-- @http GET /v1/{id}/x/{id}
SELECT 1;
-- name: Paths3 :one
-- @http GET /v1/{id:[0-9]+}
SELECT 1;
-- name: Paths4 :one
-- @http GET /v1/a?b=c
SELECT 1;
-- name: Paths5 :one
-- @http GET /v1//a
SELECT 1;
-- name: Paths6 :one
-- @http GET /v1/*
SELECT 1;
-- name: Paths7 :one
-- @http GET /v1/{id
SELECT 1;
-- name: Paths8 :one
-- @http GET /v1/{a}{b}
SELECT 1;
-- name: Paths9 :one
-- @http GET /v1/{a-b}
SELECT 1;
-- name: Route1 :one
-- @http /v1/a GET
SELECT 1;
-- name: Route2 :one
-- @http OPTIONS /v1/a
SELECT 1;
-- name: Route3 :one
-- @http POST /v1/a 404
SELECT 1;
-- name: Route4 :one
-- @http POST /v1/a 20
SELECT 1;
-- name: Route5 :one
-- @http POST /v1/a 201 extra
SELECT 1;
-- name: Route6 :one
-- @http
SELECT 1;
-- name: Route7 :one
-- @http GET
SELECT 1;
-- name: Route8 :one
-- @http GETT /a
SELECT 1;

-- name: Binds :one
-- @bind
-- @bind a
-- @bind a-b body.x
-- @bind a body.
-- @bind a body.x.y-z. min=1
-- @bind a path
-- @bind a callr.tenant_id
-- @bind a nwo
-- @bind a "literal"
-- @bind a 'open
-- @bind a has(note)
-- @bind a item.sku
-- @bind a InsertOrder.id
-- @bind a query.a.b
-- @bind b body.x mn=1
-- @bind b body.x min=
-- @bind b body.x min=1 min=2
-- @bind b body.x y
-- @bind c body.x
-- @bind c body.y
SELECT 1;

-- name: Intent1 :one
-- @intent
SELECT 1;
-- name: Intent2 :one
-- @intent payments (a, b
SELECT 1;
-- name: Intent3 :one
-- @intent payments (a, , b)
SELECT 1;
-- name: Intent4 :one
-- @intent payments (a, a)
SELECT 1;
-- name: Intent5 :one
-- @intent payments (a) wher x
SELECT 1;
-- name: Intent6 :one
-- @intent payments order_id
SELECT 1;
-- name: Intent7 :one
-- @intent payments (a) where return
SELECT 1;
-- name: Intent8 :one
-- @intent a_key where x = 1
SELECT 1;
-- name: Intent9 :one
-- @intent pay-ments (a)
SELECT 1;
-- name: Intent10 :one
-- @intent a.b.c (a)
SELECT 1;
-- name: Intent11 :one
-- @intent payments (lower(a))
SELECT 1;
-- name: Intent12 :one
-- @intent a_key
-- @intent a_key
SELECT 1;

-- name: Problems :one
-- @require
-- @require ok
-- @require ok maybe
-- @require ok 200
-- @require ok 429 slow_down
-- @require ok 402 Not-Enough
-- @require ok 402 not_enough 'single'
-- @require ok 402 not_enough ""
-- @require ok 402 not_enough "title" more
-- @require ok 402 not_enough title
-- @require ok 402 "open
-- @require twice 402
-- @require twice 404
-- @error c 401
-- @error c 500
-- @error e-x 422
-- @error c 422
-- @error C 409
-- @status created 500
-- @status created 408
-- @status created
-- @status created 201 x
-- @status a 201
-- @status a 202
-- @empty 503
SELECT 1;
-- name: Empty2 :one
-- @empty 204 fine
SELECT 1;
-- name: Lists :one
-- @omit
-- @omit a,,b
-- @omit a b
-- @tag
-- @tag a,
SELECT 1;

-- name: Key1 :one
-- @key
SELECT 1;
-- name: Key2 :one
-- @key uuid7
SELECT 1;
-- name: Key3 :one
-- @key 'x'
SELECT 1;
-- name: Key4 :one
-- @key body
SELECT 1;
-- name: Key5 :one
-- @key has(body.x)
SELECT 1;
-- name: Key6 :one
-- @key header optionl
SELECT 1;
-- name: Key7 :one
-- @key header prefix="x"
SELECT 1;
-- name: Key8 :one
-- @key body.x prefix=x
SELECT 1;
-- name: Key9 :one
-- @key body.x prefix="{a"
SELECT 1;
-- name: Key10 :one
-- @key none at all
SELECT 1;
-- name: Key11 :one
-- @key body.x suffix="a"
SELECT 1;

-- name: Headers :one
-- @header
-- @header Location
-- @header Location /v1/{id}
-- @header Location '/v1/{id}'
-- @header Location "/v1/{id"
-- @header Location "/v1/id}"
-- @header Location "/v1/{a b}"
-- @header Location ""
-- @header Loc:ation "x"
-- @header Set-Cookie "x={id}"
-- @header content-type "text/plain"
-- @header Idempotency-Key "x"
-- @header Connection "close"
-- @header X-A "é"
-- @header X-B "b" c
-- @header X-C "c"
-- @header x-c "c"
SELECT 1;

-- name: Policy1 :one
-- @policy
SELECT 1;
-- name: Policy2 :one
-- @policy success:24h
SELECT 1;
-- name: Policy3 :one
-- @policy sucess=24h
SELECT 1;
-- name: Policy4 :one
-- @policy success=24
SELECT 1;
-- name: Policy5 :one
-- @policy timeout=0s
SELECT 1;
-- name: Policy6 :one
-- @policy success=9999999999h
SELECT 1;
-- name: Policy7 :one
-- @policy success=1h success=2h
SELECT 1;
-- name: Policy8 :one
-- @policy max_body=1MIB
SELECT 1;
-- name: Policy9 :one
-- @policy max_body=0
SELECT 1;
-- name: Policy10 :one
-- @policy inflight=wait
SELECT 1;
-- name: Policy11 :one
-- @policy fingerprint=some
SELECT 1;
-- name: Policy12 :one
-- @policy fingerprint=only(a,)
SELECT 1;
-- name: Policy13 :one
-- @policy isolation=snapshot
SELECT 1;
-- name: Policy14 :one
-- @policy record=some
SELECT 1;
-- name: Policy15 :one
-- @policy force_retry=on
SELECT 1;
-- name: Policy16 :one
-- @policy force_retry=maybe
SELECT 1;
-- name: Policy17 :one
-- @policy timeout=5s
-- @policy success=24h
SELECT 1;
-- name: Policy18 :one
-- @policy none
SELECT 1;

-- name: Operation1 :one
-- @operation create_payment
SELECT 1;
-- name: Operation2 :one
-- @operation
SELECT 1;
-- name: Example1 :one
-- @example {order_id: 17}
SELECT 1;
-- name: Example2 :one
-- @example
SELECT 1;
-- name: Example3 :one
-- @example {"a": 1} trailing
SELECT 1;
