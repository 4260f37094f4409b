package idem

import "context"

// stepRun runs the steps of an operation inside its transaction.
type stepRun struct {
	*transaction
	results []stepResult
	texts   [][][]byte // per step, the columns that later steps bind
	status  int        // of @status, 0 if none
	headers map[string]string
}

// stepResult is what a step returned.
type stepResult struct {
	rows []stepRow
	list bool // all rows count
}

// stepRow is a row as JSON text, and single columns as JSON texts.
type stepRow struct {
	row     []byte
	columns [][]byte
}

// all runs every step and composes the answer.
func (r *stepRun) all(ctx context.Context) (*answer, *failure) {
	if done, failed := r.some(ctx, 0, len(r.inv.op.steps)); done != nil || failed != nil {
		return done, failed
	}
	return r.answer(), nil
}

// some runs the steps from one on to before another. It gives an answer where no
// row is the answer.
func (r *stepRun) some(ctx context.Context, from, to int) (*answer, *failure) {
	for i := from; i < to; i++ {
		if r.inv.op.steps[i].Go != nil {
			if failed := r.goStep(ctx, i); failed != nil {
				return nil, failed
			}
			continue
		}
		done, failed := r.step(ctx, i)
		if failed != nil || done != nil {
			return done, failed
		}
	}
	return nil, nil
}

// answer composes the answer of an operation whose steps have run.
func (r *stepRun) answer() *answer {
	op := r.inv.op
	ans := &answer{status: op.Status, headers: r.headers, body: r.compose(&op.Answer)}
	if r.status != 0 {
		ans.status = r.status
	}
	return ans
}

// step runs one step: one round trip, also where it runs once per element. It
// gives an answer where no row is the answer.
func (r *stepRun) step(ctx context.Context, i int) (*answer, *failure) {
	st := &r.inv.op.steps[i]
	results, failed := r.send(ctx, i)
	if failed != nil {
		return nil, failed
	}
	out := stepResult{list: st.Many || st.Each > 0}
	r.texts = append(r.texts, nil)
	for _, res := range results {
		if done, failed := r.checkEmpty(i, res); done != nil || failed != nil {
			return done, failed
		}
		for _, row := range res.rows {
			parsed, failed := r.take(i, row)
			if failed != nil {
				return nil, failed
			}
			out.rows = append(out.rows, parsed)
			if !st.Many {
				break
			}
		}
	}
	r.results = append(r.results, out)
	return nil, nil
}

func (r *stepRun) send(ctx context.Context, i int) ([]result, *failure) {
	st := &r.inv.op.steps[i]
	from := binding{inv: r.inv, steps: r.texts}
	if st.Each == 0 {
		results, err := r.c.send(ctx, st.query.with(from.bind(st.Args)...))
		if err != nil {
			return nil, &failure{err: err, step: i, from: from}
		}
		return results, nil
	}
	var script []statement
	elems := r.inv.values[st.Each-1].Elems
	for n, elem := range elems {
		from.elem, from.ordinal = elem, n+1
		script = append(script, st.query.with(from.bind(st.Args)...))
	}
	if len(script) == 0 {
		return nil, nil
	}
	results, err := r.c.send(ctx, script...)
	if err != nil {
		from.elem = elems[min(len(results), len(elems)-1)] // the one that failed
		return nil, &failure{err: err, step: i, from: from}
	}
	return results, nil
}

// checkEmpty applies @empty.
func (r *stepRun) checkEmpty(i int, res result) (*answer, *failure) {
	st := &r.inv.op.steps[i]
	if len(res.rows) > 0 || st.Exec && res.tag.RowsAffected() > 0 {
		return nil, nil
	}
	if st.Empty.Problem != nil {
		return nil, &failure{declared: errDeclared(st.Empty.Problem), step: i}
	}
	if st.Empty.Fine > 0 {
		return &answer{status: st.Empty.Fine, headers: r.headers}, nil
	}
	return nil, nil
}

// take reads a row by the step's Results, and applies @require and @status.
func (r *stepRun) take(i int, row [][]byte) (stepRow, *failure) {
	st := &r.inv.op.steps[i]
	next := func(n int) [][]byte {
		n = min(n, len(row))
		cut := row[:n]
		row = row[n:]
		return cut
	}
	var out stepRow
	if st.Results.Row {
		out.row = next(1)[0]
	}
	out.columns = next(st.Results.JSON)
	for k, holds := range next(st.Results.Requires) {
		if !isTrue(holds) {
			return out, &failure{declared: errDeclared(&st.Requires[k]), step: i}
		}
	}
	for k, holds := range next(st.Results.Statuses) {
		if isTrue(holds) && r.status == 0 {
			r.status = st.Statuses[k]
		}
	}
	if st.Results.Headers {
		if err := r.addHeaders(next(1)[0]); err != nil {
			return out, &failure{err: err, step: i}
		}
	}
	if texts := next(st.Results.Text); r.texts[i] == nil {
		r.texts[i] = texts // of the first row
	}
	return out, nil
}

func (r *stepRun) addHeaders(text []byte) error {
	if text == nil {
		return nil
	}
	if r.headers == nil {
		r.headers = map[string]string{}
	}
	return addHeaders(r.headers, text)
}
