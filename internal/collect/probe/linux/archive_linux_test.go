package linux

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// An unchanged file is written again only at the end, and before a change. So its counts after the change lie between those two, not
// since the first writing.
func TestSparse(t *testing.T) {
	path := t.TempDir() + "/events"
	var out strings.Builder
	a := &archive{out: &out, most: 1}
	f := newSparseFile(path, "/events")
	set := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range []string{"1\n", "1\n", "1\n", "2\n", "3\n", "3\n", "3\n"} {
		set(text)
		if err := a.appendFile(f); err != nil {
			t.Fatal(err)
		}
	}
	a.whole = true
	if err := a.appendFile(f); err != nil {
		t.Fatal(err)
	}
	a.endFile(f)
	if err := a.flush(); err != nil {
		t.Fatal(err)
	}
	got := regexp.MustCompile(`-- \d+ `).ReplaceAllString(out.String(), "-- ")
	if want := strings.Repeat("-- /events --\n1\n", 2) + "-- /events --\n2\n" + strings.Repeat("-- /events --\n3\n", 2); got != want {
		t.Errorf("wrote\n%s\nwant\n%s", got, want)
	}
	times := regexp.MustCompile(`\d{18,}`).FindAllString(out.String(), -1)
	for i := 1; i < len(times); i++ {
		if times[i] <= times[i-1] {
			t.Errorf("times %v", times)
		}
	}
}

// The last text of a file that disappeared is written.
func TestGone(t *testing.T) {
	path := t.TempDir() + "/stat"
	if err := os.WriteFile(path, []byte("1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	a := &archive{out: &out, most: 1}
	f := newSparseFile(path, "/stat")
	for range 3 {
		if err := a.appendFile(f); err != nil {
			t.Fatal(err)
		}
	}
	a.endFile(f)
	_ = a.flush()
	if n := strings.Count(out.String(), "/stat --\n1\n"); n != 2 {
		t.Errorf("written %d times, want when it was first and last read:\n%s", n, out.String())
	}
}

// The lack for what a control group does not count says who can switch it on.
func TestGroupLacks(t *testing.T) {
	dir := t.TempDir()
	app := filepath.Join(dir, "kube", "app")
	if err := os.MkdirAll(app, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"cgroup.procs", "memory.stat", "cpu.max"} {
		if err := os.WriteFile(filepath.Join(app, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	mounts := map[string]cgroupMount{"": {root: "/", point: dir}}
	got := groupLacks("0::/kube/app\n", mounts)
	if len(got) != 1 || !strings.HasPrefix(got[0].What, "disk I/O") || got[0].Do != "echo +io | sudo tee "+dir+"/kube/cgroup.subtree_control" {
		t.Errorf("lacks %+v", got)
	}
	if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	mounts["memory"] = cgroupMount{root: "/", point: dir}
	for _, groups := range []string{"0::/kube/app\n", "0::/\n", "4:memory:/kube/app\n"} {
		if got := groupLacks(groups, mounts); len(got) > 0 {
			t.Errorf("%q beside version 1: %+v", groups, got)
		}
	}
	for _, mounts := range []map[string]cgroupMount{nil, {"": {root: "/", point: dir + "/hidden"}}, {"": {root: "/elsewhere", point: dir}}} {
		if got := groupLacks("0::/kube/app\n", mounts); len(got) != 1 || !strings.HasPrefix(got[0].What, "limits") {
			t.Errorf("mounted %+v: %+v", mounts, got)
		}
	}
	if got := groupLacks("1:name=systemd:/app\n", nil); len(got) > 0 {
		t.Errorf("a process in no group with limits: %+v", got)
	}
}
