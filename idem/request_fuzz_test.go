package idem

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem/idemtest"
	"github.com/jackc/pgx/v5/pgtype"
	"pgregory.net/rapid"
)

// everything takes an input of each kind and list of it from each part of a
// request, and hands them to PostgreSQL.
func everything() *Operation {
	op := &Operation{Name: "Every", Method: http.MethodPost, Path: "/v1/every/{id}", Status: 200, Strategy: Direct, Policy: shopPolicy(0)}
	var columns []string
	types := pgtype.NewMap()
	add := func(f Field) {
		oid := kinds[f.Kind].oid
		if f.Array {
			oid = kinds[f.Kind].array
		}
		known, _ := types.TypeForOID(oid)
		op.Fields = append(op.Fields, f)
		columns = append(columns, fmt.Sprintf("$%d::%s AS c%d", len(op.Fields), strings.Replace(known.Name, "json", "jsonb", 1), len(op.Fields)))
	}
	add(Field{From: FromPath, Name: "id", Kind: KindText, Required: true})
	for k := KindText; k < KindRecord; k++ {
		for _, list := range []bool{false, true} {
			name := fmt.Sprintf("%s%v", strings.ToLower(k.String()), list)
			add(Field{From: FromBody, Name: name, Kind: k, Array: list, Nullable: true})
			if k != KindJSON {
				add(Field{From: FromQuery, Name: name, Kind: k, Array: list})
				add(Field{From: FromHeader, Name: "X-" + name, Kind: k, Array: list})
			}
		}
	}
	op.SQL = "-- statement: unkeyed\nSELECT false, 200::smallint, NULL::text, (SELECT row_to_json(r)::text FROM (SELECT " + strings.Join(columns, ", ") + ") r), NULL::bytea;\n"
	indexes := make([]int, len(op.Fields))
	for i := range indexes {
		indexes[i] = i
	}
	op.Steps = []Step{{Name: "Every", Unkeyed: fieldArgs(indexes...)}}
	return op
}

// fuzzOps are operations of all strategies and origins of a key.
func fuzzOps() []*Operation {
	source := createPayment("Source", patience, true)
	source.Key = Key{From: KeySource, Arg: Arg{From: ArgField, Field: 0}}
	return append(allStrategies(), everything(), getPayment(), createPayment("Optional", patience, false), source)
}

func fuzzShop(t testing.TB) *shop {
	return openShop(t, idemtest.Pool(t, shopTables, "INSERT INTO jobs SELECT FROM generate_series(1, 9)"), fuzzOps()...)
}

// wantSane: an answer, or a refusal that is a problem document; never a fault, and
// nothing without a type.
func wantSane(status int, header http.Header, body []byte) error {
	kind := header.Get("Content-Type")
	switch {
	case status >= 500 || status < 200:
		return fmt.Errorf("%d %s", status, body)
	case len(body) > 0 && kind == "":
		return fmt.Errorf("%d, a body without a type: %s", status, body)
	case status < 400:
		return nil
	case kind != problemType:
		return fmt.Errorf("%d is a %s: %s", status, kind, body)
	}
	var p problem
	if err := json.Unmarshal(body, &p); err != nil || p.Code == "" || p.Status != status || !strings.HasSuffix(p.Type, p.Code) {
		return fmt.Errorf("%d, no problem document: %s (%v)", status, body, err)
	}
	return nil
}

// FuzzRequest: any bytes as key, path, query, body and media type, for every
// operation.
func FuzzRequest(f *testing.F) {
	s, ops := fuzzShop(f), fuzzOps()
	wantStatus(f, s.call("Every", http.MethodPost, "1", `{}`), 200) // its statement is reached
	for i := range ops {
		f.Add(uint8(i), "k2", "1", "", "application/json", []byte(`{}`))
		f.Add(uint8(i), "k3", "1", "", "application/json", []byte(`{"amount":-9223372036854775808}`)) // more than a sum can hold
		f.Add(uint8(i), "k", "1", "", "application/json", []byte(order1))
		f.Add(uint8(i), `"a\"b";v=1`, "%00", "texttrue=a&texttrue=%ff&int8false=1e400", "application/json;charset=utf-8", []byte(`{"amount":1e400,"from":-0}`))
		f.Add(uint8(i), "\x00é", "9223372036854775808", "a=%zz&;", "text/\xff", []byte("{\"order_id\":\"\\u0000\\ud800\",\"amount\":null}"))
		f.Add(uint8(i), "", "\xff/../é", "timestamptzfalse=294277-01-01T00:00:00Z", "application/json", []byte(`{"jsonfalse":{"a":[[]]},"intervaltrue":["P1Y",null],"numericfalse":1e131071}`))
	}
	f.Fuzz(func(t *testing.T, op uint8, key, id, query, media string, body []byte) {
		chosen := ops[int(op)%len(ops)]
		r := httptest.NewRequest(chosen.Method, "/", bytes.NewReader(body))
		r.URL = &url.URL{Path: "/", RawQuery: query}
		r.SetPathValue("id", id)
		r.Header[keyHeader], r.Header["Content-Type"] = []string{key}, []string{media}
		r.Header["X-Textfalse"], r.Header["X-Int8true"] = []string{id}, []string{key, query}
		w := newRecorder()
		s.Handler(chosen.Name).ServeHTTP(w, r)
		if err := wantSane(w.Code, w.Header(), w.Body.Bytes()); err != nil {
			t.Errorf("%s: %v", chosen.Name, err)
		}
	})
}

// Bytes that Go's own client would not send, over a socket to a real server. Go's
// server answers itself, as text, where they are no HTTP at all.
func TestAnyBytesAreAnsweredOverASocket(t *testing.T) {
	t.Parallel()
	s := fuzzShop(t)
	server := httptest.NewServer(s.mux)
	defer server.Close()
	token := rapid.OneOf(
		rapid.SampledFrom([]string{"", " ", "k", `"k"`, `"`, `\`, ",", ";", ";a=1", "\x00", "\x7f", "\xff", "é", "\t", "%00", "%zz", "/", "..", "?", "&", "=",
			"1", "-0", "1e999", "null", "{", "}", "[", "]", ":", `"order_id":`, `"amount":`, `\u0000`, `\ud800`, strings.Repeat("9", 300)}),
		rapid.StringMatching(`[\x01-\x7f]{0,3}`), rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 4), func(b []byte) string { return string(b) }))
	text := rapid.Map(rapid.SliceOfN(token, 0, 8), func(parts []string) string { return strings.Join(parts, "") })
	oneLine := rapid.Map(text, strings.NewReplacer("\r", "", "\n", "").Replace)
	rapid.Check(t, func(t *rapid.T) {
		op := rapid.SampledFrom(fuzzOps()).Draw(t, "operation")
		body := rapid.OneOf(text, rapid.SampledFrom([]string{bodyFor(op.Name), "{}", order1})).Draw(t, "body")
		target := "/" + string(op.Name) + "/" + rapid.OneOf(rapid.Just("1"), oneLine).Draw(t, "id") + rapid.OneOf(rapid.Just(""), oneLine).Draw(t, "rest")
		lines := []string{op.Method + " " + target + " HTTP/1.1", "Host: x", "Connection: close", fmt.Sprint("Content-Length: ", len(body)),
			"Content-Type: " + rapid.OneOf(rapid.Just("application/json"), oneLine).Draw(t, "media"),
			keyHeader + ": " + rapid.OneOf(rapid.Just("k"), oneLine).Draw(t, "key"),
			"X-Tenant: " + rapid.OneOf(rapid.Just("t1"), oneLine).Draw(t, "tenant"),
			"X-textfalse: " + rapid.OneOf(rapid.Just("v"), oneLine).Draw(t, "header")}
		status, header, raw, err := exchange(server.Listener.Addr().String(), strings.Join(lines, "\r\n")+"\r\n\r\n"+body)
		if err != nil {
			t.Fatalf("%q: %v", lines, err)
		}
		ofServer := strings.HasPrefix(header.Get("Content-Type"), "text/") && status >= 300 && status < 500
		if err := wantSane(status, header, raw); err != nil && !ofServer {
			t.Errorf("%q: %v", lines, err)
		}
	})
}

// exchange sends bytes and reads the answer: its status, headers and body.
func exchange(address, bytes string) (status int, header http.Header, body []byte, err error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return 0, nil, nil, err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.WriteString(conn, bytes); err != nil {
		return 0, nil, nil, err
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, nil, nil, err
	}
	body, err = io.ReadAll(answer.Body)
	return answer.StatusCode, answer.Header, body, errors.Join(err, answer.Body.Close())
}
