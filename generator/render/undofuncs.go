package render

import "slices"

// addUndos adds the functions that take back a call, once each.
func (v *funcsView) addUndos(call funcView, uses []goUse) {
	for _, u := range uses {
		if !u.step.IsCall() || u.step.Go.Call.Undo == "" {
			continue
		}
		undo := funcView{
			Name: u.step.Go.Call.Undo, Undo: true, Doc: "what takes " + call.Name + " back",
			Input: call.Input, Output: call.Output, Results: call.Results,
		}
		if !slices.ContainsFunc(v.Funcs, func(f funcView) bool { return f.Name == undo.Name }) {
			v.Funcs = append(v.Funcs, undo)
		}
	}
}
