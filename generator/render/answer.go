package render

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/plan"
)

// answer writes the idem.Answer of a stepped operation, "" for the others and
// where there is no body.
func (w stepWriter) answer(svc *model.Service) (string, error) {
	if w.plan.Strategy != plan.Stepped || w.op.Response.Kind == model.ResponseNone {
		return "", nil
	}
	return w.answerOf("idem.Answer", w.op.Response, svc.JSON)
}

// answerOf writes one level. Only the outermost rows are wrapped: inside an
// object they have a name already.
func (w stepWriter) answerOf(typ string, r model.Response, style model.JSONStyle) (string, error) {
	switch r.Kind {
	case model.ResponseNone:
		return object(typ), nil
	case model.ResponseObject:
		members, err := w.members(r.Members)
		return object(typ, member{"Kind", `"object"`}, member{"Members", members}), err
	case model.ResponseStep, model.ResponseColumn:
	}
	step := stepIndex(w.op, r.Step)
	if step < 0 {
		return "", fmt.Errorf("operation %s has no step %s", w.op.Name, r.Step)
	}
	if r.Kind == model.ResponseStep {
		wrapper := member{"One", text(style.One)}
		if returnsMany(w.op.Steps[step]) {
			wrapper = member{"Many", text(style.Many)}
		}
		return object(typ, member{"Kind", `"step"`}, member{"Step", number(step)}, wrapper), nil
	}
	column := slices.Index(w.steps[step].JSON, r.Column)
	if column < 0 {
		return "", fmt.Errorf("operation %s: the plan of step %s has no column %s for the response", w.op.Name, r.Step, r.Column)
	}
	return object(typ, member{"Kind", `"column"`}, member{"Step", number(step)}, member{"Column", number(column)}), nil
}

func (w stepWriter) members(members []model.ResponseMember) (string, error) {
	items := make([]string, len(members))
	for i, m := range members {
		value, err := w.answerOf("idem.Answer", m.Value, model.JSONStyle{})
		if err != nil {
			return "", err
		}
		items[i] = object("", member{"Name", strconv.Quote(m.Name)}, member{"Value", value})
	}
	return list("idem.Member", items), nil
}
