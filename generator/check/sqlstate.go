package check

import (
	"regexp"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/spec"
)

var sqlState = regexp.MustCompile(`^[0-9A-Za-z]{5}$`)

// retried are the SQLSTATE classes and values that the runtime answers itself:
// it tries again, or says 503 (semantics.md section 5).
var retried = []string{"40001", "40P01", "26000", "42P05", "0A000", "08", "53", "55P03", "57", "25006", "25P03", "25P04"}

// serverStates are the errors of PostgreSQL's own classes, by class (appendix A
// of its documentation). A code of another class is one that a function of the
// service raises.
var serverStates = map[string]string{
	"03": "000",
	"08": "000 001 003 004 006 007 P01",
	"09": "000",
	"0A": "000",
	"0B": "000",
	"0F": "000 001",
	"0L": "000 P01",
	"0P": "000",
	"0Z": "000 002",
	"20": "000",
	"21": "000",
	"22": "000 001 002 003 004 005 007 008 009 00B 00C 00D 00F 00G 00H 00L 00M 00N 00S 00T 010 011 012 013 014 015 016 018 019 01B 01E 01F 01G 01W " +
		"01X 021 022 023 024 025 026 027 02E 02G 02H 030 031 032 033 034 035 036 037 038 039 03A 03B 03C 03D 03E 03F 03G P01 P02 P03 P04 P05 P06",
	"23": "000 001 502 503 505 514 P01",
	"24": "000",
	"25": "000 001 002 003 004 005 006 007 008 P01 P02 P03",
	"26": "000",
	"27": "000",
	"28": "000 P01",
	"2B": "000 P01",
	"2D": "000",
	"2F": "000 002 003 004 005",
	"34": "000",
	"38": "000 001 002 003 004",
	"39": "000 001 004 P01 P02 P03",
	"3B": "000 001",
	"3D": "000",
	"3F": "000",
	"40": "000 001 002 003 P01",
	"42": "000 501 601 602 611 622 701 702 703 704 710 712 723 725 803 804 809 830 846 883 8C9 939 P01 P02 P03 P04 " +
		"P05 P06 P07 P08 P09 P10 P11 P12 P13 P14 P15 P16 P17 P18 P19 P20 P21 P22",
	"44": "000",
	"53": "000 100 200 300 400",
	"54": "000 001 011 023",
	"55": "000 006 P02 P03 P04",
	"57": "000 014 P01 P02 P03 P04 P05",
	"58": "000 030 P01 P02 P03",
	"72": "000",
	"F0": "000 001",
	"HV": "000 001 002 004 005 006 007 008 009 00A 00B 00C 00D 00J 00K 00L 00M 00N 00P 00Q 00R 010 014 021 024 090 091",
	"P0": "000 001 002 003 004",
	"XX": "000 001 002",
}

// isSQLState tells a SQLSTATE from a constraint's name: five letters and digits
// that no constraint is named.
func (b *builder) isSQLState(name string) bool {
	if !sqlState.MatchString(name) || !strings.ContainsAny(name, "0123456789") {
		return false
	}
	holders, _ := b.holders(name)
	return len(holders) == 0
}

// sqlState refuses a SQLSTATE that the runtime answers itself, and one that is
// no error. One that PostgreSQL is not known to raise is a warning: each of its
// versions may add some.
func (b *builder) sqlState(step *model.Step, name spec.Name) {
	code := strings.ToUpper(name.Value)
	for _, prefix := range retried {
		if strings.HasPrefix(code, prefix) {
			b.diags.Errorf(diag.ProblemForm, name.Pos, "SQLSTATE %s is a passing failure, which is tried again", code).
				Hint("remove it: the client gets 503 with Retry-After if it lasts")
			return
		}
	}
	if slices.Contains([]string{"00", "01", "02"}, code[:2]) {
		b.diags.Errorf(diag.ConstraintUnused, name.Pos, "SQLSTATE %s is no error: its class is that of successes and warnings", name.Value).
			Hint("remove it; what no row means is said by @empty")
		return
	}
	known, standard := serverStates[code[:2]]
	states := strings.Fields(known)
	if !standard || code[:2] == "P0" || slices.Contains(states, code[2:]) || raisesOwn(&step.Query.Shape) {
		return
	}
	for i := range states {
		states[i] = code[:2] + states[i]
	}
	entry := b.diags.Warnf(diag.ConstraintUnused, name.Pos, "idemgen knows no SQLSTATE %s in PostgreSQL's class %s", code, code[:2])
	if near := diag.Nearest(code, states); near != "" {
		entry.Hint("did you mean %s? if your server raises it, it stays as it is", near)
	} else {
		entry.Hint("appendix A of PostgreSQL's documentation lists them: if your server raises it, it stays as it is; errors of your own have a class of their own, such as P0")
	}
}

// raisesOwn reports whether a function of the service may run, which can raise
// any code.
func raisesOwn(shape *model.Shape) bool {
	t := shape.TargetTraits
	return shape.Calls || t.OtherWrites || t.RowTriggers || t.StatementTriggers || t.Rules || t.View
}
