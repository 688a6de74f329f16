package interpreter

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/probetest"
)

// nodes are the programs node of this machine: that on the path, and those that dev/tools/node-versions.sh fetched.
func nodes(t testing.TB) (all []string) {
	found, _ := filepath.Glob("../../../../.tools/node-versions/*/node")
	for _, name := range append([]string{"node"}, found...) {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if path, err = filepath.EvalSymlinks(path); err != nil {
			continue
		}
		if path, err = filepath.Abs(path); err == nil && !slices.Contains(all, path) {
			all = append(all, path)
		}
	}
	if len(all) == 0 || runtime.GOARCH != "amd64" {
		t.Skip("it needs Node.js (node), on amd64")
	}
	return all
}

// busy runs each of its functions in turn on its main thread, and one in a worker.
const busy = `'use strict';
const crypto = require('crypto'), child = require('child_process'), { Worker, isMainThread } = require('worker_threads');

const rows = Array.from({ length: 5000 }, (_, i) => ({ id: i, name: 'n' + i }));

function hashPassword(text) {
  return crypto.pbkdf2Sync(text, 'salt', 5000, 32, 'sha512');
}

class Report {
  render() {
    return JSON.stringify(rows);
  }
}

function checkPath(text) {
  return /^(a+)+$/.test(text);
}

function sumRoots(n) {
  let sum = 0;
  for (let i = 0; i < n; i++) sum += Math.sqrt(i) % 3;
  return sum;
}

const naïve = (n) => (n < 2 ? n : naïve(n - 1) + naïve(n - 2));

function runChild() {
  child.execFileSync('sleep', ['0.2']);
}

function inWorker() {
  for (;;) sumRoots(1e6);
}

const work = {
  hash: () => hashPassword('secret'),
  json: () => new Report().render(),
  path: () => checkPath('a'.repeat(16) + '!'),
  sum: () => sumRoots(1e5),
  naive: () => naïve(15),
};

if (isMainThread) {
  new Worker(__filename);
  const names = Object.keys(work);
  let turn = 0;
  setInterval(() => {
    if (turn % 6 === 5) runChild();
    else for (const end = Date.now() + 50; Date.now() < end; ) work[names[turn % 6]]();
    turn++;
  }, 1);
  console.log('ready');
} else inWorker();
`

func startNode(t testing.TB, node string) *probetest.Child {
	file := filepath.Join(t.TempDir(), "shop.js")
	if err := os.WriteFile(file, []byte(busy), 0o644); err != nil {
		t.Fatal(err)
	}
	return probetest.PlayCommand(t, exec.Command(node, file))
}

type sight struct {
	state  State
	frames []string // beginnings
}

// sights are what samples of the program must show: what is innermost of the frames, and those outside of it in this order.
var sights = []sight{
	{Running, []string{"node: *", "shop.js:6 hashPassword", "shop.js:37 hash"}},
	{Running, []string{"node: *v8::internal::JsonStringif", "shop.js:11 render", "shop.js:38 json"}},
	{Running, []string{"node: *RegExp.prototype.test", "shop.js:16 checkPath", "shop.js:39 path"}},
	{Running, []string{"shop.js:20 sumRoots", "shop.js:40 sum", "node: *uv_run"}},
	{Running, []string{"shop.js:26 naïve", "shop.js:26 naïve", "shop.js:41 naive"}},
	{Outside, []string{"node: *", "child_process: *spawnSync", "shop.js:28 runChild"}},
	{Running, []string{"shop.js:20 sumRoots", "shop.js:32 inWorker"}},
}

// inOrder says whether a stack has frames with these beginnings, each further outside than the one before. " *" leaves out the rest of what a frame
// begins with.
func inOrder(frames []*Frame, want []string) bool {
	for _, f := range frames {
		if len(want) == 0 {
			break
		}
		text := fmt.Sprintf("%s:%d %s", filepath.Base(f.File), f.Line, f.Function)
		if in, contains, wild := strings.Cut(want[0], " *"); wild {
			if strings.HasPrefix(text, in) && strings.Contains(f.Function, contains) {
				want = want[1:]
			}
		} else if strings.HasPrefix(text, want[0]) {
			want = want[1:]
		}
	}
	return len(want) == 0
}

// Samples of each version have the names of functions of JavaScript, with the line at which they begin, and of the compiled code that these call.
func TestJavaScriptStacks(t *testing.T) {
	for _, node := range nodes(t) {
		version, _ := exec.Command(node, "--version").Output()
		t.Run(strings.TrimSpace(string(version)), func(t *testing.T) {
			child := startNode(t, node)
			s, of, err := openStacks(child.Process.Pid)
			if err != nil || of != "JavaScript" {
				t.Fatal(of, err)
			}
			sampler := s.(Sampler)
			if err := sampler.Lacks(); err != nil {
				t.Skip(err)
			}
			ctx, end := context.WithTimeout(context.Background(), 2*time.Minute)
			defer end()
			want := slices.Clone(sights)
			n, frames, named, unknown := 0, 0, 0, make(map[string]int)
			var first, last, at time.Duration // CPU time at the 50th sample and the last
			sampler.Sample(ctx, func(_ int64, th Thread) {
				if n++; n == 50 {
					first = threadTime()
				}
				frames += len(th.Frames)
				last, at = threadTime(), time.Duration(n)
				if slices.ContainsFunc(th.Frames, func(f *Frame) bool { return strings.HasSuffix(f.File, "shop.js") }) {
					named++
				} else if len(th.Frames) > 0 {
					unknown[th.Frames[0].Function]++
				}
				want = slices.DeleteFunc(want, func(w sight) bool { return th.State == w.state && inOrder(th.Frames, w.frames) })
				if len(want) == 0 && n >= 100 {
					end()
				}
			})
			if len(want) > 0 {
				t.Errorf("not seen in %d samples: %v", n, want)
			}
			torn, err := s.Look(nil)
			if named < n/2 || torn > frames/10 || err != nil {
				t.Errorf("of %d samples with %d frames, %d are in the program, %d torn, others in %v, error %v", n, frames, named, torn, unknown, err)
			}
			t.Logf("%s: %d samples, %d in the program, %d torn, others in %v; %v each", s.Title(), n, named, torn, unknown, (last-first)/max(1, at-50))
		})
	}
}

// A recording has the functions, and the format reads it.
func TestRecordJavaScript(t *testing.T) {
	child := startNode(t, nodes(t)[0])
	a := probetest.One(t, findAccess, discover.Target{PID: child.Process.Pid})
	if len(a.Lacks) > 0 {
		t.Skip(a.Lacks[0].Why)
	}
	if len(a.SwitchesOn) != 1 || !strings.Contains(a.SwitchesOn[0], "JavaScript") {
		t.Errorf("it switches on %q", a.SwitchesOn)
	}
	r := probetest.Begin(t, a)
	var once sync.Once
	r.Wait(t, "interpreter.txt", func(b []byte) bool {
		once.Do(func() { t.Logf("%s", strings.SplitN(string(b), "\n", 2)[0]) })
		return strings.Contains(string(b), "\tsumRoots") && strings.Contains(string(b), "\thashPassword")
	})
	if err := r.End(); err != nil {
		t.Fatal(err)
	}
	b := r.Read(t, "interpreter.txt")
	seen := make(map[string]bool)
	for i := range b.Samples.Len() {
		for _, f := range b.Stacks.Frames(b.Samples.Stack[i]) {
			seen[b.Names.Text(f.Func)] = true
		}
	}
	for _, name := range []string{"sumRoots", "hashPassword"} {
		if !slices.ContainsFunc(slices.Sorted(maps.Keys(seen)), func(f string) bool { return strings.HasPrefix(f, name+" (") && strings.HasSuffix(f, "/shop.js)") }) {
			t.Errorf("no function %s among %v", name, slices.Sorted(maps.Keys(seen)))
		}
	}
}

// A passive recording samples nothing.
func TestPassiveJavaScript(t *testing.T) {
	child := startNode(t, nodes(t)[0])
	a := probetest.One(t, findAccess, discover.Target{PID: child.Process.Pid})
	sink := probetest.Record(t, a, probe.Plan{For: time.Second, Passive: true})
	if text := sink.Text("interpreter.txt"); strings.Contains(text, "\nl ") {
		t.Errorf("it has samples: %.300s", text)
	}
}

func TestOwnName(t *testing.T) {
	for _, c := range [][3]string{{"RegExpPrototypeTest", "test", "RegExp.prototype.test"}, {"ArrayFrom", "from", "Array.from"}, {"ArrayMapLoop", "map", "map"}, {"StringPrototypeReplace", "", ""}, {"", "then", "then"}} {
		if got := ownName(c[0], c[1]); got != c[2] {
			t.Errorf("%s %s: %s, not %s", c[0], c[1], got, c[2])
		}
	}
}
