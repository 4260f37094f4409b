package render

import (
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/generator/model"
)

func TestGoName(t *testing.T) {
	tests := map[string]string{
		"order_id": "OrderID", "id": "ID", "ID": "ID", "type": "Type", "X-Request-Id": "XRequestID",
		"orderId": "OrderId", "2fa": "X2fa", "": "X", "größe": "Größe", "名前": "X名前", "a.b": "AB", "_": "X",
	}
	for name, want := range tests {
		if got := goName(name); got != want {
			t.Errorf("goName(%q) = %s, want %s", name, got, want)
		}
	}
}

func TestDuration(t *testing.T) {
	tests := map[time.Duration]string{
		0: "", time.Hour: "time.Hour", 24 * time.Hour: "24 * time.Hour", 90 * time.Minute: "90 * time.Minute",
		1500 * time.Millisecond: "1500 * time.Millisecond", 3 * time.Microsecond: "3 * time.Microsecond", 7: "7",
	}
	for d, want := range tests {
		if got := duration(d); got != want {
			t.Errorf("duration(%v) = %s, want %s", d, got, want)
		}
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{0: "", 1 << 20: "1 << 20", 3 << 10: "3 << 10", 1000: "1000"} {
		if got := size(n); got != want {
			t.Errorf("size(%d) = %s, want %s", n, got, want)
		}
	}
}

func TestTextQuotes(t *testing.T) {
	for s, want := range map[string]string{"": "", "a": `"a"`, `a\d`: "`a\\d`", "a\\`": "\"a\\\\`\"", "a\n": `"a\n"`} {
		if got := text(s); got != want {
			t.Errorf("text(%q) = %s, want %s", s, got, want)
		}
	}
}

func TestImports(t *testing.T) {
	im := newImports("example.com/shop", []string{"Caller", "db4"})
	im.add("context", "github.com/go-chi/chi/v5")
	im.blank("embed")
	uses := []struct{ expr, spec, want string }{
		{"db.Status", "example.com/shop/internal/db", "db.Status"},
		{"[]*db.Status", "example.com/shop/stock/db", "[]*db2.Status"},
		{"map[db.A]db.B", "example.com/other/db", "map[db3.A]db3.B"},
		{"db.C", "example.com/last/db", "db5.C"}, // db4 is taken
		{"db.Other", "example.com/shop/internal/db", "db.Other"},
		{"null.String", "gopkg.in/guregu/null.v4", "null.String"},
		{"uuid.UUID", "github.com/gofrs/uuid/v5", "uuid.UUID"},
		{"yaml.Node", "gopkg.in/yaml.v3", "yaml.Node"},
		{"dec.Decimal", "dec github.com/x/decimal", "dec.Decimal"},
		{"odd.Thing", "github.com/x/strange", "odd.Thing"},
		{"context.Thing", "example.com/context", "context2.Thing"},
		{"string", "", "string"},
	}
	for _, u := range uses {
		g := model.GoType{Expr: u.expr}
		if u.spec != "" {
			g.Imports = []string{u.spec}
		}
		if got := im.use(g); got != u.want {
			t.Errorf("use(%s of %s) = %s, want %s", u.expr, u.spec, got, u.want)
		}
	}
	want := strings.Join([]string{
		"import (",
		`"context"`, `_ "embed"`, "",
		`context2 "example.com/context"`, `db5 "example.com/last/db"`, `db3 "example.com/other/db"`,
		`"github.com/go-chi/chi/v5"`, `"github.com/gofrs/uuid/v5"`, `dec "github.com/x/decimal"`, `odd "github.com/x/strange"`,
		`"gopkg.in/guregu/null.v4"`, `"gopkg.in/yaml.v3"`, "",
		`"example.com/shop/internal/db"`, `db2 "example.com/shop/stock/db"`, ")\n",
	}, "\n")
	if got := im.block(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
