package render

import (
	"fmt"
	"strconv"
	"time"

	"github.com/idemgen/idemgen/generator/schema"
)

// numbers hands out the versions of new migrations.
type numbers struct {
	numbering schema.Numbering
	last      int64
	now       string
}

// NumbersUsedUp is the error of Migrations where the numbers of the folder's
// width are all taken.
type NumbersUsedUp struct {
	Width int   // digits
	Last  int64 // the last number that is taken
	Next  string
}

func (e *NumbersUsedUp) Error() string {
	return fmt.Sprintf("the migrations' versions have %d digits, and the next one is %s: rename them to more digits, so that goose and sqlc read them in one order",
		e.Width, e.Next)
}

const timestampLayout = "20060102150405"

// firstWidth is goose's own for sequential versions.
const firstWidth = 5

func newNumbers(n schema.Numbering, now string) *numbers {
	if n.Width == 0 {
		n.Width = firstWidth
	}
	return &numbers{numbering: n, last: n.Last, now: now}
}

// next is the version after all that are there. It fails where the folder's
// width is used up: goose would run the file last, and sqlc read it too early.
func (n *numbers) next() (string, error) {
	if n.numbering.Timestamp {
		return n.nextTimestamp()
	}
	n.last++
	version := fmt.Sprintf("%0*d", n.numbering.Width, n.last)
	if len(version) > n.numbering.Width {
		return "", &NumbersUsedUp{Width: n.numbering.Width, Last: n.last - 1, Next: version}
	}
	return version, nil
}

// nextTimestamp is now, or one second after the last version where that is
// later.
func (n *numbers) nextTimestamp() (string, error) {
	at, err := strconv.ParseInt(n.now, 10, 64)
	if err != nil {
		return "", fmt.Errorf("%q is no time of the form YYYYMMDDhhmmss", n.now)
	}
	if at <= n.last {
		at = secondAfter(n.last)
	}
	n.last = at
	return strconv.FormatInt(at, 10), nil
}

func secondAfter(version int64) int64 {
	t, err := time.Parse(timestampLayout, strconv.FormatInt(version, 10))
	if err != nil {
		return version + 1 // a version that only looks like a time
	}
	next, err := strconv.ParseInt(t.Add(time.Second).Format(timestampLayout), 10, 64)
	if err != nil {
		return version + 1
	}
	return next
}
