package idem

import (
	"encoding/hex"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// eventKey is the key of an event: what receivers tell deliveries of it by. It
// is made of the request's identity, so an execution that was lost with its
// server and ran again tells of itself under the same key. The scope is part of
// it, since receivers know none. Ordinal tells the rows of an `each` apart, 0 for
// one row; what runs a forced request has had is told by its number.
func (inv *invocation) eventKey(label string, ordinal int) string {
	if !inv.keyed() && inv.generation == "" {
		inv.renewEvents() // nothing names the request
	}
	sum := hashParts("event", inv.scope, inv.op.stored, inv.key, inv.generation, label)
	key := hex.EncodeToString(sum[:16])
	if inv.run > 1 {
		key += "." + strconv.Itoa(inv.run)
	}
	if ordinal > 0 {
		key += "-" + strconv.Itoa(ordinal)
	}
	return key
}

// renewEvents gives the events of this execution keys that no other has.
func (inv *invocation) renewEvents() { inv.generation = newUUID7(time.Now()) }

// isConflictOnEvents reports that the outbox still has the event of an earlier
// execution under this key: its record has expired since.
func isConflictOnEvents(pg *pgconn.PgError) bool {
	return isConflictOnKeys(pg) && pg.TableName == "outbox"
}
