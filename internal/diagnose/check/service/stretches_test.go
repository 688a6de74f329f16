package service

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// Of a server of lines whose requests nobody tells of, one in twenty-five computes for 40 ms.
func TestComputesLong(t *testing.T) {
	const period = 10e6
	for _, tt := range []struct {
		name    string
		apart   int64 // ns between samples of one stretch
		reads   bool
		switch_ float64
		want    bool
	}{
		{"long ones", period, true, 100, true},
		{"as much, never long", 10 * period, true, 100, false},
		{"all are long", period, true, 5, false},
		{"nobody serves", period, false, 100, false},
		{"hardly any", period, true, 2000, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := evidence.NewBundle()
			p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "x"}), "x")
			*p.Clock() = evidence.Clock{Name: "unix"}
			s := p.Subject(evidence.Subject{Runtime: "dotnet", Name: "Office", CPUs: 2})
			stack := func(functions ...string) evidence.StackID {
				var frames []evidence.Frame
				for _, f := range functions {
					frames = append(frames, evidence.Frame{Func: p.Name(f)})
				}
				return p.Stack(frames)
			}
			loop := []string{"Office!Office.Lines.Serve(class Client)", "System.Private.CoreLib!System.Threading.ThreadHelper.ThreadStart()"}
			read := stack(append([]string{"[Native Frames]", "System.Net.Sockets!System.Net.Sockets.Socket.Receive(unsigned int8[])", "System.Net.Sockets!System.Net.Sockets.NetworkStream.Read(unsigned int8[])"}, loop...)...)
			accept := stack("[Native Frames]", "System.Net.Sockets!System.Net.Sockets.Socket.Accept()", "System.Net.Sockets!System.Net.Sockets.TcpListener.AcceptTcpClient()", "Office!Office.Lines.Run()")
			route := stack(append([]string{"Office!Office.Network.Route(int)"}, loop...)...)
			if !tt.reads {
				read = stack(append([]string{"[Native Frames]", "System.Private.CoreLib!System.Threading.Thread.Sleep(int)"}, loop...)...)
			}
			for i := range int64(10) {
				at := began + i*1e9
				p.Sample(evidence.Sample{Subject: s, Lane: 7, Time: at, Stack: read, Type: p.Name(evidence.SampleThread), Value: 1})
				p.Sample(evidence.Sample{Subject: s, Lane: 6, Time: at, Stack: accept, Type: p.Name(evidence.SampleThread), Value: 1})
			}
			for i := range int64(40) {
				for k := range int64(4) {
					p.Sample(evidence.Sample{Subject: s, Lane: 7, Time: began + i*250e6 + k*tt.apart, Stack: route, Type: p.Name(evidence.SampleOnCPU), Value: period})
				}
			}
			p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverOnCPU, From: began, Until: began + 10e9})
			for name, v := range map[string]float64{evidence.SeriesProcessSwitches: tt.switch_, evidence.SeriesProcessCPU: .2} {
				p.Series(evidence.Series{Subject: s, Name: name, T: []int64{began, began + 10e9}, V: []float64{v, v}, Origin: p.Origin(1)})
			}
			p.Close()
			v, ok := computesLong(&check.Case{Bundle: b, Subject: s})
			if ok != tt.want || ok && !strings.Contains(v.Title, "Network.Route(int) takes 40 ms") {
				t.Errorf("%v: %s", ok, v.Title)
			}
		})
	}
}
