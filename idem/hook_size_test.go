package idem

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// The route reads what the largest of its operations takes; each takes no more than its
// own limit.
func TestWebhookSizesAreOfEachOperation(t *testing.T) {
	small, large := parcel("Small", "small"), parcel("Large", "large")
	small.Policy.MaxBody, large.Policy.MaxBody = int64(len(parcelBody)), int64(len(parcelBody))+50
	d := openDepot(t, nil, small, large)
	padded := parcelBody + strings.Repeat(" ", 50)
	wantCode(t, d.deliver("1", "small", parcelBody+" "), http.StatusRequestEntityTooLarge, "body-too-large")
	if end := d.told.last(t); end.Operation != "Small" || end.Event != EventClientError {
		t.Errorf("told %+v", end)
	}
	wantStatus(t, d.deliver("1", "small", parcelBody), http.StatusCreated)
	wantStatus(t, d.deliver("2", "large", strings.Replace(padded, "o1", "o2", 1)), http.StatusCreated)
	wantCode(t, d.deliver("3", "large", padded+" "), http.StatusRequestEntityTooLarge, "body-too-large")
	if n := d.count(t); n != 2 {
		t.Errorf("%d payments", n)
	}
}

// The event of a delivery has the trace that the delivery came with.
func TestWebhookEventsKeepTheTrace(t *testing.T) {
	op := told()
	op.Name, op.Key, op.Webhook = "CreatePayment", Key{From: KeyDelivery}, Webhook{System: "courier"}
	d := openDepot(t, nil, op)
	wantStatus(t, d.send(parcelBody, "Word", "sesame", "Delivery", "1", "Traceparent", aTrace, "Tracestate", "a=1"), http.StatusCreated)
	wantTrace(t, &shop{pool: d.pools.all[0].Pool}, aTrace)
}

// wantTrace checks that there is one event, of this trace.
func wantTrace(t *testing.T, s *shop, want string) {
	t.Helper()
	var headers map[string]string
	if e := s.outbox(t); len(e) != 1 || e[0].Headers == nil || json.Unmarshal([]byte(*e[0].Headers), &headers) != nil || headers["traceparent"] != want {
		t.Errorf("%+v", e)
	}
}
