package plan

import "fmt"

// whyDurable says why the operation commits in between, or later.
func (p *planner) whyDurable() string {
	calls := p.op.Calls()
	switch {
	case p.op.Async && calls > 0:
		return "async, " + countCalls(calls)
	case p.op.Async:
		return "async: done in the background"
	}
	return countCalls(calls)
}

func countCalls(n int) string {
	if n == 1 {
		return "1 call of another system"
	}
	return fmt.Sprintf("%d calls of other systems", n)
}

// durableRoundTrips are those of a first request: of an async operation to write
// it down; else, beside the statements, the first and the last batch of each
// transaction.
func (p *planner) durableRoundTrips(statements int) int {
	if p.op.Async {
		return 1
	}
	return 2*(p.op.Calls()+1) + statements
}
