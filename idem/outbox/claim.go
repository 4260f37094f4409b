package outbox

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/idemgen/idemgen/gen"
)

// loop claims whatever there is room for, and rests where there is nothing more.
func (r *runner) loop(ctx context.Context) error {
	for ctx.Err() == nil {
		if _, err := r.claim(); err != nil && ctx.Err() == nil {
			r.set.logger.ErrorContext(ctx, "events can't be claimed", "error", err)
		} else if r.roomForMore() {
			continue
		}
		r.rest(ctx)
	}
	return nil
}

// rest waits for a reason to claim: an event, room, a time.
func (r *runner) rest(ctx context.Context) {
	pause := r.set.interval*3/4 + rand.N(r.set.interval/2+1)
	if until, ok := r.untilNext(); ok {
		pause = min(pause, until)
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-r.woken:
	case <-r.freed:
	case <-timer.C:
	}
}

// untilNext is the time until the next try of an event that failed here.
func (r *runner) untilNext() (time.Duration, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next.IsZero() {
		return 0, false
	}
	return max(time.Until(r.next), 0), true
}

// drain claims until nothing is due and nothing in flight.
func (r *runner) drain(ctx context.Context) error {
	for ctx.Err() == nil {
		_, before := r.progress()
		got, err := r.claim()
		if err != nil {
			return err
		}
		if got > 0 && r.roomForMore() {
			continue
		}
		held, written := r.progress()
		if held == 0 {
			if written == before && got == 0 {
				return nil
			}
			continue // what was settled meanwhile may have let others go
		}
		select {
		case <-ctx.Done():
		case <-r.freed:
		}
	}
	return ctx.Err()
}

// progress is how many events are held, and how many outcomes were written.
func (r *runner) progress() (held, written int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.held), r.written
}

// claim leases due events, as many as there is room for, and hands them to the
// lanes. It returns how many they are, with those that were put off.
func (r *runner) claim() (int, error) {
	patterns, rooms, some := r.rooms()
	began := time.Now()
	owner := r.newOwner(began) // also where there is no room: a time that has come must not be waited for again
	if !some {
		return 0, nil
	}
	var rows []gen.ClaimEventsRow
	err := r.tx(func(ctx context.Context, q *gen.Queries) (err error) {
		rows, err = q.ClaimEvents(ctx, gen.ClaimEventsParams{
			Claimer: owner, Lease: interval(r.set.lease), Patterns: patterns, Rooms: rooms,
		})
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("outbox: claim: %w", err)
	}
	r.accept(rows, owner, began.Add(r.set.lease))
	return len(rows), nil
}

// newOwner is the owner of one claim's leases, so that it can tell those from all
// others. The time of the next try has come, or is looked for again.
func (r *runner) newOwner(now time.Time) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.next.After(now) {
		r.next = time.Time{}
	}
	r.claims++
	return r.id + "/" + strconv.Itoa(r.claims)
}

// rooms are how many events each pattern may be given. A lane that is more than
// half full waits until it is not, so that claims are worth their price.
func (r *runner) rooms() (patterns []string, rooms []int32, some bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, pattern := range r.set.patterns {
		l := r.lanes[pattern]
		room := r.set.batch - l.held
		if l.held > r.set.batch/2 {
			room, l.more = 0, true
		}
		l.asked = room
		some = some || room > 0
		patterns, rooms = append(patterns, pattern), append(rooms, int32(room))
	}
	return patterns, rooms, some
}

// roomForMore: a lane has room, and there may be more for it.
func (r *runner) roomForMore() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.lanes {
		if l.more && l.held <= r.set.batch/2 {
			return true
		}
	}
	return false
}

// accept hands claimed events to their lanes, those of one ordering key as one
// group.
func (r *runner) accept(rows []gen.ClaimEventsRow, owner string, until time.Time) {
	type key struct{ scope, topic, order string }
	r.mu.Lock()
	defer r.mu.Unlock()
	got := map[*lane]int{}
	groups := map[key]*group{}
	for i := range rows {
		row := &rows[i]
		l := r.laneOf(row.Topic)
		got[l]++
		if !row.Leased {
			continue // put off
		}
		h := &held{Event: eventOf(row), owner: owner, attempt: row.Attempt, until: until, lane: l}
		r.held[h] = true
		l.held++
		k := key{row.Scope, row.Topic, row.OrderKey.String}
		if g := groups[k]; g != nil && h.Ordered {
			g.events = append(g.events, h)
			continue
		}
		g := &group{events: []*held{h}}
		if h.Ordered {
			groups[k] = g
		}
		l.queue = append(l.queue, g)
	}
	for _, l := range r.lanes {
		if l.asked > 0 {
			l.more = got[l] >= l.asked
		}
		l.start()
	}
}

// laneOf finds the lane of a topic as idem.claim_events does.
func (r *runner) laneOf(topic string) *lane {
	if l := r.lanes[topic]; l != nil {
		return l
	}
	var best string
	for pattern := range r.lanes {
		prefix, open := strings.CutSuffix(pattern, "*")
		if open && strings.HasPrefix(topic, prefix) && len(pattern) > len(best) {
			best = pattern
		}
	}
	return r.lanes[best]
}
