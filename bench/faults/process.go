package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// process is a running service. It ends with this process, however that ends.
type process struct {
	url   string
	cmd   *exec.Cmd
	alive io.Closer
	ended chan struct{}
}

// startProcess starts a program that is the service, and returns when it listens.
func startProcess(program, database, receiver, logFile string) (*process, error) {
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p := &process{cmd: exec.Command(program), ended: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), envDatabase+"="+database, envReceiver+"="+receiver)
	p.cmd.Stderr = log
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if p.alive, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	line, readErr := bufio.NewReader(out).ReadString('\n')
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait() // it is killed, or ends when it isn't wanted
	}()
	url, found := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if !found {
		p.kill()
		return nil, fmt.Errorf("the service said %q (%v); its log is %s", line, readErr, logFile)
	}
	p.url = url
	return p, nil
}

// kill ends the process as kill -9 does, and waits for its end.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.ended
	_ = p.alive.Close() // so it may have been closed
}
