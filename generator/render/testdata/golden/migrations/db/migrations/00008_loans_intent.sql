-- idemgen: intent lib.Loans(book_id)where(returned_at%20IS%20NULL%20AND%20note%20<>%20'a%25b%20c')
-- At most one row of lib."Loans" per book_id where returned_at IS NULL AND note <> 'a%b c', whatever the key.
--
-- Rows that already break this rule make the migration fail. This finds them:
--
--   SELECT book_id, count(*)
--   FROM lib."Loans"
--   WHERE returned_at IS NULL
--    AND note <> 'a%b  c'
--   GROUP BY book_id
--   HAVING count(*) > 1;

-- +goose NO TRANSACTION
-- +goose Up
-- A build that failed leaves an invalid index behind.
DROP INDEX CONCURRENTLY IF EXISTS lib."Loans_book_id_intent";
CREATE UNIQUE INDEX CONCURRENTLY "Loans_book_id_intent"
ON lib."Loans" (book_id)
WHERE returned_at IS NULL
 AND note <> 'a%b  c';

-- +goose Down
DROP INDEX CONCURRENTLY IF EXISTS lib."Loans_book_id_intent";
