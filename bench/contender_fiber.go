package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gofiber/fiber/v3"
	"github.com/gofiber/fiber/v3/middleware/idempotency"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"
	"github.com/valyala/fasthttp"
)

// addFiber adds Fiber's idempotency middleware: with what it brings, a lock and a
// storage in memory; and with its storage in Redis, where there is one, so that
// several processes share the answers.
func (f *field) addFiber(pool *pgxpool.Pool) {
	f.all = append(f.all, fiberContender(fiberHTTP, pool, nil))
	if f.redis != "" {
		f.all = append(f.all, fiberContender(fiberRedis, pool, &redisStorage{client: f.redisClient()}))
	}
}

func fiberContender(name string, pool *pgxpool.Pool, storage fiber.Storage) contender {
	app := fiber.New(fiber.Config{BodyLimit: maxBody})
	app.Use(idempotency.New(idempotency.Config{KeyHeader: "Idempotency-Key", Lifetime: day, Storage: storage}))
	app.Post("/payments", fiberInsert(pool))
	handler := app.Handler()
	contexts := sync.Pool{New: func() any { return &fasthttp.RequestCtx{} }} // as the server has it
	return contender{name: name, keyed: true, base: bareHTTP, run: func(_ context.Context, r request) error {
		c := contexts.Get().(*fasthttp.RequestCtx)
		defer contexts.Put(c)
		c.Request.Reset()
		c.Response.Reset()
		c.ResetUserValues()
		c.Request.Header.SetMethod(fasthttp.MethodPost)
		c.Request.SetRequestURI("/payments")
		c.Request.Header.SetContentType("application/json")
		c.Request.Header.Set("Idempotency-Key", r.key)
		c.Request.SetBody(bodyOf(r))
		handler(c)
		if status := c.Response.StatusCode(); status != fiber.StatusCreated {
			return fmt.Errorf("/payments answered %d: %s", status, c.Response.Body())
		}
		return nil
	}}
}

// fiberInsert is insertByHand for Fiber.
func fiberInsert(pool *pgxpool.Pool) fiber.Handler {
	insert := insertPayment(pool)
	return func(c fiber.Ctx) error {
		var in payment
		if err := c.Bind().Body(&in); err != nil {
			return fiber.NewError(fiber.StatusBadRequest, "not the JSON of a payment")
		}
		if in.OrderID == "" || in.Amount <= 0 {
			return fiber.NewError(fiber.StatusUnprocessableEntity, "order_id and a positive amount are required")
		}
		body, err := insert(context.Background(), in, "")
		if err != nil {
			return err
		}
		c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
		return c.Status(fiber.StatusCreated).Send(body)
	}
}

// redisStorage is Redis as a storage of Fiber's.
type redisStorage struct{ client *redis.Client }

// GetWithContext implements fiber.Storage.
func (s *redisStorage) GetWithContext(ctx context.Context, key string) ([]byte, error) {
	value, err := s.client.Get(ctx, key).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	return value, err
}

// Get implements fiber.Storage.
func (s *redisStorage) Get(key string) ([]byte, error) {
	return s.GetWithContext(context.Background(), key)
}

// SetWithContext implements fiber.Storage.
func (s *redisStorage) SetWithContext(ctx context.Context, key string, value []byte, expiration time.Duration) error {
	return s.client.Set(ctx, key, value, expiration).Err()
}

// Set implements fiber.Storage.
func (s *redisStorage) Set(key string, value []byte, expiration time.Duration) error {
	return s.SetWithContext(context.Background(), key, value, expiration)
}

// DeleteWithContext implements fiber.Storage.
func (s *redisStorage) DeleteWithContext(ctx context.Context, key string) error {
	return s.client.Del(ctx, key).Err()
}

// Delete implements fiber.Storage.
func (s *redisStorage) Delete(key string) error {
	return s.DeleteWithContext(context.Background(), key)
}

// ResetWithContext implements fiber.Storage.
func (s *redisStorage) ResetWithContext(ctx context.Context) error {
	return s.client.FlushDB(ctx).Err()
}

// Reset implements fiber.Storage.
func (s *redisStorage) Reset() error { return s.ResetWithContext(context.Background()) }

// Close implements fiber.Storage.
func (s *redisStorage) Close() error { return nil } // the field closes the client
