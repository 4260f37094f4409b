package idemtest

import "regexp"

var sectionLine = regexp.MustCompile(`(?m)^-- statement: (\S+)\n`)

// Sections cuts an emitted .sql file into its statements, by name: what a test
// needs that has a server PREPARE what reviewers read.
func Sections(file string) map[string]string {
	found := map[string]string{}
	marks := sectionLine.FindAllStringSubmatchIndex(file, -1)
	for i, m := range marks {
		end := len(file)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		found[file[m[2]:m[3]]] = file[m[1]:end]
	}
	return found
}
