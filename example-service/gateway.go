package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"example.com/payments/internal/gateway"
)

// gatewayURL is GATEWAY_URL, or a private card gateway that goes with the process.
func gatewayURL(logger *slog.Logger) (url string, stop func(), err error) {
	if url := os.Getenv("GATEWAY_URL"); url != "" {
		return url, func() {}, nil
	}
	logger.Info("GATEWAY_URL is not set: starting a private card gateway")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := gatewayServer()
	go func() { _ = server.Serve(listener) }() // until stop
	return "http://" + listener.Addr().String(), func() { _ = server.Close() }, nil
}

// serveGateway serves only the card gateway, for services of several processes.
func serveGateway(ctx context.Context, address string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Printf("listening on http://%s\n", listener.Addr())
	server := gatewayServer()
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func gatewayServer() *http.Server {
	return &http.Server{Handler: &gateway.Fake{}, ReadHeaderTimeout: 10 * time.Second}
}
