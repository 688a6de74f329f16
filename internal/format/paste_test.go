package format

import (
	"context"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// lineFormat claims text in which a line begins with a word, as formats of logs do.
func lineFormat(name, word string) Format {
	begins := func(l []byte) bool { return strings.HasPrefix(string(l), word) }
	return Format{Name: name,
		Match: func(head []byte) Confidence {
			for _, l := range strings.Split(string(head), "\n") {
				if begins([]byte(l)) {
					return Sure
				}
			}
			return No
		},
		Parse: func(_ context.Context, a *Artifact, b *evidence.Builder) error {
			return a.Lines(func(l Line) bool {
				if begins(l.Text) {
					b.Fact(evidence.Fact{Key: name, Value: string(l.Text), Origin: b.Origin(l.Number)})
				}
				return true
			})
		}}
}

// A paste is taken apart, whatever lies over it, and its rows keep their lines.
func TestPaste(t *testing.T) {
	formats := []Format{lineFormat("apples", "apple <"), lineFormat("pears", "pear")}
	for name, c := range map[string]struct{ in, want string }{
		"quotes":            {"Hi,\n> apple <1>\n> apple <2>\nbye\n", "apples:2 apple <1>; apples:3 apple <2>"},
		"entities":          {"apple &lt;1&gt;\nsome words\napple &lt;2&gt;\n", "apples:1 apple <1>; apples:3 apple <2>"},
		"fences":            {"words\n```\npear 1\n```\nwords\n```text\napple <7>\n```\n", "apples:7 apple <7>; pears:3 pear 1"},
		"prompts":           {"$ cat /tmp/x\napple <1>\n[root@host tmp]# vmstat 1\npear 2\n", "apples:2 apple <1>; pears:4 pear 2"},
		"colours":           {"\x1b[32mapple <1>\x1b[0m\n", "apples:1 apple <1>"},
		"numbers":           {"  1\tapple <1>\n  2\tapple <2>\n  3\tapple <3>\n", "apples:1 apple <1>; apples:2 apple <2>; apples:3 apple <3>"},
		"boxes":             {"│ apple <1>      │\n│ apple <2> │\n", "apples:1 apple <1>; apples:2 apple <2>"},
		"messages":          {`{"message":"apple <1>","kubernetes":{"pod_name":"a"}}` + "\n" + `{"message": "words\napple <2>\n","kubernetes":{"pod_name":"a"}}` + "\n", "apples:1 apple <1>; apples:2 apple <2>"},
		"packed in a fence": {"words\n```\n" + `{"textPayload":"apple <1>","timestamp":"2026-11-20T22:49:44.123Z"}` + "\n```\n", "apples:3 apple <1>"},
		"a pretty entry":    {"words\n{\n  \"severity\": \"WARNING\",\n  \"jsonPayload\": {\n    \"message\": \"words\\napple <1>\\n\\napple <2>\\nplum\\n\",\n    \"pid\": 1\n  }\n}\n", "apples:5 apple <1>; apples:5 apple <2>"},
		"breaks":            {"apple &lt;1&gt;<br />words<br /> and\n\napple &lt;2&gt;<br />\n", "apples:1 apple <1>; apples:3 apple <2>"},
		"patch":             {"```diff\n+apple <1>\n+apple <2>\n+apple <3>\n```\n", "apples:2 apple <1>; apples:3 apple <2>; apples:4 apple <3>"},
		"names before":      {"May 25 00:51:27.83 dut INFO svc: apple <1>\nMay 25 00:51:27.9 dut INFO svc: apple <2>\nMay 25 00:51:28.1 dut INFO svc: apple <3>\n", "apples:1 apple <1>; apples:2 apple <2>; apples:3 apple <3>"},
		"processes":         {"12:00:01 web.1  | apple <1>\n12:00:01 db.1   | apple <2>\n12:00:02 web.1  | apple <3>\n12:00:09 db.1   | apple <4>\n", "apples:1 apple <1>; apples:2 apple <2>; apples:3 apple <3>; apples:4 apple <4>"},
		"wrapper":           {"jvm 1    | apple <1>\njvm 1    | apple <2>\njvm 2    | apple <3>\n", "apples:1 apple <1>; apples:2 apple <2>; apples:3 apple <3>"},
		"wrapper's file":    {"INFO   | jvm 1    | 2018/03/02 12:00:01 | apple <1>\nSTATUS | wrapper  | 2018/03/02 12:00:04 | plum 1\nINFO   | jvm 1    | 2018/03/02 12:00:05 | apple <3>\nINFO   | jvm 1    | 2018/03/02 12:00:05 | apple <4>\n", "apples:1 apple <1>; apples:3 apple <3>; apples:4 apple <4>"},
		"headed by a fruit": {"words\n\n# apple <1>\n\n```\nplum\nplum\n```\n", "apples:3 apple <1>"},
		"comment":           {"\tgo func() {\n\t\t// what it says:\n\t\t// apple <1>\n\t\t// apple <2>\n\t\tcounter++\n\t}()\n", "apples:3 apple <1>; apples:4 apple <2>"},
		"block comment":     {"/**\n * words\n *\n * apple <1>\n * apple <2>\n */\nclass X {}\n", "apples:4 apple <1>; apples:5 apple <2>"},
		"statements":        {"-- apple <1>\n-- apple <2>\n-- apple <3>\nselect 1;\n", "apples:1 apple <1>; apples:2 apple <2>; apples:3 apple <3>"},
		"rules and signs":   {"<pre>\n---- apples\n> apple <1>\n> apple <2>\n----\n</pre>\n", "apples:3 apple <1>; apples:4 apple <2>"},
		"escaped":           {"time=1 msg=\"=== BEGIN ===\\napple <1>\\n\\tapple <2>\\n\\napple <3>\\n\"\n", "apples:1 apple <1>; apples:1 apple <3>"},
		"arrows":            {"words\n\nplum <1>-\n>[2]\napple <1>-\n>[2]\n> apple <2>\n", "apples:5 apple <1>->[2]"},
		"code in prose":     {"It says `apple <1>`, and then:\n`apple <2>`\n`apple <3>\n", "apples:2 apple <2>; apples:3 apple <3>"},
		"pods":              {"shop-0 app apple <1>\nshop-0 app apple <2>\nshop-1 app apple <3>\nshop-1 app apple <4>\n", "apples:1 apple <1>; apples:2 apple <2>; apples:3 apple <3>; apples:4 apple <4>"},
		"pods in brackets":  {"[shop-0 app] apple <1>\n[shop-0 app] apple <2>\n[shop-0 app] apple <3>\n", "apples:1 apple <1>; apples:2 apple <2>; apples:3 apple <3>"},
		"ruby":              {"irb(main):003:0> Fruit.all\napple <1>\n", "apples:2 apple <1>"},
		"escaped for pages": {"words\n\napple \\<1\\>\napple \\<2\\> C:\\x\n", `apples:3 apple <1>; apples:4 apple <2> C:\x`},
		"as it is":          {"apple <1>\nwords\n", "apples:1 apple <1>"},
	} {
		t.Run(name, func(t *testing.T) {
			b := evidence.NewBundle()
			if err := Read(context.Background(), formats, text(c.in), b); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range b.Facts {
				got = append(got, f.Key+":"+strings.TrimPrefix(b.OriginText(f.Origin), "test:")+" "+f.Value)
			}
			if s := strings.Join(got, "; "); s != c.want {
				t.Errorf("got  %s\nwant %s", s, c.want)
			}
		})
	}
}

// Neither what is large nor what is binary is taken apart.
func TestNoPaste(t *testing.T) {
	formats := []Format{lineFormat("apples", "apple <")}
	for _, in := range []string{"> apple <1>\n> apple <2>\n\x08", strings.Repeat("> apple <1>\n", HeadSize/12+1), "apples | apple <1>\nplums | plum 1\nfigs | apple <3>\n", "once upon a time\n"} {
		if err := Read(context.Background(), formats, text(in), evidence.NewBundle()); err == nil {
			t.Errorf("%.20q was read", in)
		}
	}
}

// A logger's part goes off the lines of another program.
func TestLogger(t *testing.T) {
	u := newUnwrapper(nil, 0)
	for in, want := range map[string]string{
		"2024-02-11 08:12:01,120 INFO  [gc] c.a.LogTail - [1201.330s][info][gc] GC(91) x": "[1201.330s][info][gc] GC(91) x",
		"2024-05-01T10:00:00.101Z\tINFO\trunner/exec.go:55\tgc 801 @41.220s 24%: x":       "gc 801 @41.220s 24%: x",
		`{"level":"info","ts":1714557600.1,"msg":"gc 801 @41.220s 24%: x"}`:               "gc 801 @41.220s 24%: x",
		"[10:00:00 INF] 1121:M 05 Mar 2024 03:10:01.002 * x":                              "1121:M 05 Mar 2024 03:10:01.002 * x",
		"[2024-03-05T10:21:14.101+0000][info][gc] GC(811) x":                              "",
		"2013-04-02T10:11:12.345+0200: 45012.118: [GC 45012.118: x":                       "",
		"2024-02-11 INFO  nothing of another program":                                     "",
	} {
		p := loggerLine(u, []byte(in))
		if got := string(p.text); p.worn != (want != "") || p.worn && got != want {
			t.Errorf("%q: %q, worn %v", in, got, p.worn)
		}
	}
}

func FuzzPaste(f *testing.F) {
	for _, s := range []string{"> apple <1>\n> pear\n", "```\npear\n```\n", "$ cat /x\npear 1\n", "\x1b[3", "{code}apple <", "&lt;&gt;\n&lt;"} {
		f.Add([]byte(s))
	}
	formats := []Format{lineFormat("apples", "apple <"), lineFormat("pears", "pear")}
	f.Fuzz(func(t *testing.T, data []byte) {
		b := evidence.NewBundle()
		err := Read(context.Background(), formats, text(string(data)), b)
		if err != nil && (len(b.Facts) > 0 || strings.Contains(err.Error(), "\n")) {
			t.Fatalf("%d facts and %q", len(b.Facts), err)
		}
	})
}

// Figures that words stand before or behind, without a blank line, are found where a format knows nothing of the words.
func TestRagged(t *testing.T) {
	strict := lineFormat("pears", "pear")
	all := strict.Match
	strict.Match = func(head []byte) Confidence {
		for l := range strings.SplitSeq(strings.TrimSpace(string(head)), "\n") {
			if !strings.HasPrefix(l, "pear") {
				return No
			}
		}
		return all(head)
	}
	for in, want := range map[string]int{
		"what it says:\nand more\npear 1\npear 2\n": 2,
		"pear 1\npear 2\nand so on\n":               2,
		"some words\n    pear 1\n    pear 2\n":      2,
		"a\nb\nc\nd\ne\nf\ng\nh\npear 1\npear 2\n":  0,
	} {
		b := evidence.NewBundle()
		err := Read(context.Background(), []Format{strict}, text(in), b)
		if len(b.Facts) != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %d facts and error %v, want %d", in, len(b.Facts), err, want)
		}
	}
}
