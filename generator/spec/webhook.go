package spec

import (
	"regexp"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
)

// Webhook is @webhook: the system that sends, and the types of deliveries that are
// for this operation; none: all that no other operation takes.
type Webhook struct {
	Pos    diag.Pos
	System Name
	Types  []Name
}

var (
	systemForm = regexp.MustCompile(`^[a-z][a-z0-9]*([-_][a-z0-9]+)*$`)
	typeForm   = regexp.MustCompile(`^[!-~]+$`)
)

// maxSystem bounds a system's name, which keys begin with.
const maxSystem = 64

// parseWebhook reads SYSTEM [TYPE …]. The route follows from the system.
func parseWebhook(a *args, d *Declarations) {
	f, ok := a.need("a system")
	if !ok {
		return
	}
	if !systemForm.MatchString(f.text) || len(f.text) > maxSystem {
		a.fail(diag.AnnotationForm, a.pos(f), "%q is not the name of a system: small letters and digits, parted by - or _, at most %d", f.text, maxSystem)
		return
	}
	w := &Webhook{Pos: a.pos(f), System: a.named(f)}
	types, ok := a.deliveryTypes("the type of a delivery")
	if !ok {
		return
	}
	w.Types = types
	if d.HTTP != nil {
		a.twoWays(w.Pos, d)
		return
	}
	d.Webhook = w
	d.HTTP = &HTTP{Pos: w.Pos, Method: "POST", Path: "/webhooks/" + w.System.Value, PathPos: w.Pos}
}

// deliveryTypes reads what is left: types between spaces, commas or both.
func (a *args) deliveryTypes(what string) (types []Name, ok bool) {
	for {
		f, more := a.take()
		if !more {
			return types, true
		}
		for text := range strings.SplitSeq(f.text, ",") {
			name := Name{Value: text, Pos: a.pos(f)}
			first := named(types, text)
			switch {
			case text == "" && strings.HasSuffix(f.text, ","):
				continue
			case !typeForm.MatchString(text):
				a.fail(diag.AnnotationForm, name.Pos, "%q is not %s", f.text, what)
				return nil, false
			case first != nil:
				a.repeated(name, first.Pos)
				return nil, false
			}
			types = append(types, name)
		}
	}
}

// twoWays refuses an operation that is reached in two ways: its key would be of two
// kinds. The word at hand is the second one of d.
func (a *args) twoWays(pos diag.Pos, d *Declarations) {
	ways := map[string]bool{"http": d.Webhook == nil && d.Consume == nil, "webhook": d.Webhook != nil, "consume": d.Consume != nil}
	ways[a.word] = true
	var words, keys []string
	for _, way := range []struct{ word, key string }{
		{"http", "a client's key is its own"}, {"webhook", "a delivery's key is its id"}, {"consume", "a message's key is its id"},
	} {
		if ways[way.word] {
			words, keys = append(words, spelled(way.word, a.where)), append(keys, way.key)
		}
	}
	a.fail(diag.RouteForm, pos, "%s can't stand on one operation: %s", strings.Join(words, " and "), strings.Join(keys, ", and ")).
		Hint("make two operations of it: endpoints of a spec may share the query")
}
