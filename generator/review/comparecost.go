package review

import (
	"slices"
	"strings"
	"time"
)

// speeds order strategies, the fastest first.
var speeds = []string{"direct", "fused", "verbatim", "stepped"}

func (c *comparison) cost(was, now *Operation) {
	before, after := slices.Index(speeds, was.Strategy), slices.Index(speeds, now.Strategy)
	switch {
	case after > before && (after > 1 || now.RoundTrips > was.RoundTrips): // a read that gets a key is fused: not slower
		c.find("strategy-slower", "%s (%s), was %s", now.strategyText(), count(now.RoundTrips, "round trip"), was.Strategy)
	case now.RoundTrips > was.RoundTrips:
		c.find("round-trips", "%d round trips, were %d", now.RoundTrips, was.RoundTrips)
	}
}

func (l Lock) id() string { return l.Kind + " " + l.Object + " " + l.Mode }

func lockIDs(locks []Lock) []string {
	out := make([]string, len(locks))
	for i, l := range locks {
		out[i] = l.id()
	}
	return out
}

func (c *comparison) lockList(was, now *Operation) {
	before, after := lockIDs(was.Locks), lockIDs(now.Locks)
	for i, l := range now.Locks {
		ofKey := was.Key.From == "none" && (l.Kind == lockAdvisory || strings.Contains(l.Object, keyTable))
		if !slices.Contains(before, after[i]) && !ofKey { // a key that is new has its locks
			c.find("lock-added", "%s: %s", l.kindText(), l.text())
		}
	}
	if common(before, after) != common(after, before) {
		c.find("lock-order", "locks are taken in another order: %s", common(after, before))
	}
	for i, l := range now.Locks {
		at := slices.Index(before, after[i])
		if at >= 0 && was.Locks[at].Rows != l.Rows && strings.HasPrefix(l.Rows, "in ") {
			c.find("lock-order", "%s: %s, was %s", l.Object, l.Rows, was.Locks[at].Rows)
		}
	}
	if len(was.Locks) == 0 || len(now.Locks) == 0 {
		return
	}
	if now.heldTrips() > was.heldTrips() || len(missing(now.functions(), was.functions())) > 0 {
		c.find("lock-longer", "locks are held for %s, was %s", now.held(), was.held())
	}
}

func (op *Operation) heldTrips() int {
	if op.Strategy == "stepped" {
		return op.RoundTrips
	}
	return 1
}

// common are the elements of a that b has too, each once, in a's order.
func common(a, b []string) string {
	var out []string
	for _, s := range a {
		if slices.Contains(b, s) && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return strings.Join(out, "; ")
}

func (c *comparison) policy(was, now *Operation) {
	if was.Key.From != "none" && now.Key.From != "none" {
		c.ttl("success", was.Policy.Success, now.Policy.Success)
		c.ttl("client error", was.Policy.ClientError, now.Policy.ClientError)
		c.serverError(was.Policy.ServerError, now.Policy.ServerError)
		c.differs("wait-changed", "a running copy is waited for", was.Policy.Wait, now.Policy.Wait)
		c.differs("record-changed", "what the record keeps", was.Policy.Record, now.Policy.Record)
	}
	c.differs("timeout-changed", "the timeout", was.Policy.Timeout, now.Policy.Timeout)
	c.differs("isolation-changed", "isolation", was.Policy.Isolation, now.Policy.Isolation)
	if now.Policy.MaxBody < was.Policy.MaxBody {
		c.find("body-limit-lower", "a body may have %s, was %s", sizeText(now.Policy.MaxBody), sizeText(was.Policy.MaxBody))
	}
	if was.Policy.ForceRetry != now.Policy.ForceRetry {
		c.find("force-retry", "a client may force another run: %s, was %s", yes(now.Policy.ForceRetry), yes(was.Policy.ForceRetry))
	}
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func (c *comparison) differs(id, what, before, after string) {
	if before != after {
		c.find(id, "%s: %s, was %s", what, after, before)
	}
}

func (c *comparison) ttl(what, before, after string) {
	b, a := parsed(before), parsed(after)
	switch {
	case a < b:
		c.find("ttl-shorter", "%s is kept for %s, was %s", what, after, before)
	case a > b:
		c.find("ttl-longer", "%s is kept for %s, was %s", what, after, before)
	}
}

func (c *comparison) serverError(before, after string) {
	if parsed(before) == 0 && parsed(after) > 0 {
		c.find("errors-recorded", "server errors are kept for %s", after)
		return
	}
	c.ttl("server error", before, after)
}

// parsed is a time of REVIEW.json, 0 for one that can't be read.
func parsed(s string) time.Duration {
	d, _ := time.ParseDuration(s)
	return d
}
