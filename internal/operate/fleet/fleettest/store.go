package fleettest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Store is a store of metrics that runs on this host.
type Store struct {
	Address string // http://127.0.0.1:…
	cmd     *exec.Cmd
	said    bytes.Buffer
}

// Find returns the path of a program that dev/tools/NAME.sh finds. If it is missing, the script's error says how
// to fetch it. root is the checkout.
func Find(root, name string) (string, error) {
	cmd := exec.Command("bash", filepath.Join(root, "dev/tools", name+".sh"), "find")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s", strings.TrimSpace(said.String()))
	}
	return strings.TrimSpace(string(out)), nil
}

// VictoriaMetrics starts a VictoriaMetrics with its data in a folder.
func VictoriaMetrics(ctx context.Context, path, dir string, more ...string) (*Store, error) {
	return startStore(ctx, path, func(address string) []string {
		return append([]string{"-storageDataPath=" + dir, "-httpListenAddr=" + address, "-retentionPeriod=10y", "-loggerLevel=ERROR"}, more...)
	}, "/health")
}

// Prometheus starts a Prometheus with its data in a folder.
func Prometheus(ctx context.Context, path, dir string) (*Store, error) {
	config := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(config, []byte("global: {}\n"), 0o600); err != nil {
		return nil, err
	}
	return startStore(ctx, path, func(address string) []string {
		return []string{"--config.file=" + config, "--storage.tsdb.path=" + dir, "--storage.tsdb.retention.time=10y", "--web.listen-address=" + address, "--log.level=error"}
	}, "/-/ready")
}

// patience is how long a store may take to start. It opens its data first, which takes long if there is much.
const patience = 60 * time.Second

func startStore(ctx context.Context, path string, args func(address string) []string, ready string) (*Store, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := l.Addr().String()
	_ = l.Close()
	s := &Store{Address: "http://" + address}
	s.cmd = exec.CommandContext(ctx, path, args(address)...)
	s.cmd.Stdout, s.cmd.Stderr = &s.said, &s.said
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(syscall.SIGTERM) }
	s.cmd.WaitDelay = 20 * time.Second
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	for until := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		resp, err := http.Get(s.Address + ready)
		if err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return s, nil
			}
		}
		if time.Now().After(until) {
			s.Stop()
			return nil, fmt.Errorf("%s does not begin: %s", path, s.said.String())
		}
	}
}

// Stop ends the store.
func (s *Store) Stop() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	_ = s.cmd.Wait()
}

// Import sends the series of some hosts to a VictoriaMetrics, in the form that [Fleet.Lines] writes. [Store.Flush]
// makes them searchable.
func (s *Store) Import(f *Fleet, from, until int) error {
	r, w := io.Pipe()
	go func() { _ = w.CloseWithError(f.Lines(w, from, until)) }()
	resp, err := http.Post(s.Address+"/api/v1/import", "application/stream+json", r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		text, _ := io.ReadAll(resp.Body)
		return fmt.Errorf("import: %s: %s", resp.Status, text)
	}
	return nil
}

// Flush makes imported series searchable at once.
func (s *Store) Flush() error {
	resp, err := http.Get(s.Address + "/internal/force_flush")
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
