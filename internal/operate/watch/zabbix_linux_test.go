package watch

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/unstall/unstall/dev/tools/tooltest"
	"github.com/unstall/unstall/internal/operate/watch/exporter"
)

// nobody is the user ID that PostgreSQL runs as, because it refuses root.
const nobody = 65534

// TestZabbix checks that watched figures arrive in a real Zabbix server. It checks that a trigger in the template's form fires
// within 30 s of a fault, and ends afterwards. The server has no frontend here, so the test puts host, item and trigger into
// its database. That the template itself can be imported was checked with a frontend.
func TestZabbix(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts servers")
	}
	if os.Geteuid() != 0 {
		t.Skip("PostgreSQL runs as another user: be root")
	}
	zabbix, postgres := tooltest.Find(t, "zabbix"), tooltest.Find(t, "postgres")
	bin := filepath.Dir(postgres)
	for _, pattern := range []string{filepath.Join(bin, "root/usr/lib/postgresql/*/bin"), "/usr/lib/postgresql/*/bin"} {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			bin = found[len(found)-1]
			break
		}
	}
	tables := filepath.Join(filepath.Dir(zabbix), "root/usr/share/zabbix-server-pgsql")
	if _, err := os.Stat(filepath.Join(tables, "schema.sql.gz")); err != nil {
		tables = "/usr/share/zabbix-server-pgsql"
	}
	dir, err := os.MkdirTemp("", "unstall-zabbix") // readable by that user, unlike the test's own directory
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(freeAddress(t))
	libraries := "LD_LIBRARY_PATH=" + strings.Join([]string{filepath.Join(filepath.Dir(postgres), "root/usr/lib/x86_64-linux-gnu"), filepath.Join(filepath.Dir(postgres), "root/usr/lib/aarch64-linux-gnu")}, ":")
	as := func(name string, args ...string) *exec.Cmd {
		c := exec.Command(filepath.Join(bin, name), args...)
		c.Dir, c.Env = dir, append(os.Environ(), libraries)
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}, Pdeathsig: syscall.SIGKILL}
		return c
	}
	if out, err := as("initdb", "-D", dir+"/db", "-U", "zabbix", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync").CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	db := as("postgres", "-D", dir+"/db", "-p", port, "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="+dir, "-c", "fsync=off")
	if err := db.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Process.Signal(syscall.SIGQUIT); _ = db.Wait() })
	sql := func(text string) (string, error) {
		c := as("psql", "-qAtX", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", port, "-U", "zabbix", "template1")
		c.Stdin = strings.NewReader(text)
		out, err := c.CombinedOutput()
		return strings.TrimSpace(string(out)), err
	}
	must := func(text string) string {
		t.Helper()
		out, err := sql(text)
		if err != nil {
			t.Fatalf("%.200s: %v\n%.1000s", text, err, out)
		}
		return out
	}
	until(t, 30*time.Second, "PostgreSQL answers", func() bool { _, err := sql("select 1"); return err == nil }, nil)
	for _, name := range []string{"schema", "images", "data"} {
		f, err := os.Open(filepath.Join(tables, name+".sql.gz"))
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if _, err := text.ReadFrom(z); err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
		must(text.String())
	}
	child := service(t, fmt.Sprintf("items%d", os.Getpid()%10000))
	key := exporter.ZabbixItem(exporter.ZabbixKey("go"), filepath.Base(child.Path), "proc/threads")
	must("update hosts set status = 1;" + // the predefined hosts are not watched here
		"insert into hosts (hostid, host, name, status, description) values (99001, 'web1', 'web1', 0, '');" +
		"insert into items (itemid, type, hostid, name, key_, delay, value_type, params, description, posts, headers) values (99001, 2, 99001, 'threads', '" + key + "', '0', 0, '', '', '', '');" +
		"insert into item_rtdata (itemid) values (99001);" +
		"insert into triggers (triggerid, expression, description, priority, comments, recovery_mode, recovery_expression) values (99001, '{99001}>40', 'many threads', 2, '', 1, '{99002}<36');" +
		"insert into functions (functionid, itemid, triggerid, name, parameter) values (99001, 99001, 99001, 'avg', '$,10s'), (99002, 99001, 99001, 'avg', '$,10s');")
	trapper := lowPort(t)
	config := filepath.Join(dir, "zabbix.conf")
	if err := os.WriteFile(config, []byte(strings.Join([]string{"ListenIP=127.0.0.1", "ListenPort=" + trapper, "LogType=console", "PidFile=" + dir + "/zabbix.pid", "SocketDir=" + dir, "DBHost=127.0.0.1", "DBPort=" + port,
		"DBName=template1", "DBUser=zabbix", "AllowRoot=1", "StartPollers=1", "StartPollersUnreachable=1", "StartPingers=0", "StartDiscoverers=0", "StartHTTPPollers=0", "StartTrappers=2", "CacheUpdateFrequency=1", "FpingLocation=/bin/true", "Fping6Location=/bin/true"}, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	server := exec.Command(zabbix, "-f", "-c", config)
	server.Stdout, server.Stderr = &said, &said
	server.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Signal(syscall.SIGTERM); _ = server.Wait() })

	store, err := exporter.Zabbix("127.0.0.1:"+trapper, "web1")
	if err != nil {
		t.Fatal(err)
	}
	_, stop := watching(t, Options{Targets: []string{fmt.Sprint(child.Process.Pid)}, Rules: rules(t, "- {id: any, title: it is there, series: proc/threads, above: 1000}\n"), Dir: dir + "/watch", After: time.Second, Stores: []exporter.Store{store}, PushEach: time.Second}, nil)
	defer stop()
	until(t, 60*time.Second, "figures arrive", func() bool {
		n, _ := sql("select count(*) from history where itemid = 99001")
		return n != "" && n != "0"
	}, func() string { return said.String() })
	fires := func(want string) func() bool {
		return func() bool { v, _ := sql("select value from triggers where triggerid = 99001"); return v == want }
	}
	if err := child.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	took := until(t, 30*time.Second, "the trigger fires", fires("1"), func() string { return said.String() })
	t.Logf("the trigger fired after %s", took.Round(100*time.Millisecond))
	if err := child.Process.Signal(syscall.SIGUSR2); err != nil {
		t.Fatal(err)
	}
	took = until(t, 60*time.Second, "the trigger ends", fires("0"), func() string { return said.String() })
	t.Logf("it ended after %s", took.Round(100*time.Millisecond))
}

// lowPort returns a free port below 32768, as Zabbix requires.
func lowPort(t *testing.T) string {
	t.Helper()
	for n := range 1000 {
		port := fmt.Sprint(20_000 + (os.Getpid()*7+n)%12_000)
		if l, err := net.Listen("tcp", "127.0.0.1:"+port); err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return ""
}
