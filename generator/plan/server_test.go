package plan

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/idem/idemtest"
)

// values are the inputs of a request by name; a missing one is NULL.
type values map[string]string

// scopeOf names the value that is the request's scope, where that isn't t1.
const scopeOf = "(scope)"

// server is one connection that sends statements as the runtime does:
// parameters are texts, whose types the server infers.
type server struct {
	t    testing.TB
	conn *pgconn.PgConn
}

func serve(t testing.TB, url string, settings ...string) *server {
	t.Helper()
	conn, err := pgconn.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	s := &server{t, conn}
	for _, sql := range settings {
		s.exec(sql)
	}
	return s
}

func fresh(t testing.TB, sql ...string) *server {
	t.Helper()
	return serve(t, idemtest.URL(t, sql...))
}

func (s *server) exec(sql string) {
	s.t.Helper()
	if _, err := s.conn.Exec(context.Background(), sql).ReadAll(); err != nil {
		s.t.Fatalf("%v\n%s", err, sql)
	}
}

// text is the one value of a query, NULL as "<null>".
func (s *server) text(sql string) string {
	s.t.Helper()
	res := s.conn.ExecParams(context.Background(), sql, nil, nil, nil, nil).Read()
	if res.Err != nil {
		s.t.Fatalf("%v\n%s", res.Err, sql)
	}
	if len(res.Rows) != 1 || len(res.Rows[0]) != 1 {
		s.t.Fatalf("%d rows\n%s", len(res.Rows), sql)
	}
	return cell(res.Rows[0][0])
}

func cell(b []byte) string {
	if b == nil {
		return "<null>"
	}
	return string(b)
}

// send runs one section.
func (s *server) send(st Statement, key string, in values) ([][]string, error) {
	args := make([][]byte, len(st.Args))
	for i, a := range st.Args {
		args[i] = argument(a, key, in)
	}
	res := s.conn.ExecParams(context.Background(), st.SQL, args, nil, nil, nil).Read()
	if res.Err != nil {
		return nil, res.Err
	}
	rows := make([][]string, len(res.Rows))
	for i, row := range res.Rows {
		for _, b := range row {
			rows[i] = append(rows[i], cell(b))
		}
	}
	return rows, nil
}

const (
	problemBody    = `{"title":"it's gone","status":409}`
	problemHeaders = `{"Content-Type": "application/x-own"}`
)

func argument(a Arg, key string, in values) []byte {
	digest := sha256.Sum256([]byte(key))
	switch a.Runtime {
	case ArgScope:
		return []byte(cmp.Or(in[scopeOf], "t1"))
	case ArgDigest:
		return fmt.Appendf(nil, `\x%x`, digest[:16])
	case ArgKey:
		return []byte(key)
	case ArgFingerprint:
		return []byte(`\x01`)
	case ArgEmpty:
		return []byte(problemBody)
	case ArgEmptyHeaders:
		return []byte(problemHeaders)
	case ArgEvent:
		return []byte(a.Label + "/" + key)
	case ArgTrace:
		return []byte(`{"traceparent": "00-trace"}`)
	case ArgLock:
		return fmt.Appendf(nil, "%d", int64(digest[0])<<8|int64(digest[1]))
	}
	name := a.Source.Column // of an earlier step
	switch a.Source.Kind {
	case model.SourceItem:
		name = a.Source.Member
	case model.SourceInput:
		name = a.Source.Input.Name
	}
	if v, ok := in[name]; ok {
		return []byte(v)
	}
	return nil
}

// reply is a row of replayed, status, headers, body and fingerprint.
type reply struct{ replayed, status, headers, body, fingerprint string }

// run sends an operation of one statement, as the runtime would. No reply
// means that a twin is running.
func (s *server) run(op *Operation, key string, in values) (*reply, error) {
	s.t.Helper()
	if op.Strategy == Verbatim {
		return s.runVerbatim(op, key, in)
	}
	rows, err := s.send(op.section(s.t, "keyed"), key, in)
	return s.reply(rows), err
}

// runVerbatim is the pipeline of the strategy, in an explicit transaction.
func (s *server) runVerbatim(op *Operation, key string, in values) (*reply, error) {
	s.exec("BEGIN")
	commit := "ROLLBACK"
	defer func() { s.exec(commit) }()
	rows, err := s.send(op.section(s.t, "prior"), key, in)
	if err != nil || len(rows) > 0 {
		return s.reply(rows), err
	}
	if _, err := s.send(op.section(s.t, "claim"), key, in); err != nil {
		return nil, err
	}
	rows, err = s.send(op.section(s.t, "keyed"), key, in)
	if err == nil {
		commit = "COMMIT"
	}
	return s.reply(rows), err
}

func (s *server) reply(rows [][]string) *reply {
	s.t.Helper()
	switch len(rows) {
	case 0:
		return nil
	case 1:
		r := rows[0]
		return &reply{r[0], r[1], r[2], r[3], r[4]}
	}
	s.t.Fatalf("%d rows", len(rows))
	return nil
}

// must runs an operation that gives a reply.
func (s *server) must(op *Operation, key string, in values) reply {
	s.t.Helper()
	r, err := s.run(op, key, in)
	if err != nil || r == nil {
		s.t.Fatalf("no reply: %v", err)
	}
	return *r
}

// code is the SQLSTATE of an error, and its constraint.
func code(err error) (state, constraint string) {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code, pg.ConstraintName
	}
	return fmt.Sprint(err), ""
}

func (s *server) equal(got, want string) {
	s.t.Helper()
	if got != want {
		s.t.Errorf("got  %s\nwant %s", got, want)
	}
}

// blocked waits until some connection of the database waits for a lock. It
// asks again and again: there is no signal for that in PostgreSQL.
func (s *server) blocked() {
	s.t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
		if s.text("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") != "0" {
			return
		}
	}
	s.t.Fatal("nothing waits")
}

// valid fails where a body is no JSON.
func (s *server) valid(body string) {
	s.t.Helper()
	if !json.Valid([]byte(body)) {
		s.t.Errorf("not JSON: %s", body)
	}
}
