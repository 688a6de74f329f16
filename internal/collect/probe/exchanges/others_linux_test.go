package exchanges

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/unstall/unstall/dev/tools/tooltest"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/probetest"
	"github.com/unstall/unstall/internal/collect/probe/tracepoint"
)

// recordOf begins to record a process.
func recordOf(t *testing.T, pid int) *probetest.Recording {
	t.Helper()
	r := probetest.Begin(t, findAccess(t.Context(), discover.Target{PID: pid})[0])
	r.Wait(t, "exchanges.txt", func(b []byte) bool { return bytes.Contains(b, []byte("until")) })
	return r
}

// startIn starts a program in a folder, until the test ends.
func startIn(t *testing.T, dir string, as *syscall.Credential, env []string, program string, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.Command(program, args...)
	c.Dir, c.Env = dir, append(os.Environ(), env...)
	c.SysProcAttr = &syscall.SysProcAttr{Credential: as, Pdeathsig: syscall.SIGKILL}
	log, err := os.Create(filepath.Join(dir, filepath.Base(program)+".log"))
	if err != nil {
		t.Fatal(err)
	}
	c.Stdout, c.Stderr = log, log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Signal(syscall.SIGQUIT); _ = c.Wait(); log.Close() })
	return c
}

// nobody runs PostgreSQL, which root may not.
const nobody = 65534

// Statements over the UNIX socket of a real PostgreSQL are told with how they leave the transaction, and those of its server as what it
// was asked are not taken for requests.
func TestPostgreSQL(t *testing.T) {
	if err := tracepoint.Try(); err != nil || os.Geteuid() != 0 {
		t.Skipf("it needs root, and types of the kernel: %v", err)
	}
	postgres := tooltest.Find(t, "postgres")
	bin := filepath.Dir(postgres)
	for _, pattern := range []string{filepath.Join(bin, "root/usr/lib/postgresql/*/bin"), "/usr/lib/postgresql/*/bin"} {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			bin = found[len(found)-1]
			break
		}
	}
	dir, err := os.MkdirTemp("", "unstall-pg")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	libraries := []string{"LD_LIBRARY_PATH=" + filepath.Join(filepath.Dir(postgres), "root/usr/lib/x86_64-linux-gnu") + ":" + filepath.Join(filepath.Dir(postgres), "root/usr/lib/aarch64-linux-gnu")}
	as := &syscall.Credential{Uid: nobody, Gid: nobody}
	init := exec.Command(filepath.Join(bin, "initdb"), "-D", dir+"/db", "-U", "shop", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	init.Dir, init.Env, init.SysProcAttr = dir, append(os.Environ(), libraries...), &syscall.SysProcAttr{Credential: as}
	if out, err := init.CombinedOutput(); err != nil {
		t.Skipf("initdb: %v\n%s", err, out)
	}
	startIn(t, dir, as, libraries, filepath.Join(bin, "postgres"), "-D", dir+"/db", "-c", "listen_addresses=", "-c", "unix_socket_directories="+dir, "-c", "fsync=off")
	psql := exec.Command(filepath.Join(bin, "psql"), "-qAtX", "-h", dir, "-U", "shop", "template1")
	if _, err := os.Stat(psql.Path); err != nil {
		t.Skip(err)
	}
	socket := filepath.Join(dir, ".s.PGSQL.5432")
	var out bytes.Buffer
	for tries := 0; ; tries++ { // the server accepts when it has started
		ready := exec.Command(psql.Path, "-qAtX", "-h", dir, "-U", "shop", "-c", "create table stock (id int, owner text)", "template1")
		ready.Env = append(os.Environ(), libraries...)
		text, err := ready.CombinedOutput()
		if err == nil {
			break
		}
		if tries > 200 {
			t.Fatalf("PostgreSQL does not start: %s", text)
		}
	}
	psql.Env, psql.Stdout, psql.Stderr = append(os.Environ(), libraries...), &out, &out
	in, err := psql.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	psql.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := psql.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { in.Close(); _ = psql.Wait() }()
	r := recordOf(t, psql.Process.Pid)
	fmt.Fprint(in, "begin;\nupdate stock set owner = 'secret' where id = 4711;\ncommit;\nselect count(*) from stock where pg_sleep(0.05) is not null;\nselect 1 from nowhere;\nselect 2;\n")
	want := []string{"postgresql open BEGIN", "postgresql open UPDATE stock", "postgresql idle COMMIT", "postgresql idle SELECT stock", "postgresql failed SELECT nowhere"}
	r.Wait(t, "exchanges.txt", func(b []byte) bool {
		for _, w := range want {
			if !bytes.Contains(b, []byte(" unix:"+socket+" "+w+"\n")) {
				return false
			}
		}
		return true
	})
	if err := r.End(); err != nil {
		t.Fatal(err)
	}
	for _, a := range r.Kept {
		if text := a.String(); strings.Contains(text, "secret") || !strings.Contains(text, "p unix:"+socket+" ") {
			t.Errorf("told:\n%s", text)
		}
	}
}

// Behind nginx a service sees each request over its UNIX socket, and nginx that of its client and its call of the service.
func TestNginx(t *testing.T) {
	if err := tracepoint.Try(); err != nil || os.Geteuid() != 0 {
		t.Skipf("it needs root, and types of the kernel: %v", err)
	}
	nginx := tooltest.Find(t, "nginx")
	dir := t.TempDir()
	dependency, front := listen(t, filepath.Join(dir, "dependency")), listen(t, "127.0.0.1:0")
	go answerAll(dependency, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	child := probetest.Play(t, "service", nil, filepath.Join(dir, "service"), dependency.Addr().String())
	port := front.Addr().String()
	front.Close()
	config := filepath.Join(dir, "nginx.conf")
	err := os.WriteFile(config, []byte(strings.NewReplacer("DIR", dir, "PORT", port, "SERVICE", child.Said).Replace(`
pid DIR/pid; error_log DIR/error.log; daemon off; master_process off; worker_processes 1;
events {}
http { access_log off; client_body_temp_path DIR; proxy_temp_path DIR; fastcgi_temp_path DIR; uwsgi_temp_path DIR; scgi_temp_path DIR;
 server { listen PORT; location / { proxy_pass http://unix:SERVICE:; } } }
`)), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	proxy := startIn(t, dir, nil, nil, nginx, "-c", config, "-p", dir)
	get := func() bool {
		answer, err := http.Get("http://" + port + "/orders/4711?token=secret")
		if err != nil {
			return false
		}
		answer.Body.Close()
		return answer.StatusCode == http.StatusCreated
	}
	for tries := 0; !get(); tries++ {
		if probe.Wait(t.Context(), 10*time.Millisecond); tries > 3000 {
			log, _ := os.ReadFile(filepath.Join(dir, "error.log"))
			t.Fatalf("nginx does not answer: %s", log)
		}
	}
	service, before := recordOf(t, child.Process.Pid), recordOf(t, proxy.Process.Pid)
	enough := func(what string) func([]byte) bool {
		return func(b []byte) bool { get(); return bytes.Count(b, []byte(what)) >= 5 }
	}
	service.Wait(t, "exchanges.txt", enough(" - http 201 GET /orders/{id}\n"))
	before.Wait(t, "exchanges.txt", enough(" unix:"+child.Said+" http 201 GET /orders/{id}\n"))
	for _, r := range []*probetest.Recording{service, before} {
		if err := r.End(); err != nil {
			t.Fatal(err)
		}
		for _, a := range r.Kept {
			if text := a.String(); strings.Contains(text, "secret") || r == service && !strings.Contains(text, fmt.Sprintf("p unix:%s %d nginx\n", child.Said, proxy.Process.Pid)) {
				t.Errorf("told:\n%s", text)
			}
		}
	}
}
