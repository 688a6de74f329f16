package exchanges

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/http2/hpack"
)

// encoder makes blocks of headers as an end of a connection does.
type encoder struct {
	*hpack.Encoder
	buf bytes.Buffer
}

func newEncoder() *encoder {
	e := &encoder{}
	e.Encoder = hpack.NewEncoder(&e.buf)
	return e
}

// block encodes names and values.
func (e *encoder) block(fields ...string) []byte {
	e.buf.Reset()
	for i := 0; i < len(fields); i += 2 {
		if err := e.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]}); err != nil {
			panic(err)
		}
	}
	return bytes.Clone(e.buf.Bytes())
}

func ask(path string) []string {
	return []string{":method", "POST", ":scheme", "http", ":path", path, ":authority", "shop:8080", "content-type", "application/grpc+proto", "te", "trailers"}
}

// What was named once is known by its number, whatever else is remembered.
func TestDecode(t *testing.T) {
	e, tab := newEncoder(), &table{}
	for i, path := range []string{"/shop.Prices/Quote", "/shop.Prices/Price", "/shop.Prices/Quote", "/", "/shop.Prices/Price"} {
		h := tab.decodeBlock(e.block(append(ask(path), "x-request", strings.Repeat("a", i))...), true)
		if h.of[pathHeader] != path || h.of[methodHeader] != "POST" || !h.isGRPC() {
			t.Errorf("%d: %q", i, h.of)
		}
	}
	e.SetMaxDynamicTableSize(64)
	if h := tab.decodeBlock(e.block(":status", "200", "grpc-status", "14"), true); h.of[statusHeader] != "200" || h.of[grpcHeader] != "14" {
		t.Errorf("%q", h.of)
	}
}

// What is remembered from before a block that was cut, or before the recording, is not taken for something else.
func TestDecodeCut(t *testing.T) {
	e, tab := newEncoder(), &table{}
	first := e.block(append(ask("/shop.Prices/Quote"), "authorization", strings.Repeat("secret ", 400), "x-a", "1")...)
	if h := tab.decodeBlock(first[:200], false); h.of[pathHeader] != "/shop.Prices/Quote" {
		t.Errorf("%q", h.of)
	}
	for range 3 {
		if h := tab.decodeBlock(e.block(ask("/shop.Prices/Quote")...), true); h.of[pathHeader] != "" || h.of[methodHeader] != "POST" {
			t.Errorf("%q", h.of)
		}
	}
	if h := tab.decodeBlock(e.block(ask("/shop.Prices/Price")...), true); h.of[pathHeader] != "/shop.Prices/Price" { // new since
		t.Errorf("%q", h.of)
	}
	if h := tab.decodeBlock(e.block(ask("/shop.Prices/Price")...), true); h.of[pathHeader] != "/shop.Prices/Price" {
		t.Errorf("%q", h.of)
	}
}

// Routes that were named before are told apart, and stay the same as others are named.
func TestDecodeBefore(t *testing.T) {
	e, tab := newEncoder(), &table{}
	for _, path := range []string{"/shop.Prices/Quote", "/shop.Prices/Price"} {
		e.block(ask(path)...)
	}
	var met [2][]uint64
	for i := range 8 {
		for k, path := range []string{"/shop.Prices/Quote", "/shop.Prices/Price"} {
			h := tab.decodeBlock(e.block(append(ask(path), "x-request", strings.Repeat("b", i))...), true)
			if h.of[pathHeader] != "" {
				t.Errorf("%q is known", h.of[pathHeader])
			}
			met[k] = append(met[k], h.unnamed)
		}
	}
	for k := range met {
		if met[k] = slices.Compact(met[k]); len(met[k]) != 1 || met[k][0] == 0 {
			t.Errorf("%v stand for one route", met[k])
		}
	}
	if met[0][0] == met[1][0] {
		t.Error("two routes are the same")
	}
	if h := tab.decodeBlock(e.block(ask("/shop.Prices/New")...), true); h.of[pathHeader] != "/shop.Prices/New" {
		t.Errorf("%q", h.of)
	}
}

// FuzzDecode holds that any block is read to its end, and that what is read of one that is sound is what a whole decoder reads.
func FuzzDecode(f *testing.F) {
	e := newEncoder()
	f.Add(e.block(ask("/shop.Prices/Quote")...), e.block(ask("/shop.Prices/Quote")...))
	f.Add([]byte{0x82, 0x86, 0x84, 0x41, 0x0f}, []byte{0x3f, 0xe1, 0x1f, 0xbe})
	f.Add([]byte{0x40, 0x05, ':', 'p', 'a', 't', 'h', 0x01, '/'}, []byte{0xbe, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, first, second []byte) {
		tab, whole := &table{}, hpack.NewDecoder(4096, nil)
		sound := true
		for _, block := range [][]byte{first, second} {
			h := tab.decodeBlock(block, true)
			all, err := whole.DecodeFull(block)
			if sound = sound && err == nil; !sound {
				continue
			}
			var want headers
			for _, x := range all {
				if name := headerNames[x.Name]; name != otherHeader && len(x.Value) <= mostValue/4 {
					want.of[name] = x.Value
				}
			}
			for name := range want.of {
				if h.of[name] != want.of[name] && want.of[name] != "" && h.of[name] != "" {
					t.Errorf("%x: %q, want %q", block, h.of, want.of)
				}
			}
		}
		if len(tab.fields) > mostFields {
			t.Errorf("%d fields are remembered", len(tab.fields))
		}
	})
}
