package files

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
)

// lock is an idemgen.lock: which files were emitted, and with which content.
type lock struct {
	// hashes by path. Several where a merge left both sides in the file: the
	// emitted content is known to be one of them.
	hashes map[string][]string
}

const lockHead = "# What idemgen emitted, so that it can tell its own files. Commit this file; `idemgen generate` writes it.\n"

// parseLock reads a lock. Lines that are no entries (versions, comments, marks
// of a merge conflict) are passed over: the next run writes the file anew.
func parseLock(text []byte) lock {
	l := lock{hashes: map[string][]string{}}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		at := strings.LastIndexByte(line, ' ')
		if at <= 0 || strings.HasPrefix(line, "#") || !isHash(line[at+1:]) {
			continue
		}
		l.hashes[line[:at]] = append(l.hashes[line[:at]], line[at+1:])
	}
	return l
}

// has reports whether content is what was emitted for p.
func (l lock) has(p string, content []byte) bool {
	return slices.Contains(l.hashes[p], hashOf(content))
}

// same reports whether a lock names exactly these files with these contents.
func (l lock) same(emitted map[string]string) bool {
	return maps.EqualFunc(l.hashes, emitted, func(known []string, hash string) bool {
		return len(known) == 1 && known[0] == hash
	})
}

// formatLock renders a lock: version lines, then one sorted line per file.
func formatLock(versions []string, emitted map[string]string) []byte {
	var b bytes.Buffer
	b.WriteString(lockHead)
	for _, v := range versions {
		b.WriteString(v + "\n")
	}
	lines := make([]string, 0, len(emitted))
	for p, hash := range emitted {
		lines = append(lines, p+" "+hash+"\n")
	}
	slices.Sort(lines)
	b.WriteString(strings.Join(lines, ""))
	return b.Bytes()
}

// hashOf is the SHA-256 of content with LF line ends, so that a checkout that
// turns them into CRLF is not taken for an edit.
func hashOf(content []byte) string {
	sum := sha256.Sum256(normal(content))
	return hex.EncodeToString(sum[:])
}

func normal(content []byte) []byte {
	if bytes.IndexByte(content, '\r') < 0 {
		return content
	}
	return bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n"))
}

func same(a, b []byte) bool { return bytes.Equal(normal(a), normal(b)) }

func isHash(s string) bool {
	if len(s) != 2*sha256.Size {
		return false
	}
	_, err := hex.DecodeString(s)
	return err == nil
}
