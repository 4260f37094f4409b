-- name: Wide :one
-- @header 名前 "x"
-- @error c 422 "標題" rest
SELECT 1;
