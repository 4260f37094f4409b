package check

import (
	"slices"
	"strings"
	"unicode"

	"github.com/idemgen/idemgen/generator/diag"
)

// camel writes a snake_case name in camelCase. Names without underscores stay
// as they are, so quoted identifiers survive.
func camel(name string) string {
	words := strings.Split(name, "_")
	var b strings.Builder
	for _, w := range words {
		if b.Len() == 0 || w == "" {
			b.WriteString(w)
			continue
		}
		b.WriteString(strings.ToUpper(w[:1]) + w[1:])
	}
	return b.String()
}

// goName makes an exported Go name the way sqlc does: words are split at
// everything that is neither letter nor digit, and "id" is an initialism.
func goName(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	var b strings.Builder
	for _, w := range words {
		if strings.EqualFold(w, "id") {
			b.WriteString("ID")
			continue
		}
		runes := []rune(w)
		runes[0] = unicode.ToUpper(runes[0])
		b.WriteString(string(runes))
	}
	out := b.String()
	if out == "" || !unicode.IsUpper([]rune(out)[0]) {
		return "X" + out
	}
	return out
}

// goPath is goName for each part of a dotted name.
func goPath(name string) string {
	parts := strings.Split(name, ".")
	for i, p := range parts {
		parts[i] = goName(p)
	}
	return strings.Join(parts, ".")
}

// fileBase is the name of an operation's files. Suffixes that mean something
// to the go command get one that does not.
func fileBase(operation string) string {
	var b strings.Builder
	runes := []rune(operation)
	for i, r := range runes {
		if unicode.IsUpper(r) && i > 0 && startsWord(runes, i) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	base := b.String()
	last := base[strings.LastIndexByte(base, '_')+1:]
	if slices.Contains(goSuffixes, last) || slices.Contains(deviceNames, base) || base == "api" {
		return base + "_op"
	}
	return base
}

func startsWord(runes []rune, i int) bool {
	if runes[i-1] == '_' {
		return false
	}
	if !unicode.IsUpper(runes[i-1]) {
		return true
	}
	return i+1 < len(runes) && unicode.IsLower(runes[i+1])
}

// goSuffixes are the last words of a file name that the go command reads as a
// test file or as a build constraint: the systems and architectures of Go.
var goSuffixes = strings.Fields(`test
	aix android darwin dragonfly freebsd hurd illumos ios js linux nacl netbsd openbsd plan9 solaris wasip1 windows zos
	386 amd64 amd64p32 arm armbe arm64 arm64be loong64 mips mipsle mips64 mips64le mips64p32 mips64p32le
	ppc ppc64 ppc64le riscv riscv64 s390 s390x sparc sparc64 wasm`)

// deviceNames are file names that Windows takes for devices, whatever their
// suffix: a repository with such a file can't be checked out there.
var deviceNames = strings.Fields(`con prn aux nul com0 com1 com2 com3 com4 com5 com6 com7 com8 com9
	lpt0 lpt1 lpt2 lpt3 lpt4 lpt5 lpt6 lpt7 lpt8 lpt9`)

// didYouMean is a hint with the nearest candidate, or the list of them.
func didYouMean(word string, candidates []string, what string) string {
	if near := diag.Nearest(word, candidates); near != "" {
		return "did you mean " + near + "?"
	}
	if len(candidates) == 0 {
		return "there is no " + what + " here"
	}
	return "there is: " + strings.Join(slices.Sorted(slices.Values(candidates)), ", ")
}
