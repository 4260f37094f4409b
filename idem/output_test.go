package idem

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

func TestOutput_kinds(t *testing.T) {
	var (
		text    string
		status  enumText
		null    pgtype.Text
		pointer *string
		flag    bool
		big     int64
		bigText int64
		amount  pgtype.Numeric
		rate    float64
		nan     float64
		id      pgtype.UUID
		at      pgtype.Timestamptz
		stamp   time.Time
		forever pgtype.Timestamptz
		local   pgtype.Timestamp
		day     pgtype.Date
		clock   pgtype.Time
		every   pgtype.Interval
		raw     []byte
		doc     []byte
		message json.RawMessage
		tags    []string
		states  []enumText
		counts  []*int32
		instant []time.Time
	)
	body := `{"text":"a\"\u00fc","status":"new","null":null,"pointer":"p","flag":true,"big":9007199254740993,"big_text":"9223372036854775807","amount":"1.50","rate":0.1,"nan":"NaN",
	"id":"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11","at":"2024-02-29T12:00:00.123456Z","stamp":"2024-02-29T12:00:00.000000Z","forever":"infinity","local":"2024-02-29T12:00:00.5","day":"2024-02-29","clock":"12:30:00.000001",
	"every":"P1Y2M-3DT-1H-2M-3.5S","raw":"aGk=","doc":{"b": 1.50},"message":[1],"tags":["a b",""],"states":["new"],"counts":[1,null],"instant":["2024-02-29T12:00:00.000000Z"],"extra":{"x":[1]}}`
	column := func(path string, kind Kind, into any) OutputColumn {
		return OutputColumn{Path: path, Kind: kind, Into: into}
	}
	array := func(path string, kind Kind, into any) OutputColumn {
		return OutputColumn{Path: path, Kind: kind, Array: true, Into: into}
	}
	err := scanOutput([]byte(body), []OutputColumn{
		column("text", KindText, &text), column("status", KindText, &status), column("null", KindText, &null), column("pointer", KindText, &pointer), column("flag", KindBool, &flag),
		column("big", KindInt8, &big), column("big_text", KindInt8, &bigText), column("amount", KindNumeric, &amount), column("rate", KindFloat8, &rate), column("nan", KindFloat8, &nan),
		column("id", KindUUID, &id), column("at", KindTimestamptz, &at), column("stamp", KindTimestamptz, &stamp), column("forever", KindTimestamptz, &forever), column("local", KindTimestamp, &local),
		column("day", KindDate, &day), column("clock", KindTime, &clock), column("every", KindInterval, &every), column("raw", KindBytea, &raw), column("doc", KindJSON, &doc), column("message", KindJSON, &message),
		array("tags", KindText, &tags), array("states", KindText, &states), array("counts", KindInt4, &counts), array("instant", KindTimestamptz, &instant), column("absent", KindText, &text),
	})
	if err != nil {
		t.Fatal(err)
	}
	numeric, _ := amount.Value()
	checks := map[string]bool{
		"text": text == `a"ü`, "status": status == "new", "null": !null.Valid, "pointer": pointer != nil && *pointer == "p", "flag": flag,
		"big": big == 9007199254740993, "big_text": bigText == math.MaxInt64, "amount": numeric == "1.50", "rate": rate == 0.1, "nan": math.IsNaN(nan),
		"id": id.Valid && id.Bytes == testUUID, "at": at.Time.Equal(time.Date(2024, 2, 29, 12, 0, 0, 123456000, time.UTC)), "stamp": stamp.Equal(time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)),
		"forever": forever.InfinityModifier == pgtype.Infinity, "local": local.Time.Equal(time.Date(2024, 2, 29, 12, 0, 0, 500000000, time.UTC)), "day": day.Time.Day() == 29, "clock": clock.Microseconds == 45_000_000_001,
		"every": every == pgtype.Interval{Months: 14, Days: -3, Microseconds: -3_723_500_000, Valid: true}, "raw": string(raw) == "hi", "doc": string(doc) == `{"b": 1.50}`, "message": string(message) == "[1]",
		"tags": len(tags) == 2 && tags[0] == "a b" && tags[1] == "", "states": len(states) == 1 && states[0] == "new", "counts": len(counts) == 2 && *counts[0] == 1 && counts[1] == nil, "instant": len(instant) == 1 && instant[0].Equal(stamp),
	}
	for name, ok := range checks {
		if !ok {
			t.Errorf("%s is wrong", name)
		}
	}
}

type outputOrder struct {
	ID       int64
	Customer struct{ Name string }
	Lines    []outputLine
}

type outputLine struct {
	Sku  int64
	Tags []string
}

func (o *outputOrder) columns() []OutputColumn {
	return []OutputColumn{
		{Path: "order.id", Kind: KindInt8, Into: &o.ID},
		{Path: "order.customer.name", Kind: KindText, Into: &o.Customer.Name},
		{Path: "lines", List: func() []OutputColumn {
			o.Lines = append(o.Lines, outputLine{})
			line := &o.Lines[len(o.Lines)-1]
			return []OutputColumn{{Path: "sku", Kind: KindInt8, Into: &line.Sku}, {Path: "meta.tags", Kind: KindText, Array: true, Into: &line.Tags}}
		}},
	}
}

func TestOutput_nestedAndLists(t *testing.T) {
	var o outputOrder
	body := `{"order":{"id":5,"customer":{"name":"N","x":1},"id_2":7},"lines":[{"sku":1,"meta":{"tags":["a"]}},{"sku":2,"meta":null}],"order2":{"id":6}}`
	if err := scanOutput([]byte(body), o.columns()); err != nil {
		t.Fatal(err)
	}
	if o.ID != 5 || o.Customer.Name != "N" || len(o.Lines) != 2 || o.Lines[0].Tags[0] != "a" || o.Lines[1].Sku != 2 {
		t.Errorf("got %+v", o)
	}
	for _, body := range []string{``, ` `, `{"order":null,"lines":null}`, `{"lines":[]}`} {
		if err := scanOutput([]byte(body), (&outputOrder{}).columns()); err != nil {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func TestOutput_wholeBody(t *testing.T) {
	var token string
	if err := scanOutput([]byte(`"t"`), []OutputColumn{{Kind: KindText, Into: &token}}); err != nil || token != "t" {
		t.Errorf("got %q, %v", token, err)
	}
	var ids []int64
	list := OutputColumn{List: func() []OutputColumn {
		ids = append(ids, 0)
		return []OutputColumn{{Path: "id", Kind: KindInt8, Into: &ids[len(ids)-1]}}
	}}
	if err := scanOutput([]byte(`[{"id":1},{"id":2}]`), []OutputColumn{list}); err != nil || len(ids) != 2 || ids[1] != 2 {
		t.Errorf("got %v, %v", ids, err)
	}
}

func TestOutput_refused(t *testing.T) {
	var n int64
	var all []int64
	for body, want := range map[string]string{
		`{"n":"x"}`: `"n"`, `{"n":null}`: `"n"`, `{"n":{}}`: "an integer", `{"n":1`: "response body", `[`: "response body", `{"all":5}`: "not an array", `{"all":[{}]}`: `"all"`,
		`{"n":1} 2`: "response body",
	} {
		err := scanOutput([]byte(body), []OutputColumn{{Path: "n", Kind: KindInt8, Into: &n}, {Path: "all", Kind: KindInt8, Array: true, Into: &all}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", body, err, want)
		}
	}
}
