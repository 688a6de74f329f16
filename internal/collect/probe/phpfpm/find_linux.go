package phpfpm

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/format/phpfpm"
)

// runtimeID is the ID of PHP-FPM among the runtimes.
const runtimeID = "php-fpm"

// findAccess returns one access for a master process whose configuration can be read.
func findAccess(_ context.Context, t discover.Target) []probe.Access {
	if t.PID <= 0 || t.Runtime != runtimeID {
		return nil
	}
	path := configurationOf(t.PID)
	if path == "" {
		return nil // a worker, or one that was started by a name of its own
	}
	pools, err := readConfiguration(fmt.Sprintf("/proc/%d/root", t.PID), path)
	if errors.Is(err, fs.ErrPermission) {
		return []probe.Access{{Probe: name, Where: path, Missing: fmt.Errorf("%s: the configuration of PHP-FPM may not be read: sudo unstall %d", path, t.PID)}}
	}
	if err != nil || len(pools) == 0 {
		return nil
	}
	r := &recorder{target: t, pools: pools, ownNet: sameNet(t.PID)}
	a := probe.Access{Probe: name, Where: path, Record: r.recordPools}
	for _, p := range pools {
		if p.findSetting("pm.status_path") == "" {
			a.Lacks = append(a.Lacks, probe.Lack{What: fmt.Sprintf("how many workers of pool %s are busy", p.name), Why: "it has no status page",
				Do: fmt.Sprintf("set pm.status_path = /status in [%s] of %s and reload PHP-FPM", p.name, p.file)})
		}
	}
	return []probe.Access{a}
}

// configurationOf is the file that a master names in its title: "php-fpm: master process (/etc/php-fpm.conf)"
// (fpm_env.c); "" unknown.
func configurationOf(pid int) string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return ""
	}
	_, rest, ok := strings.Cut(string(b), "master process (")
	path, _, ended := strings.Cut(rest, ")")
	if !ok || !ended || !filepath.IsAbs(path) {
		return ""
	}
	return path
}

// sameNet says whether a process is in our own network namespace: its addresses are ours.
func sameNet(pid int) bool {
	own, err := os.Readlink("/proc/self/ns/net")
	its, err2 := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", pid))
	return err == nil && err2 == nil && own == its
}

// How often a pool is asked, and for how long it is waited for: as long as most web servers wait.
const (
	every    = time.Second
	patience = 10 * time.Second
)

type recorder struct {
	target discover.Target
	pools  []*pool
	ownNet bool
}

func (r *recorder) recordPools(ctx context.Context, plan probe.Plan, sink probe.Sink) error {
	if plan.For > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, plan.For)
		defer cancel()
	}
	about := r.target.Subject()
	conf, err := sink.Create(capture.Meta{Name: "php-fpm.conf", Probe: name, Origin: configurationOf(r.target.PID), About: about})
	if err != nil {
		return err
	}
	_, err = conf.Write(formatPools(r.pools))
	if err = errors.Join(err, conf.Close()); err != nil {
		return err
	}
	out, err := sink.Create(capture.Meta{Name: "php-fpm-status.txt", Probe: name, Origin: "pm.status_path", About: about, Continues: true})
	if err != nil {
		return err
	}
	failed := make(map[string]bool)
	for ctx.Err() == nil {
		for _, p := range r.pools {
			b, err := r.askPool(ctx, p)
			if err != nil && ctx.Err() == nil && !failed[p.name] {
				failed[p.name] = true
				sink.Warnf("php-fpm pool %s: its status page does not answer: %v", p.name, err)
			}
			if len(b) > 0 {
				if _, err := out.Write(b); err != nil {
					return errors.Join(err, out.Close())
				}
			}
		}
		probe.Wait(ctx, every)
	}
	return out.Close()
}

// askPool asks a pool for its status page, and how many connections wait at its socket then.
func (r *recorder) askPool(ctx context.Context, p *pool) ([]byte, error) {
	path := p.findSetting("pm.status_path")
	if path == "" || len(path) > longestPath {
		return nil, nil
	}
	listen := p.findSetting("listen")
	c, err := r.dialPool(ctx, cmp.Or(p.findSetting("pm.status_listen"), listen))
	if err != nil {
		return nil, err
	}
	before, told := r.countWaiting(listen) // when it was asked: the page itself may wait behind them
	now := time.Now()
	answer, err := requestPage(c, path, "json", now.Add(patience))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "== %d php-fpm status of %d ==\n%s\n", now.UnixNano(), r.target.PID, bytes.TrimSpace(answer))
	if told {
		fmt.Fprintf(&b, "listen queue of %s: %d\n", p.name, before)
	}
	return b.Bytes(), nil
}

// dialPool connects to where a pool listens.
func (r *recorder) dialPool(ctx context.Context, listen string) (net.Conn, error) {
	var d net.Dialer
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if path, ok := strings.CutPrefix(phpfpm.ListenAddress(listen), "unix:"); ok {
		return d.DialContext(ctx, "unix", fmt.Sprintf("/proc/%d/root%s", r.target.PID, path))
	}
	if !r.ownNet {
		return nil, errors.New("it listens in another network namespace")
	}
	return d.DialContext(ctx, "tcp", phpfpm.ListenAddress(listen))
}

// countWaiting returns how many connections wait at a UNIX socket; for TCP the status page tells
// that.
func (r *recorder) countWaiting(listen string) (n int, ok bool) {
	path, is := strings.CutPrefix(phpfpm.ListenAddress(listen), "unix:")
	if !is || !r.ownNet {
		return 0, false
	}
	all, err := listBacklogs()
	if err != nil {
		return 0, false
	}
	n, ok = all[path]
	return n, ok
}
