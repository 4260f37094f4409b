-- +goose Up
CREATE TYPE mood AS ENUM ('good', 'bad');
CREATE TABLE customers (
    id uuid PRIMARY KEY,
    name text NOT NULL,
    nick text,
    mood mood NOT NULL,
    last_mood mood,
    tags text[] NOT NULL,
    balance numeric(12, 2) NOT NULL,
    meta jsonb,
    url text NOT NULL,
    born date,
    created_at timestamptz NOT NULL
);
CREATE SCHEMA stock;
CREATE TABLE stock.items (id bigint PRIMARY KEY, sku varchar(40) NOT NULL, mood mood);

-- +goose Down
DROP TABLE stock.items;
