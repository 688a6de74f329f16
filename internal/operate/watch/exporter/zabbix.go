package exporter

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Zabbix's sender protocol
// (https://www.zabbix.com/documentation/current/en/manual/appendix/protocols/zabbix_sender): a header, the length, and
// JSON. It sends values for items of type "Zabbix trapper" of a host that the server knows.
//
// Keys are those of the template in deploy/zabbix. They are separate for each runtime, because a server makes the items
// of each one separately. unstall.go[SERVICE,SERIES] is a series in the unit that rules use.
// unstall.go.bound[SERVICE,RULE] is the bound of a rule that compares with usual values. unstall.services[go] lists the
// services for which the server makes items (low-level discovery). Services of other runtimes are at unstall.process,
// the machine at unstall.host.

// ZabbixDiscovery is the key of the list of services.
const ZabbixDiscovery = "unstall.services"

// ZabbixKey returns the key of a runtime's items, and ZabbixBound the key of its rules' bounds.
func ZabbixKey(runtime string) string   { return "unstall." + runtime }
func ZabbixBound(runtime string) string { return "unstall." + runtime + ".bound" }

// ZabbixItem returns the key of an item, with its parameters quoted where they must be.
func ZabbixItem(key string, parameters ...string) string {
	for i, p := range parameters {
		if strings.ContainsAny(p, `,[]" `) && !strings.HasPrefix(p, "{#") {
			parameters[i] = `"` + strings.ReplaceAll(p, `"`, `\"`) + `"`
		}
	}
	return key + "[" + strings.Join(parameters, ",") + "]"
}

// Zabbix returns a store that sends to a server or proxy. host is the server's name for this machine.
func Zabbix(address, host string) (Store, error) {
	if _, _, err := net.SplitHostPort(address); err != nil {
		address = net.JoinHostPort(strings.Trim(address, "[]"), "10051")
	}
	if host == "" {
		return Store{}, errors.New("zabbix: give the server's name for this host: --zabbix-host")
	}
	// A server makes items of discovered services within a minute or so. Discovery is sent every few minutes.
	turn, unknown := 0, false
	return Store{Name: "Zabbix", Where: address, Encode: func(s State) ([]byte, int) {
		turn++
		return encodeZabbix(s, host, turn%20 == 1)
	}, Send: func(ctx context.Context, body []byte) error {
		taken, failed, err := sendZabbix(ctx, address, body)
		if err != nil {
			return err
		}
		// For a minute or so the server has no items for discovered services. The items for discovery itself come
		// from the template.
		unknown = taken == 0 && failed && (unknown || bytes.Contains(body, []byte(ZabbixDiscovery)))
		if unknown {
			return fmt.Errorf("%w: it knows none of the items: is the template linked to the host, and is --zabbix-host its name there?", ErrRefused)
		}
		return nil
	}}, nil
}

type zabbixValue struct {
	Host  string `json:"host"`
	Key   string `json:"key"`
	Value string `json:"value"`
	Clock int64  `json:"clock"`
	NS    int    `json:"ns"`
}

type zabbixRequest struct {
	Request string        `json:"request"`
	Data    []zabbixValue `json:"data"`
	Clock   int64         `json:"clock"`
	NS      int           `json:"ns"`
}

func encodeZabbix(s State, host string, discover bool) ([]byte, int) {
	r := zabbixRequest{Request: "sender data", Clock: s.At.Unix(), NS: s.At.Nanosecond()}
	add := func(at time.Time, key, value string) {
		r.Data = append(r.Data, zabbixValue{host, key, value, at.Unix(), at.Nanosecond()})
	}
	if discover {
		for _, runtime := range slices.Sorted(maps.Keys(s.Runs)) {
			list := []map[string]string{}
			for _, service := range s.Runs[runtime] {
				list = append(list, map[string]string{"{#SERVICE}": service})
			}
			text, _ := json.Marshal(list)
			add(s.At, ZabbixItem(ZabbixDiscovery, runtime), string(text))
		}
	}
	for _, f := range s.Figures {
		add(f.At, ZabbixItem(ZabbixKey(f.Runtime), f.Service, f.Series), strconv.FormatFloat(f.Value, 'g', 10, 64))
	}
	for _, b := range s.Bounds {
		add(s.At, ZabbixItem(ZabbixBound(b.Runtime), b.Service, b.Rule), strconv.FormatFloat(b.Value, 'g', 10, 64))
	}
	if len(r.Data) == 0 {
		return nil, 0
	}
	text, _ := json.Marshal(r)
	return frameMessage(text), len(r.Data)
}

// frameMessage puts the header before a message: "ZBXD", flags 1, length and a reserved field of 4
// bytes each.
func frameMessage(text []byte) []byte {
	out := append([]byte("ZBXD\x01"), make([]byte, 8)...)
	binary.LittleEndian.PutUint32(out[5:], uint32(len(text)))
	return append(out, text...)
}

var failedOf = regexp.MustCompile(`processed: (\d+); failed: (\d+)`)

// sendZabbix sends values. It returns how many the server has items for, and whether it lacks any.
func sendZabbix(ctx context.Context, address string, body []byte) (taken int, failed bool, err error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return 0, false, err
	}
	defer c.Close()
	if at, ok := ctx.Deadline(); ok {
		_ = c.SetDeadline(at)
	}
	if _, err := c.Write(body); err != nil {
		return 0, false, err
	}
	answer, err := readMessage(c)
	if err != nil {
		return 0, false, fmt.Errorf("its answer is not Zabbix's: %w", err)
	}
	var said struct{ Response, Info string }
	if err := json.Unmarshal(answer, &said); err != nil || said.Response != "success" {
		return 0, false, fmt.Errorf("%w: %.200s", ErrRefused, bytes.TrimSpace(answer))
	}
	m := failedOf.FindStringSubmatch(said.Info)
	if m == nil {
		return 0, false, nil // a proxy may only confirm that it took them
	}
	taken, _ = strconv.Atoi(m[1])
	return taken, m[2] != "0", nil
}

// readMessage reads a message and returns it without its header.
func readMessage(r io.Reader) ([]byte, error) {
	head := make([]byte, 13)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(head[5:])
	if string(head[:4]) != "ZBXD" || head[4] != 1 || n > 1<<20 {
		return nil, errors.New("its header is not Zabbix's")
	}
	text := make([]byte, n)
	_, err := io.ReadFull(r, text)
	return text, err
}
