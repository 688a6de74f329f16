package main

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// serve is the program "serve" of the scripts: a server in a process of its own. Its argument says how it behaves, and it ends with
// its standard input.
func serve() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(l.Addr())
	go answer(l, os.Args[1])
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func answer(l net.Listener, how string) {
	ok := http.NewServeMux()
	ok.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	switch how {
	case "pprof":
		ok.HandleFunc("/debug/pprof/", pprof.Index)
		ok.HandleFunc("/debug/pprof/profile", pprof.Profile)
		ok.HandleFunc("/debug/pprof/trace", pprof.Trace)
		_ = http.Serve(l, ok)
	case "http":
		_ = http.Serve(l, ok)
	case "tls": // with a self-signed certificate
		s := httptest.NewUnstartedServer(ok)
		s.StartTLS()
		_ = http.Serve(tls.NewListener(l, s.TLS), ok)
	default:
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				switch how {
				case "echo":
					_, _ = io.Copy(c, c)
				case "redis":
					for lines := bufio.NewScanner(c); lines.Scan(); {
						fmt.Fprintf(c, "-ERR unknown command '%s'\r\n", strings.Fields(lines.Text() + " ?")[0])
					}
				case "silent":
					_, _ = io.Copy(io.Discard, c)
				case "hangup":
				}
			}()
		}
	}
}

// startServer starts a server and sets the variables X to its address and X_PID to its PID: server X silent
func startServer(ts *testscript.TestScript, _ bool, args []string) {
	program := exec.Command("serve", args[1])
	in, err := program.StdinPipe()
	ts.Check(err)
	out, err := program.StdoutPipe()
	ts.Check(err)
	ts.Check(program.Start())
	ts.Defer(func() {
		_ = in.Close()
		_ = program.Process.Kill() // the script may have ended it
		_ = program.Wait()
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	ts.Check(err)
	ts.Setenv(args[0], strings.TrimSpace(address))
	ts.Setenv(args[0]+"_PID", strconv.Itoa(program.Process.Pid))
}

// end kills a process: end PID
func end(ts *testscript.TestScript, _ bool, args []string) {
	pid, err := strconv.Atoi(args[0])
	ts.Check(err)
	p, err := os.FindProcess(pid)
	ts.Check(err)
	ts.Check(p.Kill())
}

// holds waits until a file has at least so many bytes: holds FILE 4096
func holds(ts *testscript.TestScript, _ bool, args []string) {
	least, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	for range 3000 {
		if fi, err := os.Stat(ts.MkAbs(args[0])); err == nil && fi.Size() >= least {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	ts.Fatalf("%s does not hold %d bytes after 30 s", args[0], least)
}
