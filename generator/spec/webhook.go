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
	if !a.deliveryTypes(w) {
		return
	}
	if d.HTTP != nil {
		a.twoWays(w.Pos)
		return
	}
	d.Webhook = w
	d.HTTP = &HTTP{Pos: w.Pos, Method: "POST", Path: "/webhooks/" + w.System.Value, PathPos: w.Pos}
}

// deliveryTypes reads what is left: types between spaces, commas or both.
func (a *args) deliveryTypes(w *Webhook) bool {
	for {
		f, more := a.take()
		if !more {
			return true
		}
		for text := range strings.SplitSeq(f.text, ",") {
			name := Name{Value: text, Pos: a.pos(f)}
			first := named(w.Types, text)
			switch {
			case text == "" && strings.HasSuffix(f.text, ","):
				continue
			case !typeForm.MatchString(text):
				a.fail(diag.AnnotationForm, name.Pos, "%q is not the type of a delivery", f.text)
				return false
			case first != nil:
				a.repeated(name, first.Pos)
				return false
			}
			w.Types = append(w.Types, name)
		}
	}
}

// twoWays refuses an operation that is reached in two ways: its key would be of two
// kinds.
func (a *args) twoWays(pos diag.Pos) {
	a.fail(diag.RouteForm, pos, "%s and %s can't stand on one operation: a delivery's key is its id, and a client's is its own", spelled("http", a.where), spelled("webhook", a.where)).
		Hint("make two operations of it: endpoints of a spec may share the query")
}
