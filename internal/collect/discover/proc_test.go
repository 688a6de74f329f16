package discover

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const statLine = "4711 (ga) te\nway) R 1 4711 4711 0 -1 4194560 9115 0 12 0 150 25 0 0 20 0 9 0 69123 1883041792 26904 18446744073709551615 1 1 0 0 0 0 0\n"

func TestParseStat(t *testing.T) {
	got, err := parseStat(strings.NewReader(statLine))
	want := stat{comm: "ga) te\nway", state: 'R', ppid: 1, flags: 4194560, cpu: 1750 * time.Millisecond, start: 69123, rss: 26904}
	if got != want || err != nil {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	for _, bad := range []string{"", "4711", "4711 (a) R 1 2", "4711 )a( R", strings.Replace(statLine, "69123", "x", 1)} {
		if _, err := parseStat(strings.NewReader(bad)); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

func TestParseStatus(t *testing.T) {
	got, err := parseStatus(strings.NewReader("Name:\tjava\nTgid:\t4711\nPid:\t4712\nUid:\t0\t1000\t0\t0\nNSpid:\t4711\t7\n"))
	if d := cmp.Diff(status{tgid: 4711, uid: 1000, pids: []int{4711, 7}}, got, cmp.AllowUnexported(status{})); d != "" || err != nil {
		t.Error(d, err)
	}
	for _, bad := range []string{"", "Tgid:\t4711\n", "Tgid:\tx\nUid:\t0\t0\t0\t0\n", "Tgid:\t1\nUid:\t0\t0\t0\t0\nNSpid:\t1\tx\n"} {
		if _, err := parseStatus(strings.NewReader(bad)); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

func TestParseCgroup(t *testing.T) {
	id := strings.Repeat("0123456789abcdef", 4)
	for _, c := range []struct{ text, want string }{
		{"0::/system.slice/gateway.service\n", ""},
		{"0::/docker/ID\n", id},
		{"0::/system.slice/docker-ID.scope\n", id},
		{"0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod0b2e.slice/cri-containerd-ID.scope\n", id},
		{"12:cpu,cpuacct:/kubepods/burstable/podaf61/ID\n1:name=systemd:/\n", id},
		{"0::/kubepods.slice/crio-ID.scope\n", id},
		{"0::/machine.slice/libpod-ID.scope/container\n", id},
		{"0::/machine.slice/libpod-conmon-ID.scope\n", ""},
		{"0::/kubepods.slice/crio-conmon-ID.scope\n", ""},
		{"11:memory:/system.slice/containerd.service/kubepods-besteffort.slice:cri-containerd:ID\n", id},
		{"0::/../docker-" + id[1:] + ".scope\n", ""}, // too short
		{"0::/user.slice/" + strings.ToUpper(id) + "\n", ""},
		{"", ""},
	} {
		got, err := parseCgroup(strings.NewReader(strings.ReplaceAll(c.text, "ID", id)))
		if got != c.want || err != nil {
			t.Errorf("%q: %q, %v; want %q", c.text, got, err, c.want)
		}
	}
}

const hsEntryHead = 20

// hsperfdata writes a file of counters: names and their texts, in turn.
func hsperfdata(order binary.AppendByteOrder, texts ...string) []byte {
	b := []byte{0xca, 0xfe, 0xc0, 0xc0, 0, 2, 0, 1}
	if order == binary.AppendByteOrder(binary.LittleEndian) {
		b[4] = 1
	}
	b = append(b, make([]byte, 16)...) // used, overflow, when modified
	b = order.AppendUint32(b, 32)
	b = order.AppendUint32(b, uint32(len(texts)/2))
	for i := 0; i+1 < len(texts); i += 2 {
		name, value := texts[i]+"\x00", texts[i+1]+"\x00"
		b = order.AppendUint32(b, uint32(hsEntryHead+len(name)+len(value)))
		b = order.AppendUint32(b, hsEntryHead)
		b = order.AppendUint32(b, uint32(len(value)))
		b = append(b, 'B', 0, 5, 1)
		b = order.AppendUint32(b, uint32(hsEntryHead+len(name)))
		b = append(b, name+value...)
	}
	return b
}

func TestParseHsperfdata(t *testing.T) {
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		data := hsperfdata(order, "java.property.java.version", "17.0.15", "sun.gc.cause", "No GC", "sun.rt.javaCommand", "/srv/app.jar --password hunter2")
		got, err := parseHsperfdata(strings.NewReader(string(data)))
		if want := (Seen{"17.0.15", "app.jar"}); got != want || err != nil {
			t.Errorf("%v: %+v, %v; want %+v", order, got, err, want)
		}
		if got, err := parseHsperfdata(strings.NewReader(string(data[:len(data)-9]))); err == nil || got.Version != "17.0.15" {
			t.Errorf("cut off: %+v, %v", got, err)
		}
	}
	for command, want := range map[string]string{
		"jdk.compiler/com.sun.tools.javac.launcher.Main Idle.java": "Main",
		"com.example.Gateway":                    "Gateway",
		"org.apache.kafka.Kafka /etc/server.cfg": "Kafka",
		"":                                       "",
	} {
		if got := mainOf(command); got != want {
			t.Errorf("%q: %q, want %q", command, got, want)
		}
	}
}

func FuzzStat(f *testing.F) {
	f.Add(statLine)
	f.Fuzz(func(t *testing.T, text string) { _, _ = parseStat(strings.NewReader(text)) })
}

func FuzzStatus(f *testing.F) {
	f.Add("Tgid:\t4711\nUid:\t0\t1000\t0\t0\nNSpid:\t4711\t7\n")
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := parseStatus(strings.NewReader(text)); err == nil && (s.tgid <= 0 || s.uid < 0) {
			t.Errorf("%+v", s)
		}
	})
}

func FuzzCgroup(f *testing.F) {
	f.Add("0::/system.slice/docker-" + strings.Repeat("0123456789abcdef", 4) + ".scope\n")
	f.Fuzz(func(t *testing.T, text string) {
		if id, _ := parseCgroup(strings.NewReader(text)); id != "" && len(id) != idLength {
			t.Errorf("%q", id)
		}
	})
}
