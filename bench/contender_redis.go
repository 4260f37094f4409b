package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"
)

// addRedis adds the middleware over Redis, where there is one.
func (f *field) addRedis(ctx context.Context, pool *pgxpool.Pool) error {
	if f.redis == "" {
		return nil
	}
	client := f.redisClient()
	if err := client.Ping(ctx).Err(); err != nil {
		return err
	}
	handler := redisMiddleware(client, insertByHand(insertPayment(pool)))
	f.all = append(f.all, contender{name: redisHTTP, keyed: true, base: bareHTTP, run: func(ctx context.Context, r request) error {
		return post(ctx, handler, r)
	}})
	return nil
}

// redisClient has as many connections as there are clients, through the network of
// the place.
func (f *field) redisClient() *redis.Client {
	client := redis.NewClient(&redis.Options{Addr: f.redis, Dialer: f.wire.dial, PoolSize: f.clients})
	f.closes = append(f.closes, client.Close)
	return client
}

// kept is an answer as Redis keeps it; without a status, its request is running.
type kept struct {
	Status      int    `json:"status,omitempty"`
	ContentType string `json:"content_type,omitempty"`
	Body        []byte `json:"body,omitempty"`
}

// redisMiddleware is the one that many write: SET NX claims the key; where that
// fails, GET has the answer. The business write is in another system, so a crash
// between the two loses one of them: see docs/performance.md.
func redisMiddleware(client *redis.Client, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := "idempotency:" + tenant + ":" + r.Header.Get("Idempotency-Key")
		err := client.SetArgs(r.Context(), key, "{}", redis.SetArgs{Mode: "NX", TTL: day}).Err()
		switch {
		case errors.Is(err, redis.Nil):
			replayFromRedis(r.Context(), w, client, key)
			return
		case err != nil:
			http.Error(w, "", http.StatusServiceUnavailable)
			return
		}
		made := &writer{header: w.Header()}
		next.ServeHTTP(made, r)
		if made.status >= http.StatusInternalServerError {
			err = client.Del(r.Context(), key).Err()
		} else {
			err = keepInRedis(r.Context(), client, key, made)
		}
		if err != nil {
			http.Error(w, "", http.StatusInternalServerError)
			return
		}
		w.WriteHeader(made.status)
		_, _ = w.Write(made.body.Bytes())
	})
}

func keepInRedis(ctx context.Context, client *redis.Client, key string, made *writer) error {
	text, err := json.Marshal(kept{Status: made.status, ContentType: made.header.Get("Content-Type"), Body: made.body.Bytes()})
	if err != nil {
		return err
	}
	return client.Set(ctx, key, text, day).Err()
}

func replayFromRedis(ctx context.Context, w http.ResponseWriter, client *redis.Client, key string) {
	var k kept
	text, err := client.Get(ctx, key).Bytes()
	if err == nil {
		err = json.Unmarshal(text, &k)
	}
	switch {
	case err != nil:
		http.Error(w, "", http.StatusServiceUnavailable)
	case k.Status == 0:
		http.Error(w, "the request is running", http.StatusConflict)
	default:
		w.Header().Set("Content-Type", k.ContentType)
		w.WriteHeader(k.Status)
		_, _ = w.Write(k.Body)
	}
}
