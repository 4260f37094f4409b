package idem

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/idem/idemtest"
)

// shipment is the shop's payment, made by messages of a topic.
func shipment(name Name, types ...string) *Operation {
	op := createPayment(name, patience, true)
	op.Method, op.Path, op.Key = "CONSUME", "parcel.sent", Key{From: KeyMessage}
	op.Consumer = Consumer{Topic: "parcel.sent", Types: types}
	return op
}

// openQueue is a depot without couriers.
func openQueue(t *testing.T, change func(*Config, *Options), ops ...*Operation) depot {
	t.Helper()
	all := append([]*Operation{parcel("Parcel")}, ops...) // its courier is another way in
	return openDepot(t, change, all...)
}

func parcelMessage(id, kind, body string) Message {
	return Message{ID: id, Topic: "parcel.sent", Type: kind, Scope: "couriers", Body: []byte(body)}
}

// consume checks the disposition; the error's code is "" for none.
func (d depot) consume(t *testing.T, m Message, want Disposition, code string) {
	t.Helper()
	got, err := d.Consume(t.Context(), m)
	if got != want || CodeOf(err) != code || (err == nil) != (want == Ack) {
		t.Errorf("message %.20q of type %q: %s, %v; want %s %s", m.ID, m.Type, got, err, want, code)
	}
}

func (d depot) keys(t *testing.T) (n int) {
	t.Helper()
	if err := d.pools.all[0].QueryRow(t.Context(), "SELECT count(*) FROM idem.keys").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func (d depot) exec(t *testing.T, sql string) {
	t.Helper()
	if _, err := d.pools.all[0].Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

// A failure is not acknowledged and leaves nothing: what is delivered again is handled,
// not skipped as a duplicate.
func TestCase_consume_1(t *testing.T) {
	t.Parallel()
	for profile := range protocols {
		d := openQueue(t, func(c *Config, _ *Options) { c.Profile = profile }, shipment("Sent"))
		d.exec(t, "ALTER TABLE payments RENAME TO away")
		d.consume(t, parcelMessage("1", "", parcelBody), Retry, "internal")
		if n := d.keys(t); n != 0 {
			t.Errorf("%s: %d records of a failure", profile, n)
		}
		d.exec(t, "ALTER TABLE away RENAME TO payments")
		d.consume(t, parcelMessage("1", "", parcelBody), Ack, "")
		if n := d.count(t); n != 1 {
			t.Errorf("%s: %d payments", profile, n)
		}
	}
}

// A duplicate of a success is acknowledged and counted, and no error to anybody; also
// where its answer was not kept.
func TestCase_consume_2(t *testing.T) {
	t.Parallel()
	d := openQueue(t, nil, shipment("Sent"))
	d.consume(t, parcelMessage("1", "", parcelBody), Ack, "")
	for range 2 {
		d.consume(t, parcelMessage("1", "", parcelBody), Ack, "")
		if end := d.told.last(t); end.Event != EventDuplicate || end.Operation != "Sent" {
			t.Errorf("told %+v", end)
		}
		d.exec(t, "UPDATE idem.keys SET body = NULL")
	}
	if n := d.count(t); n != 1 {
		t.Errorf("%d payments", n)
	}
	if d.log.Len() > 0 {
		t.Errorf("log: %s", d.log)
	}
}

// A recorded client error stays one: a dead letter that is sent again goes back to the
// dead letters, and is never acknowledged as a duplicate.
func TestRedrivenDeadLetterIsNotAcknowledged(t *testing.T) {
	t.Parallel()
	d := openQueue(t, nil, shipment("Sent"))
	refused := strings.Replace(parcelBody, "5", "0", 1)
	d.consume(t, parcelMessage("1", "", refused), Dead, "amount_not_positive")
	if n := d.keys(t); n != 1 {
		t.Fatalf("%d records", n)
	}
	d.consume(t, parcelMessage("1", "", refused), Dead, "amount_not_positive")
	if end := d.told.last(t); end.Event != EventDuplicate {
		t.Errorf("told %+v", end)
	}
	d.exec(t, "UPDATE idem.keys SET body = NULL")
	d.consume(t, parcelMessage("1", "", parcelBody), Dead, "key-reused")
	if n := d.count(t); n != 0 {
		t.Errorf("%d payments", n)
	}
}

func TestMessagesThatCantBeReadAreDead(t *testing.T) {
	t.Parallel()
	d := openQueue(t, nil, shipment("Sent"))
	for name, c := range map[string]struct {
		m    Message
		code string
	}{
		"no id":        {parcelMessage("", "", parcelBody), "message-id-missing"},
		"no JSON":      {parcelMessage("1", "", "{"), "body-malformed"},
		"nothing":      {parcelMessage("1", "", ""), "body-missing"},
		"a member off": {parcelMessage("1", "", `{"order_id": "o1"}`), "input-invalid"},
		"a wrong type": {parcelMessage("1", "", `{"order_id": "o1", "amount": "much"}`), "input-invalid"},
		"too large":    {parcelMessage("1", "", strings.Repeat(" ", 1<<20)+parcelBody), "body-too-large"},
		"long scope":   {Message{ID: "1", Topic: "parcel.sent", Scope: strings.Repeat("x", 256), Body: []byte(parcelBody)}, "unauthenticated"},
	} {
		t.Run(name, func(t *testing.T) { d.consume(t, c.m, Dead, c.code) })
	}
	if got, err := d.Consume(t.Context(), Message{ID: "1", Topic: "letter.sent", Body: []byte(parcelBody)}); got != Dead || err == nil || !strings.Contains(err.Error(), "letter.sent") {
		t.Errorf("a topic of nobody: %s %v", got, err)
	}
	if d.count(t) != 0 || d.keys(t) != 0 {
		t.Error("something was written")
	}
	if strings.Contains(d.log.String(), "much") {
		t.Errorf("a value is in the log: %s", d.log)
	}
}

// The type chooses the operation; a type of nobody is acknowledged and counted.
func TestMessageTypesChooseTheOperation(t *testing.T) {
	t.Parallel()
	d := openQueue(t, nil, shipment("Sent", "sent", "resent"), shipment("Plain", ""))
	d.consume(t, parcelMessage("1", "resent", parcelBody), Ack, "")
	if got := d.told.last(t).Operation; got != "Sent" {
		t.Errorf("taken by %s", got)
	}
	d.consume(t, parcelMessage("1", "", strings.Replace(parcelBody, "o1", "o2", 1)), Ack, "")
	if got := d.told.last(t).Operation; got != "Plain" {
		t.Errorf("taken by %s", got)
	}
	d.consume(t, parcelMessage("2", "lost", "not even JSON"), Ack, "")
	if end := d.told.last(t); end.Event != EventIgnored || end.Operation != "consume-parcel.sent" {
		t.Errorf("told %+v", end)
	}
	if n := d.count(t); n != 2 {
		t.Errorf("%d payments", n)
	}
	if got := d.Topics(); !slices.Equal(got, []string{"parcel.sent"}) {
		t.Errorf("topics %q", got)
	}
}

// What other rows are in the way of may be otherwise later; nothing is recorded.
func TestUndeclaredConflictIsDeliveredAgain(t *testing.T) {
	op := shipment("Sent")
	op.Steps[0].Intent = nil
	d := openQueue(t, nil, op)
	d.exec(t, "INSERT INTO payments (tenant_id, order_id, amount) VALUES ('couriers', 'o1', 1)")
	d.consume(t, parcelMessage("1", "", parcelBody), Retry, "already-exists")
	if n := d.keys(t); n != 0 {
		t.Errorf("%d records", n)
	}
	d.exec(t, "DELETE FROM payments")
	d.consume(t, parcelMessage("1", "", parcelBody), Ack, "")
}

// A twin that runs is no success yet, in any profile.
func TestTwinOfARunningMessageIsNotAcknowledged(t *testing.T) {
	t.Parallel()
	for profile := range protocols {
		op := shipment("Sent")
		op.Policy.Wait = 0
		d := openQueue(t, func(c *Config, _ *Options) { c.Profile = profile }, op)
		inv, _, refused := d.admit(d.operations["Sent"], "couriers")
		if refused != nil {
			t.Fatal(refused)
		}
		inv.protect("1")
		leave, ok := d.flights.enter(t.Context(), identity{inv.scope, string(inv.digest)}, 0)
		if !ok {
			t.Fatal("somebody runs already")
		}
		d.consume(t, parcelMessage("1", "", parcelBody), Retry, "in-flight")
		leave()
		d.consume(t, parcelMessage("1", "", parcelBody), Ack, "")
	}
}

// Equal ids of two scopes don't meet; who can't say whose a message is does not guess.
func TestMessageScopes(t *testing.T) {
	d := openQueue(t, func(_ *Config, o *Options) {
		o.MessageScope = func(m Message) (string, error) {
			switch whose := m.Headers.Get("For"); whose {
			case "?":
				return "", errors.New("nobody knows")
			case "later":
				return "", Fail(http.StatusServiceUnavailable, "later", "")
			case "panic":
				panic("broken")
			default:
				return whose, nil
			}
		}
		o.AuthorizeReplay = func(context.Context, Name, []any) error { return errors.New("there is no caller to ask about") }
	}, shipment("Sent"))
	of := func(whose string) Message {
		m := parcelMessage("1", "", parcelBody)
		m.Headers = http.Header{"For": {whose}}
		return m
	}
	for range 2 {
		d.consume(t, of("t1"), Ack, "")
		d.consume(t, of("t2"), Ack, "")
		d.consume(t, of(""), Ack, "")
	}
	d.consume(t, of("?"), Dead, "unauthenticated")
	d.consume(t, of("later"), Retry, "later")
	d.consume(t, of("panic"), Retry, "internal")
	var scopes string
	if err := d.pools.all[0].QueryRow(t.Context(), "SELECT string_agg(scope || ' ' || key, ', ' ORDER BY scope) FROM idem.keys").Scan(&scopes); err != nil || scopes != "couriers 1, t1 1, t2 1" {
		t.Errorf("%s, %v", scopes, err)
	}
}

// Ids of any form are keys, and different ones stay different.
func TestMessageIDsOfAnyForm(t *testing.T) {
	d := openQueue(t, nil, shipment("Sent"))
	long := strings.Repeat("x", 300)
	for i, id := range []string{"a b", "a  b", "ä", long, long + "y", `"`, "1"} {
		body := strings.Replace(parcelBody, "o1", "o"+string(rune('a'+i)), 1)
		for range 2 {
			d.consume(t, parcelMessage(id, "", body), Ack, "")
		}
	}
	if n := d.count(t); n != 7 {
		t.Errorf("%d payments", n)
	}
}

// A consumer that stops ends what it has begun.
func TestStoppingDoesNotLeaveAMessageBehind(t *testing.T) {
	d := openQueue(t, nil, shipment("Sent"))
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := d.Consume(stopped, parcelMessage("1", "", parcelBody)); got != Ack || err != nil {
		t.Errorf("%s %v", got, err)
	}
	if n := d.count(t); n != 1 {
		t.Errorf("%d payments", n)
	}
}

func TestConsumersThatCantRunDoNotStart(t *testing.T) {
	t.Parallel()
	pool := idemtest.Pool(t, shopTables)
	keyless := shipment("Keyless")
	keyless.Key = Key{From: KeyHeader}
	for name, c := range map[string]struct {
		ops  []*Operation
		want string
	}{
		"a type twice":  {[]*Operation{shipment("A", "x"), shipment("B", "y", "x")}, "A and B both take type x of parcel.sent"},
		"the rest, too": {[]*Operation{shipment("A"), shipment("B")}, "A and B both take all messages of parcel.sent"},
		"no key":        {[]*Operation{keyless}, "Keyless takes messages, and needs a key"},
	} {
		if _, err := New(pool, shopConfig(c.ops...), shopCaller, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
