package outbox

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/gen"
)

// The channels of NOTIFY. The payload of the first is empty; of the second it is
// digests of scope and key, with spaces between them.
const (
	newChannel   = "idem_outbox"
	endedChannel = "idem_outbox_ended"
)

// noticeInterval is the least time between two notices of new events.
const noticeInterval = 50 * time.Millisecond

// notices tells the dispatchers of other processes of new events.
func (r *runner) notices(stopped <-chan struct{}) {
	for {
		select {
		case <-stopped:
			return
		case <-r.told:
		}
		r.notify(newChannel, "")
		timer := time.NewTimer(noticeInterval)
		select {
		case <-stopped:
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

// maxNotice is how many digests fit into one payload, which PostgreSQL bounds at
// 8000 bytes.
const maxNotice = 200

func (r *runner) notifyEnded(digests []string) {
	for len(digests) > 0 {
		n := min(len(digests), maxNotice)
		r.notify(endedChannel, strings.Join(digests[:n], " "))
		digests = digests[n:]
	}
}

// notify is a convenience for others, who look by themselves where it fails.
func (r *runner) notify(channel, payload string) {
	err := r.tx(func(ctx context.Context, q *gen.Queries) error {
		return q.Notify(ctx, gen.NotifyParams{Channel: channel, Payload: payload})
	})
	if err != nil {
		r.set.logger.WarnContext(r.base, "others can't be notified", "error", err)
	}
}

// listen hears what others notify until ctx ends, on a connection that is not of
// the pool: it would be missing there.
func (r *runner) listen(ctx context.Context) {
	for pause := time.Second; ctx.Err() == nil; pause = min(pause*2, time.Minute) {
		began := time.Now()
		err := r.hear(ctx)
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > time.Minute {
			pause = time.Second
		}
		r.set.logger.WarnContext(ctx, "notices can't be heard; events are still looked for", "error", err)
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
}

func (r *runner) hear(ctx context.Context) error {
	conn, err := pgx.ConnectConfig(ctx, r.pool.Config().ConnConfig.Copy())
	if err != nil {
		return err
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(closing)
	}()
	for _, channel := range []string{newChannel, endedChannel} {
		if _, err := conn.Exec(ctx, "LISTEN "+channel); err != nil {
			return err
		}
	}
	signal(r.woken) // for what came before
	for {
		notice, err := conn.WaitForNotification(ctx)
		switch {
		case err != nil:
			return err
		case notice.Channel == newChannel:
			signal(r.woken)
		case notice.Channel == endedChannel:
			r.d.release(strings.Fields(notice.Payload))
		}
	}
}
