package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/unstall/unstall/dev/tools/tooltest"
	"github.com/unstall/unstall/internal/collect/capture"
)

// sshd starts an OpenSSH server for the test on loopback, with its own keys, and puts an ssh on PATH whose configuration calls the
// server shop-1. It returns the folder with the files left on that host.
func sshd(t *testing.T) (there string) {
	t.Helper()
	server := tooltest.Find(t, "sshd")
	ssh, err := exec.LookPath("ssh")
	keygen, e := exec.LookPath("ssh-keygen")
	if err != nil || e != nil {
		t.Skip("no OpenSSH client here")
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	dir, there := t.TempDir(), t.TempDir()
	for _, key := range []string{"host", "mine"} {
		if out, err := exec.Command(keygen, "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, key)).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") // sshd does not tell which port it took, so the test picks one
	if err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	_ = l.Close()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	config := write("sshd_config", fmt.Sprintf("ListenAddress 127.0.0.1:%s\nHostKey %s/host\nAuthorizedKeysFile %[2]s/mine.pub\nPidFile none\nStrictModes no\nPermitRootLogin yes\nPasswordAuthentication no\nSetEnv TMPDIR=%s\n", port, dir, there), 0o600)
	client := write("ssh_config", fmt.Sprintf("Host shop-1\n\tHostName 127.0.0.1\n\tPort %s\n\tUser %s\n\tIdentityFile %s/mine\n\tIdentitiesOnly yes\n\tUserKnownHostsFile %[3]s/known\n\tStrictHostKeyChecking accept-new\n\tBatchMode yes\n", port, me.Username, dir), 0o600)
	write("ssh", fmt.Sprintf("#!/bin/sh\nexec %s -F %s \"$@\"\n", ssh, client), 0o700)
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))

	if real := filepath.Join(filepath.Dir(server), "root/usr/sbin/sshd"); exists(real) { // sshd starts itself again by its own path
		libraries, _ := filepath.Glob(filepath.Join(filepath.Dir(server), "root/*/lib/*-linux-gnu"))
		more, _ := filepath.Glob(filepath.Join(filepath.Dir(server), "root/lib/*-linux-gnu"))
		t.Setenv("LD_LIBRARY_PATH", strings.Join(append(libraries, more...), ":"))
		server = real
	}
	c := exec.Command(server, "-D", "-e", "-f", config)
	if os.Geteuid() == 0 { // as root sshd needs a folder and a user of its own, in a namespace of its own
		passwd, err := os.ReadFile("/etc/passwd")
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(passwd, []byte("\nsshd:")) {
			passwd = append(passwd, "sshd:x:65533:65534::/run/sshd:/usr/sbin/nologin\n"...)
		}
		c = exec.Command("sh", append([]string{"-ec", `mount -t tmpfs -o mode=755 none /run; mkdir -m 755 /run/sshd; mount --bind "$0" /etc/passwd; exec "$@"`,
			write("passwd", string(passwd), 0o644)}, c.Args...)...)
		c.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err == nil {
		c.Stderr = log
		err = c.Start()
	}
	if err != nil {
		t.Skipf("no other host can be made here: %v", err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait(); _ = log.Close() })
	t.Setenv("LD_LIBRARY_PATH", "")
	eventually(t, "sshd listens", func() bool {
		text, _ := os.ReadFile(log.Name())
		if strings.Contains(string(text), "fatal") || strings.Contains(string(text), "mount:") {
			t.Skipf("no other host can be made here: %s", text)
		}
		return bytes.Contains(text, []byte("Server listening"))
	})
	return there
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// A process of another host is recorded, and diagnosed here. Nothing stays on that host, neither at the end, nor after Ctrl-C, nor
// after a lost connection.
func TestAnotherHost(t *testing.T) {
	there := sshd(t)
	target := program(t, "touch")
	if err := target.Start(); err != nil {
		t.Fatal(err)
	}
	address := fmt.Sprintf("ssh://shop-1/%d", target.Process.Pid)
	nothing := func() bool {
		files, err := os.ReadDir(there)
		return err == nil && len(files) == 0
	}
	for _, c := range []struct {
		name  string
		how   string
		while func(t *testing.T, c *exec.Cmd)
		code  int
		says  string
		ended bool
	}{
		{"whole", "2s", nil, 0, "NOT SEEN", true},
		{"Ctrl-C", "5m", func(t *testing.T, c *exec.Cmd) { // a terminal sends it to the whole foreground process group
			if err := syscall.Kill(-c.Process.Pid, syscall.SIGINT); err != nil {
				t.Error(err)
			}
		}, 0, "NOT SEEN", true},
		{"connection lost", "5m", func(t *testing.T, c *exec.Cmd) {
			for _, id := range children(t, c.Process.Pid) { // the child is ssh
				_ = syscall.Kill(id, syscall.SIGKILL)
			}
		}, 3, "ssh://shop-1: the connection was lost", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.unstall")
			run := program(t, "unstall", address, "--for", c.how, "--no-kernel", "--capture", path)
			var out bytes.Buffer
			run.Stdout, run.Stderr = &out, &out
			run.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			if err := run.Start(); err != nil {
				t.Fatal(err)
			}
			if c.while != nil {
				eventually(t, "something was recorded", func() bool {
					r, err := capture.Open(path)
					return err == nil && len(r.Artifacts()) > 0
				})
				c.while(t, run)
			}
			_ = run.Wait()
			if code := run.ProcessState.ExitCode(); code != c.code || !strings.Contains(out.String(), c.says) {
				t.Errorf("exit %d, want %d, and %q in:\n%s", code, c.code, c.says, out.String())
			}
			if r, err := capture.Open(path); err != nil || len(r.Artifacts()) == 0 || r.Ended != c.ended {
				t.Errorf("capture: %v, %+v", err, r)
			}
			eventually(t, "nothing is left there", nothing)
		})
	}
}

// children returns the child processes of all threads of a process.
func children(t *testing.T, pid int) (all []int) {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil || len(files) == 0 {
		t.Skip("this kernel does not list children")
	}
	for _, f := range files {
		text, _ := os.ReadFile(f)
		for _, word := range strings.Fields(string(text)) {
			if id, err := strconv.Atoi(word); err == nil {
				all = append(all, id)
			}
		}
	}
	return all
}
