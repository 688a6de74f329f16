// Shop starts the parts of a web shop, each in its usual form: nginx, PHP-FPM with a pool of workers, and a
// Redis that holds products, sessions and carts. All of them listen on loopback and on UNIX sockets, keep
// their files in one folder, and end with this program.
//
//	shop -nginx=… -php=… -redis=… -files=DIR/
//	     -workers=3            too few of them for what they wait for
//	     -tcp                  PHP asks Redis over TCP, not over a UNIX socket
//	     -job=keys             somebody lists all keys again and again
//	     -fsync                each write is on the disk before it is answered
//	     -thp                  Redis has huge pages, which it switches off for itself otherwise
package main

import (
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/unstall/unstall/lab/service"
)

type shop struct {
	nginx, php, redis string // programs
	dir               string
	workers           int
	tcp, fsync, thp   bool
	job               string
	keys, large       int // of Redis: how many, and MiB of large values

	address string // of nginx
	store   string // of Redis, as PHP is told: a path, or host:port
	started []*exec.Cmd
}

func main() {
	s := service.New()
	var x shop
	flag.StringVar(&x.nginx, "nginx", "nginx", "the program")
	flag.StringVar(&x.php, "php", "php-fpm8.2", "the program")
	flag.StringVar(&x.redis, "redis", "redis-server", "the program")
	flag.StringVar(&x.dir, "files", "", "the first part of the path of the folder for its files")
	flag.IntVar(&x.workers, "workers", 16, "how many PHP may have (pm.max_children)")
	flag.BoolVar(&x.tcp, "tcp", false, "ask Redis over TCP")
	flag.BoolVar(&x.fsync, "fsync", false, "have each write to Redis on the disk before it is answered")
	flag.BoolVar(&x.thp, "thp", false, "let Redis have huge pages (disable-thp no)")
	flag.StringVar(&x.job, "job", "", "what else asks Redis: keys")
	flag.IntVar(&x.keys, "keys", 1000, "how many keys there are beside those of the products")
	flag.IntVar(&x.large, "large", 0, "MiB of large values in Redis")
	flag.Parse()
	runtime.LockOSThread() // children of this thread end with it: see launch
	err := x.openShop()
	if err == nil {
		s.Front(x.address, x.programPIDs()...)
		s.Run()
	}
	x.close()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (x *shop) openShop() (err error) {
	x.dir += "shop"
	if x.dir, err = filepath.Abs(x.dir); err != nil {
		return err
	}
	if err := os.RemoveAll(x.dir); err != nil { // left by an earlier run: Redis would load it
		return err
	}
	for _, name := range []string{"www/static", "www/photos", "tmp", "store"} {
		if err := os.MkdirAll(filepath.Join(x.dir, name), 0o755); err != nil {
			return err
		}
	}
	if x.address, err = freeAddress(); err != nil {
		return err
	}
	if x.store = filepath.Join(x.dir, "redis.sock"); x.tcp {
		if x.store, err = freeAddress(); err != nil {
			return err
		}
	}
	if err := x.writeFiles(); err != nil {
		return err
	}
	redis := []string{"--port", "0", "--unixsocket", x.store}
	if x.tcp {
		host, port, _ := net.SplitHostPort(x.store)
		redis = []string{"--bind", host, "--port", port}
	}
	redis = append(redis, "--dir", filepath.Join(x.dir, "store"), "--save", "", "--daemonize", "no", "--logfile", filepath.Join(x.dir, "redis.log"))
	if x.fsync {
		redis = append(redis, "--appendonly", "yes", "--appendfsync", "always")
	}
	if x.thp {
		redis = append(redis, "--disable-thp", "no")
	}
	as := []string(nil)
	if os.Geteuid() == 0 {
		as = []string{"-R"} // its workers may run as root
	}
	for _, p := range []struct {
		bin, at string
		args    []string
	}{
		{x.nginx, x.address, []string{"-p", x.dir, "-e", filepath.Join(x.dir, "nginx.error.log"), "-c", filepath.Join(x.dir, "nginx.conf")}},
		{x.php, x.phpSocket(), append(as, "-F", "-p", x.dir, "-y", filepath.Join(x.dir, "php-fpm.conf"))},
		{x.redis, x.store, redis},
	} {
		if err := x.launchProgram(p.bin, p.at, p.args...); err != nil {
			return err
		}
	}
	return x.fillRedis()
}

// phpSocket returns the path of the socket that PHP listens on.
func (x *shop) phpSocket() string { return filepath.Join(x.dir, "php.sock") }

// freeAddress returns an unused address on loopback.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// launchProgram starts a program and waits until it accepts connections. The program ends when
// this one does, however this one ends.
func (x *shop) launchProgram(bin, at string, args ...string) error {
	said, err := os.Create(filepath.Join(x.dir, filepath.Base(bin)+".out"))
	if err != nil {
		return err
	}
	defer said.Close()
	c := exec.Command(bin, args...)
	c.Dir, c.Stdout, c.Stderr, c.SysProcAttr = x.dir, said, said, endWithParent()
	if err := c.Start(); err != nil {
		return err
	}
	x.started = append(x.started, c)
	for late := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		conn, err := dialAddress(at)
		if err == nil {
			return conn.Close()
		}
		if time.Now().After(late) || c.Process.Signal(syscall.Signal(0)) != nil {
			text, _ := os.ReadFile(said.Name())
			return fmt.Errorf("%s does not accept connections at %s: %w: %s", filepath.Base(bin), at, err, text)
		}
	}
}

// dialAddress connects to a path or to host:port.
func dialAddress(at string) (net.Conn, error) {
	if filepath.IsAbs(at) {
		return net.DialTimeout("unix", at, time.Second)
	}
	return net.DialTimeout("tcp", at, time.Second)
}

// programPIDs returns the PIDs of nginx, PHP and Redis; for nginx and PHP those of the masters.
func (x *shop) programPIDs() (all []int) {
	for _, c := range x.started {
		all = append(all, c.Process.Pid)
	}
	return all
}

// close ends all programs, those that send requests before those that answer them.
func (x *shop) close() {
	for _, c := range x.started {
		_ = c.Process.Signal(syscall.SIGTERM)
		ended := make(chan struct{})
		go func() {
			_ = c.Wait()
			close(ended)
		}()
		select {
		case <-ended:
		case <-time.After(3 * time.Second):
			_ = c.Process.Kill()
			<-ended
		}
	}
}
