package watch

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/unstall/unstall/dev/tools/tooltest"
	"github.com/unstall/unstall/internal/operate/watch/exporter"
	"github.com/unstall/unstall/internal/operate/watch/generate"
	"github.com/unstall/unstall/internal/operate/watch/rule"
)

// free returns a loopback port without a listener.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// server runs a program until the test ends, and waits until it answers.
func server(t *testing.T, ready, path string, args ...string) {
	t.Helper()
	var said bytes.Buffer
	c := exec.Command(path, args...)
	c.Dir, c.Stdout, c.Stderr = t.TempDir(), &said, &said
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	_ = os.Symlink(filepath.Join(filepath.Dir(path), "root/usr/share/prometheus/alertmanager"), filepath.Join(c.Dir, "alertmanager-shared")) // Debian's package, unpacked without installing
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	until(t, 60*time.Second, filepath.Base(path)+" answers", func() bool {
		a, err := http.Get(ready)
		if err != nil {
			return false
		}
		_ = a.Body.Close()
		return a.StatusCode == http.StatusOK
	}, func() string { return said.String() })
}

// until waits for a condition, and fails after a time.
func until(t *testing.T, most time.Duration, what string, is func() bool, else_ func() string) time.Duration {
	t.Helper()
	for began := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		switch {
		case is():
			return time.Since(began)
		case time.Since(began) > most:
			text := ""
			if else_ != nil {
				text = else_()
			}
			t.Fatalf("not after %s: %s\n%s", most, what, text[max(0, len(text)-2000):])
		}
	}
}

// get fetches JSON from a server.
func get(address string, into any) bool {
	a, err := http.Get(address)
	if err != nil {
		return false
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	return err == nil && json.Unmarshal(text, into) == nil
}

// value returns the newest value of a query, "" none.
func value(server, query string) string {
	var of struct {
		Data struct{ Result []struct{ Value []any } }
	}
	if !get("http://"+server+"/api/v1/query?query="+url.QueryEscape(query), &of) || len(of.Data.Result) == 0 || len(of.Data.Result[0].Value) != 2 {
		return ""
	}
	return fmt.Sprint(of.Data.Result[0].Value[1])
}

// TestStores checks that watched figures arrive in Prometheus, both by scraping and by remote write, and in VictoriaMetrics.
// It checks that a rule made for Prometheus fires within 30 s of a fault, reaches Alertmanager, and is resolved afterwards.
func TestStores(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts servers")
	}
	prometheus, alertmanager, victoria := tooltest.Find(t, "prometheus"), tooltest.Find(t, "alertmanager"), tooltest.Find(t, "victoriametrics")
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	rules, err := rule.Load(strings.NewReader("default: none\nrules:\n- {id: test.threads, title: many threads, series: proc/threads, over: 5s, above: 40, for: 0s, clear-for: 2s, severity: note}\n"), "rules.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := generate.Prometheus(&text, rules); err != nil {
		t.Fatal(err)
	}
	write("rules.yml", strings.ReplaceAll(text.String(), "interval: 10s", "interval: 1s")) // the rules themselves stay as users get them
	asked, prom, am, vm := freeAddress(t), freeAddress(t), freeAddress(t), freeAddress(t)
	server(t, "http://"+am+"/-/ready", alertmanager, "--config.file="+write("am.yml", "route: {receiver: none, group_wait: 0s}\nreceivers: [{name: none}]\n"),
		"--storage.path="+dir+"/am", "--web.listen-address="+am, "--cluster.listen-address=")
	config := write("prom.yml", fmt.Sprintf("global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [%s/rules.yml]\nscrape_configs: [{job_name: unstall, static_configs: [{targets: [%q]}]}]\nalerting: {alertmanagers: [{static_configs: [{targets: [%q]}]}]}\n", dir, asked, am))
	server(t, "http://"+prom+"/-/ready", prometheus, "--config.file="+config, "--storage.tsdb.path="+dir+"/prom", "--web.listen-address="+prom, "--web.enable-remote-write-receiver")
	server(t, "http://"+vm+"/health", victoria, "-storageDataPath="+dir+"/vm", "-httpListenAddr="+vm)

	var stores []exporter.Store
	for _, address := range []string{"http://" + vm + "/api/v1/write", "http://" + prom + "/api/v1/write"} {
		s, err := exporter.RemoteWrite(address, "")
		if err != nil {
			t.Fatal(err)
		}
		stores = append(stores, s)
	}
	stores[1].Name = "remote write to Prometheus"
	child := service(t, fmt.Sprintf("stored%d", os.Getpid()%10000))
	_, stop := watching(t, Options{Targets: []string{fmt.Sprint(child.Process.Pid)}, Rules: rules, Dir: dir + "/watch", After: time.Second, Metrics: asked, Stores: stores, PushEach: time.Second}, nil)
	defer stop()
	query := fmt.Sprintf(`unstall_process_threads{pid="%d"}`, child.Process.Pid)
	for _, s := range []string{vm, prom} {
		until(t, 40*time.Second, "threads are told "+s, func() bool { return value(s, query) != "" }, nil)
	}
	until(t, 20*time.Second, "Prometheus has asked", func() bool { return value(prom, `unstall_up{job="unstall"}`) == "1" }, nil)
	until(t, 20*time.Second, "Prometheus was sent", func() bool { return value(prom, `unstall_up{job=""}`) == "1" }, nil)

	// The fault: a hundred threads more.
	if err := child.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	firing := func() bool {
		var alerts []struct {
			Labels map[string]string
			Status struct{ State string }
		}
		return get("http://"+am+"/api/v2/alerts?active=true", &alerts) && len(alerts) > 0 && alerts[0].Labels["alertname"] == "UnstallTestThreads" && alerts[0].Labels["rule"] == "test.threads"
	}
	took := until(t, 30*time.Second, "Alertmanager has the alert", firing, func() string { return value(prom, query) })
	t.Logf("the alert came after %s", took.Round(100*time.Millisecond))
	if v := value(vm, `unstall_alarm{rule="test.threads"}`); v == "" {
		t.Error("VictoriaMetrics has no alarm")
	}
	if err := child.Process.Signal(syscall.SIGUSR2); err != nil {
		t.Fatal(err)
	}
	took = until(t, 90*time.Second, "the alert is resolved", func() bool { return !firing() }, nil)
	t.Logf("it was resolved after %s", took.Round(100*time.Millisecond))
}

// threads makes a process start many threads on command.
func threads(ctx context.Context, more, fewer <-chan os.Signal) {
	for ctx.Err() == nil {
		<-more
		end := make(chan struct{})
		for range 100 {
			go func() {
				lockThread()
				<-end
			}()
		}
		<-fewer
		close(end)
	}
}
