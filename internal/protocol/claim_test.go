package protocol

import (
	"errors"
	"fmt"
	"testing"
)

// claimRules are what keeps claim, record and sweep right.
type claimRules struct {
	fused        bool // one statement, no lock: the primary key decides; else stepped
	lock         bool // stepped: behind a transaction-level lock
	primaryKey   bool // (scope, digest) is unique
	together     bool // business rows and record are one transaction
	sweepLocks   bool // the sweeper locks the row that it will delete
	sweepExpired bool // and deletes it only where it is expired still
	lookAgain    bool // a loser looks up, and does not tell its own failure
}

var (
	stepped = claimRules{lock: true, primaryKey: true, together: true, sweepLocks: true, sweepExpired: true, lookAgain: true}
	fused   = claimRules{fused: true, primaryKey: true, together: true, sweepLocks: true, sweepExpired: true, lookAgain: true}
)

type phase uint8

// The phases of a client.
const (
	begins   phase = iota
	looks          // has the lock: looks for a record
	works          // found none: does the business
	commits        // business rows are written, not committed
	records        // committed apart from the record: only where rules.together is false
	answers        // committed; the answer is on its way
	finished       // has an answer
	gone           // gave up
)

const nobody = 0

type client struct {
	phase  phase
	tries  uint8 // left
	exec   uint8 // the execution that it committed
	failed bool  // was told a client error
}

// claimState is one key of one scope, and three clients with the same request.
type claimState struct {
	clients   [3]client
	lock      uint8 // client + 1
	slot      uint8 // who has inserted the key row and not committed: client + 1
	record    uint8 // the execution whose record is there
	expired   bool
	sweeping  bool  // the sweeper has chosen the row
	sweepLock bool  // and has locked it
	execs     uint8 // committed, ever
	effects   uint8 // committed since the last expiry
	acked     uint8 // the execution that was answered since the last expiry
	expiries  uint8 // left
	lost      bool  // what was acknowledged is gone
}

func claims(rules claimRules) model[claimState] {
	start := claimState{expiries: 1}
	for i := range start.clients {
		start.clients[i].tries = 2
	}
	return model[claimState]{start: start, next: rules.next, check: checkClaims, done: func(s claimState) bool {
		for _, c := range s.clients {
			if c.phase < finished {
				return false
			}
		}
		return true
	}}
}

func checkClaims(s claimState) error {
	switch {
	case s.effects > 1:
		return fmt.Errorf("%d effects", s.effects)
	case s.lost:
		return errors.New("an acknowledged answer is lost")
	}
	for i, c := range s.clients {
		if c.failed && s.effects == 1 {
			return fmt.Errorf("client %d was told a failure for what was done", i)
		}
	}
	return nil
}

func (rules claimRules) next(s claimState) []step[claimState] {
	var all []step[claimState]
	for i := range s.clients {
		all = append(all, rules.client(s, i)...)
	}
	return append(all, rules.surroundings(s)...)
}

// surroundings are time and the sweeper.
func (rules claimRules) surroundings(s claimState) []step[claimState] {
	var all []step[claimState]
	if s.record != nobody && !s.expired && s.expiries > 0 {
		n := s
		n.expired, n.expiries, n.effects, n.acked = true, s.expiries-1, 0, nobody
		all = append(all, step[claimState]{"the record expires", n})
	}
	if s.record != nobody && s.expired && !s.sweeping {
		n := s
		n.sweeping, n.sweepLock = true, rules.sweepLocks
		all = append(all, step[claimState]{"the sweeper chooses the row", n})
	}
	if s.sweeping {
		n := s
		n.sweeping, n.sweepLock = false, false
		if s.record != nobody && (s.expired || !rules.sweepExpired) {
			n.lost = s.acked != nobody && !s.expired
			n.record, n.expired = nobody, false
		}
		all = append(all, step[claimState]{"the sweeper deletes", n})
	}
	return all
}

func (rules claimRules) client(s claimState, i int) []step[claimState] {
	name := func(what string) string { return fmt.Sprintf("client %d %s", i, what) }
	var all []step[claimState]
	add := func(what string, n claimState) { all = append(all, step[claimState]{name(what), n}) }
	switch s.clients[i].phase {
	case begins:
		if !rules.fused && rules.lock && s.lock != nobody {
			return nil // waits
		}
		n := s
		if !rules.fused && rules.lock {
			n.lock = uint8(i + 1)
		}
		n.clients[i].phase = looks
		add("begins", n)
	case looks:
		add("looks up", rules.look(s, i))
	case works:
		add("works", rules.work(s, i))
	case commits:
		if rules.primaryKey && s.slot != nobody && s.slot != uint8(i+1) || s.record != nobody && s.expired && s.sweepLock {
			return s.crash(i, name) // waits for the other's row, or for the sweeper
		}
		add("commits", rules.commit(s, i))
	case records:
		n := s
		if s.record == nobody || s.expired {
			n.record, n.expired = s.clients[i].exec, false
		}
		n.clients[i].phase = answers
		add("records", n.free(i))
	case answers:
		n := s
		n.clients[i].phase, n.clients[i].exec = finished, nobody
		if s.record == s.clients[i].exec && !s.expired {
			n.acked = s.clients[i].exec
		}
		add("is answered", n)
		add("loses its answer", s.again(i))
		return all
	}
	if p := s.clients[i].phase; p == looks || p == works || p == commits || p == records {
		all = append(all, s.crash(i, name)...)
	}
	return all
}

// look is the look-up: a replay, or the way to work.
func (rules claimRules) look(s claimState, i int) claimState {
	if s.record != nobody && !s.expired {
		s.clients[i].phase, s.acked = finished, s.record
		return s.free(i)
	}
	s.clients[i].phase = works
	return s
}

func (rules claimRules) work(s claimState, i int) claimState {
	s.clients[i].phase = commits
	if rules.fused && rules.primaryKey && s.slot == nobody && (s.record == nobody || s.expired) {
		s.slot = uint8(i + 1) // the key row is there, for the others to wait at
	}
	return s
}

// commit makes the business rows, and with them the record, visible; or finds
// that another one was first.
func (rules claimRules) commit(s claimState, i int) claimState {
	if rules.primaryKey && rules.together && s.record != nobody && !s.expired {
		return rules.lose(s, i)
	}
	s.effects++
	s.execs++
	exec := s.execs
	s.clients[i].exec = exec
	if !rules.together {
		s.clients[i].phase = records
		return s
	}
	s.record, s.expired = exec, false
	s.clients[i].phase = answers
	return s.free(i)
}

// lose is 23505 on the key table: all is undone. The loser looks up again, or
// tells what it saw.
func (rules claimRules) lose(s claimState, i int) claimState {
	s = s.free(i)
	if rules.lookAgain {
		s.clients[i].phase = begins
		return s
	}
	s.clients[i].phase, s.clients[i].failed = finished, true
	return s
}

func (s claimState) free(i int) claimState {
	if s.lock == uint8(i+1) {
		s.lock = nobody
	}
	if s.slot == uint8(i+1) {
		s.slot = nobody
	}
	return s
}

// again is a client that sends its request once more, or gives up.
func (s claimState) again(i int) claimState {
	s = s.free(i)
	s.clients[i].phase, s.clients[i].exec = gone, nobody
	if s.clients[i].tries > 0 {
		s.clients[i].phase = begins
		s.clients[i].tries--
	}
	return s
}

// crash is the end of the process, or of the connection: what is not committed
// is gone, and so are its locks.
func (s claimState) crash(i int, name func(string) string) []step[claimState] {
	return []step[claimState]{{name("crashes"), s.again(i)}}
}

func TestClaimsHold(t *testing.T) {
	holds(t, claims(stepped), 15_000)
	holds(t, claims(fused), 30_000)
}

// Each rule is needed: without it, there is a schedule that breaks a promise.
func TestClaimsNeedEachRule(t *testing.T) {
	tests := []struct {
		name string
		from claimRules
		cut  func(*claimRules)
		want string
	}{
		{"business rows and record in two transactions", stepped, func(r *claimRules) { r.together = false }, "2 effects"},
		{"no lock and no primary key", stepped, func(r *claimRules) { r.lock, r.primaryKey = false, false }, "2 effects"},
		{"fused without the primary key", fused, func(r *claimRules) { r.primaryKey = false }, "2 effects"},
		{"a loser tells its failure", fused, func(r *claimRules) { r.lookAgain = false }, "client"},
		{"a sweeper that neither locks nor looks again", stepped, func(r *claimRules) { r.sweepLocks, r.sweepExpired = false, false }, "an acknowledged answer is lost"},
		{"the same beside fused", fused, func(r *claimRules) { r.sweepLocks, r.sweepExpired = false, false }, "an acknowledged answer is lost"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rules := tt.from
			tt.cut(&rules)
			finds(t, claims(rules), tt.want)
		})
	}
	// The lock decides who runs, the primary key has the last word: either is enough.
	noLock, noKey := stepped, stepped
	noLock.lock, noKey.primaryKey = false, false
	holds(t, claims(noLock), 30_000)
	holds(t, claims(noKey), 15_000)
}
