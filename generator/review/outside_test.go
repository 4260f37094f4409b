package review

import (
	"slices"
	"strings"
	"testing"
)

// outsideMutations are about other systems. Each changes what the document says
// after the deploy.
var outsideMutations = map[string]mutation{
	"an event is gone":     {"CreatePayment", func(_ *Document, op *Operation) { op.Events = nil }, "event-dropped"},
	"another topic":        {"CreatePayment", func(_ *Document, op *Operation) { op.Events[0].Topic = "payment.made" }, "event-topic"},
	"another ordering key": {"CreatePayment", func(_ *Document, op *Operation) { op.Events[0].Key = "id" }, "event-order"},
	"no ordering key":      {"CreatePayment", func(_ *Document, op *Operation) { op.Events[0].Key = "" }, "event-order"},
	"both of them":         {"CreatePayment", func(_ *Document, op *Operation) { op.Events[0] = Event{Step: "CreatePayment", Topic: "x"} }, "event-order event-topic"},
	"a condition":          {"CreatePayment", func(_ *Document, op *Operation) { op.Events[0].If = "large" }, "event-condition"},
	"an event more": {"CreatePayment", func(_ *Document, op *Operation) {
		op.Events = append(op.Events, Event{Step: "CreatePayment", Topic: "x"})
	}, "event-added"},
	"no undo":                {"ChargeRide", func(_ *Document, op *Operation) { op.Steps[1].Call.Undo = "" }, "undo-dropped"},
	"retry to hold":          {"ChargeRide", func(_ *Document, op *Operation) { op.Steps[1].Call.Unknown = "hold" }, "unknown-changed"},
	"another lease":          {"ChargeRide", func(_ *Document, op *Operation) { op.Steps[1].Call.Lease = "1m" }, ""},
	"a call is gone":         {"ChargeRide", func(_ *Document, op *Operation) { op.Steps = slices.Delete(op.Steps, 1, 2) }, "call-removed"},
	"done at once":           {"CreatePayout", func(_ *Document, op *Operation) { op.Async = false }, "async-changed"},
	"done later":             {"CreatePayment", func(_ *Document, op *Operation) { op.Async = true }, "async-changed"},
	"a type nobody takes":    {"PaymentRefunded", func(_ *Document, op *Operation) { op.Webhook.Types = op.Webhook.Types[:1] }, "webhook-dropped"},
	"a type of another's":    {"PaymentRefunded", func(d *Document, op *Operation) { moveType(d.find("PaymentCaptured"), op) }, "webhook-moved"},
	"another type beside it": {"PaymentRefunded", func(_ *Document, op *Operation) { op.Webhook.Types = append(op.Webhook.Types, "new") }, ""},
}

func moveType(from, to *Operation) {
	last := len(to.Webhook.Types) - 1
	from.Webhook.Types = append(from.Webhook.Types, to.Webhook.Types[last])
	to.Webhook.Types = to.Webhook.Types[:last]
}

func TestEveryRiskAboutOtherSystemsIsSeen(t *testing.T) {
	left := map[string]bool{}
	for _, r := range outsideRules {
		left[r.ID] = r.ID != "call-added" && r.ID != "event-payload" // below: they need another base
	}
	for name, m := range outsideMutations {
		for _, id := range strings.Fields(m.want) {
			left[id] = false
		}
		t.Run(name, func(t *testing.T) {
			was, now := example(t), example(t)
			m.change(now, now.find(m.op))
			if got, want := rulesOf(Compare(was, now)), append([]string{}, strings.Fields(m.want)...); !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
	for id := range left {
		if left[id] {
			t.Errorf("no mutation leads to %s", id)
		}
	}
	was, now := example(t), example(t)
	was.find("ChargeRide").Steps[1].Call.Unknown = "hold"
	if report := Compare(was, now); !report.Risky() || !strings.Contains(report.Findings[0].Message, "retry, was hold") {
		t.Errorf("%+v", report.Findings)
	}
	was.find("ChargeRide").Steps[1].Call = nil
	if got := rulesOf(Compare(was, now)); !slices.Contains(got, "call-added") {
		t.Errorf("a function inside that becomes a call: %v", got)
	}
	was, now = example(t), example(t)
	was.find("CreatePayment").Events[0].Columns = []string{"id", "amount"}
	now.find("CreatePayment").Events[0].Columns = []string{"id"}
	if got := rulesOf(Compare(was, now)); !slices.Equal(got, []string{"event-payload"}) {
		t.Errorf("a column less: %v", got)
	}
}

// What a reviewer reads of a call: nothing is locked while it runs, and what is
// committed before it is named.
func TestCallsAreDescribed(t *testing.T) {
	op := example(t).find("ChargeRide")
	for _, want := range []string{"committed before: InsertRide", "lease 10s", "tried again, with the same key", "RefundCharge takes it back"} {
		if text := op.Steps[1].callText(); !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if !strings.Contains(op.held(), "none while a call runs") {
		t.Error(op.held())
	}
	for _, l := range op.Locks {
		if strings.Contains(l.Object, "Go function") {
			t.Errorf("a call is said to lock: %s", l.Object)
		}
	}
}
