package discover

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const tcpHead = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"

const tcpTable = tcpHead +
	"   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1059 1 000000007c154775 100 0 0 10 0\n" +
	"   1: 00000000:17AC 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 2060 1 000000007c154775 100 0 0 10 0\n" +
	"   2: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 3061 1 000000007c154775 100 0 0 10 0\n"

const tcp6Table = tcpHead +
	"   0: 00000000000000000000000000000000:1F90 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4062 1 0\n" +
	"   1: 00000000000000000000000001000000:1F91 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4063 1 0\n" +
	"   2: 0000000000000000FFFF00000100007F:1F92 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4064 1 0\n"

const unixTable = "Num       RefCount Protocol Flags    Type St Inode Path\n" +
	"000000008b7a8b99: 00000002 00000000 00010000 0001 01 613629 /run/my app.sock\n" +
	"000000008b7a8b9a: 00000002 00000000 00010000 0001 01 613630 @abstract\n" +
	"000000008b7a8b9b: 00000002 00000000 00010000 0001 01 613631\n" +
	"00000000aee8c023: 00000003 00000000 00000000 0001 03  1056 /run/my app.sock\n"

func TestParseTCP(t *testing.T) {
	for _, c := range []struct {
		table string
		want  []string
		inode uint64
		uid   int
	}{
		{tcpTable, []string{"127.0.0.1:8080", "0.0.0.0:6060"}, 1059, 1000},
		{tcp6Table, []string{"[::]:8080", "[::1]:8081", "127.0.0.1:8082"}, 4062, 0},
		{tcpHead, nil, 0, 0},
	} {
		sockets, err := parseTCP(strings.NewReader(c.table))
		var got []string
		for _, s := range sockets {
			got = append(got, s.Addr.String())
		}
		if d := cmp.Diff(c.want, got); d != "" || err != nil {
			t.Error(d, err)
		}
		if len(sockets) > 0 && (sockets[0].inode != c.inode || sockets[0].uid != c.uid) {
			t.Errorf("%+v", sockets[0])
		}
	}
	for _, bad := range []string{"0: 0100007F:1F90 0 0A", strings.Replace(tcpTable, "0100007F:1F90 00", "0100007:1F90 00", 1)} {
		if _, err := parseTCP(strings.NewReader(tcpHead + bad)); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

// Reading stays fast on a host with very many connections.
func TestParseTCPStopsBehindListeners(t *testing.T) {
	established := strings.SplitAfter(tcpTable, "\n")[3]
	late := strings.SplitAfter(tcpTable, "\n")[1]
	sockets, err := parseTCP(strings.NewReader(tcpTable + strings.Repeat(established, 2*othersLimit) + late))
	if len(sockets) != 2 || err != nil {
		t.Errorf("%d sockets, %v", len(sockets), err)
	}
}

func TestParseUnix(t *testing.T) {
	sockets, err := parseUnix(strings.NewReader(unixTable))
	if len(sockets) != 2 || err != nil || sockets[0].Path != "/run/my app.sock" || sockets[0].inode != 613629 || sockets[1].Path != "@abstract" {
		t.Errorf("%+v, %v", sockets, err)
	}
}

func TestListenerString(t *testing.T) {
	for want, l := range map[string]Listener{
		":8080":          {Addr: netip.MustParseAddrPort("[::]:8080")},
		":8081":          {Addr: netip.MustParseAddrPort("0.0.0.0:8081")},
		"127.0.0.1:6060": {Addr: netip.MustParseAddrPort("127.0.0.1:6060")},
		"/run/app.sock":  {Path: "/run/app.sock"},
	} {
		if l.String() != want {
			t.Errorf("%s, want %s", l, want)
		}
	}
}

func FuzzTCP(f *testing.F) {
	f.Add(tcpTable)
	f.Add(tcp6Table)
	f.Fuzz(func(t *testing.T, table string) {
		sockets, _ := parseTCP(strings.NewReader(table))
		for _, s := range sockets {
			if !s.Addr.IsValid() {
				t.Errorf("%+v", s)
			}
		}
	})
}

func FuzzUnix(f *testing.F) {
	f.Add(unixTable)
	f.Fuzz(func(t *testing.T, table string) { _, _ = parseUnix(strings.NewReader(table)) })
}
