package idem

import (
	"encoding/json"
	"fmt"
)

// storedResults is idem.work.results: what later steps bind and the answer shows.
// The texts are what PostgreSQL rendered: inside of strings, or jsonb would put
// them in its own form.
type storedResults struct {
	Steps   []storedStep      `json:"steps"`
	Status  int               `json:"status,omitempty"` // of @status
	Headers map[string]string `json:"headers,omitempty"`
}

type storedStep struct {
	Name  string      `json:"name"`
	Rows  []storedRow `json:"rows,omitempty"`
	List  bool        `json:"list,omitempty"`
	Texts []*string   `json:"texts,omitempty"`
}

type storedRow struct {
	Row     *string   `json:"row,omitempty"`
	Columns []*string `json:"columns,omitempty"`
}

// stored is what the row keeps of the steps so far.
func (p *progress) stored(op *operation) []byte {
	all := storedResults{Steps: []storedStep{}, Status: p.status, Headers: p.headers}
	for i := range p.results {
		one := storedStep{Name: op.steps[i].Name}
		if op.steps[i].bound {
			one.Texts = stringsOf(p.texts[i])
		}
		one.List = p.results[i].list
		if op.steps[i].shown {
			for _, row := range p.results[i].rows {
				one.Rows = append(one.Rows, storedRow{stringOf(row.row), stringsOf(row.columns)})
			}
		}
		all.Steps = append(all.Steps, one)
	}
	return marshal(all)
}

// restoreProgress reads what stored made.
func restoreProgress(text []byte, op *operation) (progress, error) {
	var p progress
	if len(text) == 0 {
		return p, nil
	}
	var all storedResults
	if err := json.Unmarshal(text, &all); err != nil {
		return p, err
	}
	for i, one := range all.Steps {
		if i >= len(op.steps) || op.steps[i].Name != one.Name {
			return p, fmt.Errorf("its step %d was another", i)
		}
	}
	p.status, p.headers = all.Status, all.Headers
	for _, one := range all.Steps {
		result := stepResult{list: one.List}
		for _, row := range one.Rows {
			result.rows = append(result.rows, stepRow{bytesOf(row.Row), bytesOfAll(row.Columns)})
		}
		p.results = append(p.results, result)
		p.texts = append(p.texts, bytesOfAll(one.Texts))
	}
	return p, nil
}

func stringOf(text []byte) *string {
	if text == nil {
		return nil
	}
	s := string(text)
	return &s
}

func stringsOf(texts [][]byte) []*string {
	var all []*string
	for _, text := range texts {
		all = append(all, stringOf(text))
	}
	return all
}

func bytesOf(text *string) []byte {
	if text == nil {
		return nil
	}
	return append([]byte{}, *text...)
}

func bytesOfAll(texts []*string) [][]byte {
	var all [][]byte
	for _, text := range texts {
		all = append(all, bytesOf(text))
	}
	return all
}

// storedRefusal is idem.work.refusal: the answer that is recorded once the calls
// are taken back.
type storedRefusal struct {
	Status  int               `json:"status"` // 0: an operator has ended it
	Headers map[string]string `json:"headers,omitempty"`
	Body    string            `json:"body"`
}

func (a *answer) refusalText() []byte {
	return marshal(storedRefusal{a.status, a.kept(), string(a.body)})
}

// restoreRefusal reads what refusalText made; nil where it is an operator's word.
func restoreRefusal(text []byte) (*answer, error) {
	var stored storedRefusal
	if err := json.Unmarshal(text, &stored); err != nil || stored.Status == 0 {
		return nil, err
	}
	ans := &answer{status: stored.Status, headers: stored.Headers, body: []byte(stored.Body)}
	if ans.headers != nil {
		ans.takeMark()
	}
	return ans, nil
}
