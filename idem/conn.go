package idem

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/idemgen/idemgen/gen"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// statement is one SQL text with parameters in text form, nil for NULL. Text,
// not Go types, so that PostgreSQL's own input functions read the values and
// every execution mode of pgx sends the same.
type statement struct {
	sql    string
	name   string // of the prepared statement; "" for one that is not worth it
	params [][]byte
	binary []int16 // result formats, nil for text

	prepared *pgconn.StatementDescription // on this connection; see prepare
}

// result is what one statement returned.
type result struct {
	rows [][][]byte
	tag  pgconn.CommandTag
}

// conn is a connection for one attempt.
type conn struct {
	pool  *pgxpool.Conn
	facts connFacts
	// named: statements may be prepared on the server under a name.
	named  bool
	tracer pgx.QueryTracer
}

// connFacts is what is asked once per connection.
type connFacts struct {
	otherIsolation bool // transactions do not begin at READ COMMITTED
	checksClient   bool // client_connection_check_interval can be set
}

const factsKey = "idem.facts"

// acquire takes a connection. Nobody calls it while holding one.
func (p *pool) acquire(ctx context.Context, named bool) (*conn, error) {
	pooled, err := p.Acquire(ctx)
	if err != nil {
		return nil, &unavailable{err}
	}
	c := &conn{pool: pooled, named: named && p.named, tracer: p.tracer}
	if err := c.learn(ctx); err != nil {
		pooled.Release()
		return nil, &unavailable{err} // nothing of the request has been sent
	}
	return c, nil
}

// learn fills in the facts, from the connection where they are known already.
func (c *conn) learn(ctx context.Context) error {
	data := c.pool.Conn().PgConn().CustomData()
	if known, ok := data[factsKey].(connFacts); ok {
		c.facts = known
		return nil
	}
	results, err := c.send(ctx, statement{sql: gen.ProbeConnection})
	if err != nil {
		return err
	}
	row := results[0].rows[0]
	c.facts = connFacts{otherIsolation: isTrue(row[0]), checksClient: isTrue(row[1])}
	data[factsKey] = c.facts
	return nil
}

// release gives the connection back; the pool closes one that is broken or
// still in a transaction.
func (c *conn) release() { c.pool.Release() }

// discard gives back a connection whose prepared statements can't be trusted.
func (c *conn) discard(ctx context.Context) {
	_ = c.pool.Conn().Close(ctx) // it is thrown away either way
	c.pool.Release()
}

// send runs statements in one network round trip: one implicit transaction,
// unless they begin one. It returns only after the server's ReadyForQuery, so a
// nil error means that what was to be committed is. On an error, the results
// before it are returned; their number is the index of the failed statement.
func (c *conn) send(ctx context.Context, statements ...statement) (results []result, err error) {
	if err := c.prepare(ctx, statements); err != nil {
		return nil, err
	}
	if c.tracer != nil {
		ctx = c.tracer.TraceQueryStart(ctx, c.pool.Conn(), pgx.TraceQueryStartData{SQL: joinedText(statements)})
		defer func() { c.tracer.TraceQueryEnd(ctx, c.pool.Conn(), pgx.TraceQueryEndData{Err: err}) }()
	}
	server := c.pool.Conn().PgConn()
	if len(statements) == 1 {
		return readOne(c.execute(ctx, server, statements[0]))
	}
	batch := &pgconn.Batch{}
	for _, st := range statements {
		if st.prepared != nil {
			batch.ExecStatement(st.prepared, st.params, nil, st.binary)
		} else {
			batch.ExecParams(st.sql, st.params, nil, nil, st.binary)
		}
	}
	open := !c.isClosed()
	results, err = readAll(server.ExecBatch(ctx, batch))
	if open && errors.Is(err, pgconn.ErrConnClosed) {
		err = errCutOff // pgx forgets why it closed, and says that nothing was sent
	}
	return results, err
}

// errCutOff is a connection that ended between a batch and its answer: what was
// sent may have happened.
var errCutOff = errors.New("idem: the connection was lost before the answer came")

// execute is what a batch of one would do, with less work.
func (c *conn) execute(ctx context.Context, server *pgconn.PgConn, st statement) *pgconn.ResultReader {
	if st.prepared != nil {
		return server.ExecStatement(ctx, st.prepared, st.params, nil, st.binary)
	}
	return server.ExecParams(ctx, st.sql, st.params, nil, nil, st.binary)
}

// readCommitted goes ahead of an implicit transaction: isolation is stated,
// never inherited. Nothing, where it is the connection's default.
func (c *conn) readCommitted() []statement {
	if !c.facts.otherIsolation {
		return nil
	}
	return []statement{{sql: "SET TRANSACTION ISOLATION LEVEL READ COMMITTED"}}
}

// prepareAll prepares queries on the server ahead of the transaction that will
// run them.
func (c *conn) prepareAll(ctx context.Context, queries ...query) error {
	if !c.named {
		return nil
	}
	for _, q := range queries {
		if _, err := c.pool.Conn().Prepare(ctx, q.name, q.sql); err != nil {
			return c.unprepared(err)
		}
	}
	return nil
}

// prepare finds the prepared statements, and prepares those that are new to the
// connection.
func (c *conn) prepare(ctx context.Context, statements []statement) error {
	for i := range statements {
		st := &statements[i]
		if st.prepared = nil; st.name == "" || !c.named {
			continue
		}
		// A map look-up, unless the statement is new.
		prepared, err := c.pool.Conn().Prepare(ctx, st.name, st.sql)
		if err != nil {
			return c.unprepared(err)
		}
		if len(prepared.ParamOIDs) != len(st.params) {
			return fmt.Errorf("idem: the statement takes %d parameters, %d were given: %s",
				len(prepared.ParamOIDs), len(st.params), st.sql)
		}
		st.prepared = prepared
	}
	return nil
}

// unprepared is why a statement could not be prepared. A connection lost at that
// had nothing to commit: the statement was not run, and neither were those that
// come with it; the server undoes an open transaction.
func (c *conn) unprepared(err error) error {
	if c.isClosed() && !isPgError(err) {
		return &unavailable{err}
	}
	return err
}

func readOne(reader *pgconn.ResultReader) ([]result, error) {
	read := reader.Read()
	if read.Err != nil {
		return nil, read.Err
	}
	return []result{{rows: read.Rows, tag: read.CommandTag}}, nil
}

func readAll(reader *pgconn.MultiResultReader) ([]result, error) {
	var results []result
	for reader.NextResult() {
		read := reader.ResultReader().Read()
		if read.Err != nil {
			break // Close returns it
		}
		results = append(results, result{rows: read.Rows, tag: read.CommandTag})
	}
	return results, reader.Close()
}

// rollback ends a transaction that failed; a connection that can't is closed by
// the pool.
func (c *conn) rollback(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, afterTimeout)
	defer cancel()
	_, _ = c.send(ctx, statement{sql: "ROLLBACK"})
}

func joinedText(statements []statement) string {
	var text strings.Builder
	for _, st := range statements {
		text.WriteString(strings.TrimRight(st.sql, "; \n"))
		text.WriteString(";\n")
	}
	return text.String()
}

func isTrue(v []byte) bool { return len(v) == 1 && v[0] == 't' }

// unavailable is the failure to get a connection that can be used: nothing was
// sent that could have an effect.
type unavailable struct{ cause error }

func (e *unavailable) Error() string { return "idem: no connection: " + e.cause.Error() }
func (e *unavailable) Unwrap() error { return e.cause }

// isUnsent reports whether nothing can have happened on the server.
func isUnsent(err error) bool {
	var none *unavailable
	return errors.As(err, &none) || pgconn.SafeToRetry(err)
}

func (c *conn) isClosed() bool { return c.pool.Conn().IsClosed() }

func (c *conn) inTransaction() bool {
	return !c.isClosed() && c.pool.Conn().PgConn().TxStatus() != 'I'
}
