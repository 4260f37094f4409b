package wire

import (
	"bytes"
	"regexp"
	"sync"
)

// tracker follows one connection far enough to know which messages commit
// writes. It is safe for concurrent use: each direction has its goroutine.
type tracker struct {
	mu         sync.Mutex
	statements map[string]effect // prepared, by name
	portals    map[string]effect // bound, by name
	inside     bool              // an explicit transaction is open
	writes     bool              // what is not committed yet has written
	committed  bool              // by what was executed since the last Sync
	answers    []bool            // per answer that is due: it says that writes are committed
}

// effect is what a statement does to a transaction.
type effect struct{ begins, commits, writes bool }

var (
	beginning = regexp.MustCompile(`(?i)^\s*(begin|start transaction)\b`)
	ending    = regexp.MustCompile(`(?i)(^|;)\s*(commit|end)\b`)
	writing   = regexp.MustCompile(`(?i)\b(insert into|update|delete from)\b`)
)

func effectOf(sql []byte) effect {
	return effect{begins: beginning.Match(sql), commits: ending.Match(sql), writes: writing.Match(sql)}
}

func newTracker() *tracker {
	return &tracker{statements: map[string]effect{}, portals: map[string]effect{}}
}

// sees notes a message and says whether it is one that commits.
func (t *tracker) sees(m Message) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if m.To == ToClient {
		return m.Type == 'Z' && t.ready(m.payload)
	}
	first, rest, _ := bytes.Cut(m.payload, []byte{0})
	second, _, _ := bytes.Cut(rest, []byte{0})
	switch m.Type {
	case 'P': // name, text
		t.statements[string(first)] = effectOf(second)
	case 'B': // portal, statement
		t.portals[string(first)] = t.statements[string(second)]
	case 'E': // portal
		return t.executes(t.portals[string(first)])
	case 'Q': // text
		commits := t.executes(effectOf(first))
		return t.sync() || commits
	case 'S':
		return t.sync()
	}
	return false
}

// executes says whether a statement commits: a COMMIT does so when it is executed,
// also in the middle of a batch.
func (t *tracker) executes(e effect) (commits bool) {
	t.inside = t.inside || e.begins
	t.writes = t.writes || e.writes
	if e.commits {
		commits = t.writes
		t.inside, t.writes = false, false
	}
	t.committed = t.committed || commits
	return commits
}

// sync ends a batch: outside of an explicit transaction the server commits it.
func (t *tracker) sync() (commits bool) {
	if !t.inside {
		commits = t.writes
		t.writes = false
	}
	t.answers = append(t.answers, commits || t.committed)
	t.committed = false
	return commits
}

// ready notes the answer to the oldest Sync or Query. Its status is the truth
// about the transaction, where nothing else is under way.
func (t *tracker) ready(status []byte) bool {
	if len(t.answers) == 0 {
		return false // the end of the login
	}
	commits := t.answers[0]
	t.answers = t.answers[1:]
	if len(t.answers) == 0 && len(status) == 1 {
		t.inside = status[0] != 'I'
		t.writes = t.writes && t.inside // undone otherwise
	}
	return commits
}
