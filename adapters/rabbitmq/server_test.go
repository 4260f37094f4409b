package idemrabbit_test

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/idemgen/idemgen/idem/idemtest"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	idemtest.Main(m)
}

// script is where Debian has the server, without the wrapper that changes users.
const script = "/usr/lib/rabbitmq/bin/rabbitmq-server"

// startBroker is a RabbitMQ of its own, with its own port mapper, in a temporary
// folder. It is ended with the test, which is skipped where there is no RabbitMQ.
func startBroker(t *testing.T) func() (*amqp.Connection, error) {
	t.Helper()
	if _, err := os.Stat(script); err != nil {
		t.Skip("there is no RabbitMQ here: apt-get install rabbitmq-server")
	}
	dir, port, mapper := t.TempDir(), freePort(t), freePort(t)
	cmd := exec.Command(script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Env = append(os.Environ(), "HOME="+dir, "RABBITMQ_NODENAME=idemgen@localhost", "RABBITMQ_NODE_IP_ADDRESS=127.0.0.1",
		fmt.Sprintf("RABBITMQ_NODE_PORT=%d", port), fmt.Sprintf("RABBITMQ_DIST_PORT=%d", freePort(t)), fmt.Sprintf("ERL_EPMD_PORT=%d", mapper),
		"ERL_EPMD_ADDRESS=127.0.0.1", "RABBITMQ_MNESIA_BASE="+dir, "RABBITMQ_LOG_BASE="+dir, "RABBITMQ_PID_FILE="+filepath.Join(dir, "pid"),
		"RABBITMQ_ENABLED_PLUGINS_FILE="+filepath.Join(dir, "plugins"), "RABBITMQ_CONF_ENV_FILE="+filepath.Join(dir, "env"))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		_ = cmd.Wait()
		// The port mapper is a daemon of this broker alone.
		_ = exec.Command("epmd", "-port", fmt.Sprint(mapper), "-kill").Run()
	})
	url := fmt.Sprintf("amqp://guest:guest@127.0.0.1:%d/", port)
	err := errors.New("never tried")
	for deadline := time.Now().Add(2 * time.Minute); err != nil && time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		var conn *amqp.Connection
		if conn, err = amqp.Dial(url); err == nil {
			err = conn.Close()
		}
	}
	if err != nil {
		t.Fatalf("the broker does not start: %v", err)
	}
	return func() (*amqp.Connection, error) { return amqp.Dial(url) }
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
