package schema

import (
	"reflect"
	"testing"

	"github.com/idemgen/idemgen/generator/model"
)

func TestMigrationsTellTheIndexesThatTheyBuild(t *testing.T) {
	got := Migrations([]File{{Path: "1.sql", Text: `-- +goose Up
CREATE TABLE made (id bigint PRIMARY KEY);
CREATE INDEX CONCURRENTLY a ON shop.orders (x);
CREATE UNIQUE INDEX ON orders (y);
CREATE INDEX o ON ONLY parted (y);
ALTER TABLE orders ADD CONSTRAINT u UNIQUE (z), ADD CONSTRAINT f FOREIGN KEY (z) REFERENCES made (id);
ALTER TABLE orders ADD CONSTRAINT p PRIMARY KEY USING INDEX a;
ALTER TABLE orders ADD EXCLUDE USING gist (r WITH &&);
\broken;
-- +goose Down
CREATE INDEX never ON orders (y);
`}})
	orders := model.TableName{Name: "orders"}
	want := []Migration{{Path: "1.sql", Creates: []model.TableName{{Name: "made"}}, Builds: []IndexBuild{
		{Name: "a", Table: model.TableName{Schema: "shop", Name: "orders"}, Concurrently: true},
		{Table: orders, Unique: true},
		{Name: "u", Table: orders, Unique: true, Constraint: true},
		{Table: orders, Constraint: true},
	}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}
