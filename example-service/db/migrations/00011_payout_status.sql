-- +goose Up
-- What has become of a payout at the gateway: it is asked by the event that is written
-- with the payout (idem.outbox).
ALTER TABLE payouts
    ADD COLUMN status text NOT NULL DEFAULT 'requested'
        CONSTRAINT payouts_status_check CHECK (status IN ('requested', 'paid', 'refused')),
    ADD COLUMN gateway_id text; -- what the gateway calls it

-- +goose Down
ALTER TABLE payouts DROP COLUMN gateway_id, DROP COLUMN status;
