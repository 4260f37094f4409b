package idemtest

import (
	"fmt"
	"net/http"
	"strings"
)

// example sends the example: what it changes is what one effect is. Then it
// sends more of its kind, as every check will do.
func (p *probe) example() error {
	if p.op.Key == KeyNone {
		return nil // nothingRecorded sends it
	}
	if len(p.op.Writes) == 0 && p.op.Count == nil {
		return skip("it is not known what it writes: set Writes or Count")
	}
	first, err := p.rehearse("a")
	if err != nil {
		return err
	}
	switch {
	case first.got.definite():
		return p.refuses(first.subject, first.got)
	case !first.got.success():
		return fmt.Errorf("its example is answered with %s", first.got)
	case first.effects == 0:
		return fmt.Errorf("a success changed no row of %v: other tables belong to Writes, or Count is needed", p.op.Writes)
	}
	p.each = first.effects
	return p.repeatable(first)
}

// refuses says what an operation needs that refuses its example.
func (p *probe) refuses(s *subject, got answer) error {
	return skip(fmt.Sprintf("it answers %s\nto its example: %s\nFixtures must make what the example needs, and Set %s; %s",
		got.shown(enoughShown), s.target(), strings.Join(p.inputs(func(Input) bool { return true }), ", "), whereFixtures))
}

// whereFixtures is for users of emitted tests, who have not written the kit.
const whereFixtures = "in an emitted test, by conformanceFixtures, set in an init of a _test.go file of your own"

// inputs are the names of the inputs that are chosen.
func (p *probe) inputs(chosen func(Input) bool) (names []string) {
	for _, in := range p.op.Inputs {
		if chosen(in) {
			names = append(names, in.Name)
		}
	}
	return names
}

// rehearsal is a request that no check makes, and what became of it.
type rehearsal struct {
	*subject
	got     answer
	effects int64
}

func (p *probe) rehearse(caller string) (*rehearsal, error) {
	s, err := p.subject(caller, false)
	if err != nil {
		return nil, err
	}
	before, err := p.effects()
	if err != nil {
		return nil, err
	}
	got := s.send(p.handlers[0], newKey())
	if err := p.quiesce(); err != nil {
		return nil, err
	}
	after, err := p.effects()
	return &rehearsal{s, got, after - before}, err
}

// repeatable says whether the example works again, and for the other caller: a
// row or a value that only one request can have would fail nearly every check,
// for a reason that is none of theirs.
func (p *probe) repeatable(first *rehearsal) error {
	again, err := p.rehearse("a")
	if err != nil {
		return err
	}
	if err := p.another(again, "another request like it, under another key,"); err != nil {
		return err
	}
	if again.effects != p.each || !again.got.success() {
		return p.onlyOnce(first, again)
	}
	if p.kit.OneScope {
		return nil
	}
	stranger, err := p.rehearse("b")
	if err != nil {
		return err
	}
	if err := p.another(stranger, "the same of caller b"); err != nil {
		return err
	}
	if !stranger.got.success() {
		return skip(fmt.Sprintf("its example works for caller a only: the same of caller b is answered with %s\n"+
			"Fixtures must make what it needs for Fixture.Caller, and Set %s; %s",
			stranger.got.shown(enoughShown), strings.Join(p.same(first, stranger), ", "), whereFixtures))
	}
	return nil
}

// another says whether a request under a key of its own is answered as only the
// service can be blamed for.
func (p *probe) another(r *rehearsal, which string) error {
	got := r.got
	switch {
	case !got.success() && !got.definite(), got.code() == codeReused:
		return fmt.Errorf("its example is accepted, but %s is answered with %s", which, got)
	case got.replayed() && !p.op.Returns && p.op.Key != KeyDerived:
		return fmt.Errorf("its example is accepted, but %s is answered with a replay: %s", which, got)
	}
	return nil
}

// onlyOnce says what keeps the example from working again: what the two requests
// have in common.
func (p *probe) onlyOnce(first, again *rehearsal) error {
	became := "is answered with " + again.got.shown(enoughShown)
	differ := p.same(first, again)
	switch {
	case p.op.Intent && again.got.is(codeIntent) == nil, p.op.Returns && again.got.replayed():
		became += ", since it has the business intent of the first one"
	case p.op.Key == KeyDerived && again.got.replayed():
		became += ", since its key is made of inputs that are the same"
		differ = p.inputs(func(in Input) bool { return in.Keyed })
	case again.got.success():
		became = fmt.Sprintf("has another effect: rows changed: %d, then %d (%s)", first.effects, again.effects, again.got)
	}
	return skip(fmt.Sprintf("its example works only once: another request like it, under another key, %s\n"+
		"Fixtures must %s; %s", became, remedy(differ), whereFixtures))
}

// remedy is what fixtures do about inputs that are the same in all requests.
func remedy(same []string) string {
	const from = " from Fixture.N, or from what it makes, so that it is another one for each request"
	switch len(same) {
	case 0:
		return "make what each request needs"
	case 1:
		return "Set " + same[0] + from
	}
	return "Set one of " + strings.Join(same, ", ") + from
}

// same are the inputs that have one value in two requests; those of the path
// alone where a row was not found.
func (p *probe) same(a, b *rehearsal) []string {
	value := func(s *subject, name string) string {
		if name == "body" {
			return string(marshal(s.body))
		}
		return s.get(name)
	}
	equal := func(in Input) bool {
		v := value(a.subject, in.Name)
		return v != "" && v == value(b.subject, in.Name)
	}
	if b.got.status == http.StatusNotFound {
		inPath := p.inputs(func(in Input) bool { return equal(in) && strings.HasPrefix(in.Name, "path.") })
		if len(inPath) > 0 {
			return inPath
		}
	}
	return p.inputs(equal)
}
