package exchanges

import "github.com/unstall/unstall/internal/base/evidence"

// nameByCalls names requests whose protocol has no route, such as FastCGI's, by the call that takes most of their time. Otherwise requests that call a
// slow service would be compared with requests that do not. Calls are linked.
func (p *parser) nameByCalls() {
	type longest struct {
		call int
		took int64
	}
	of := make(map[int32]longest)
	for i := range p.calls {
		x := &p.calls[i]
		if x.request < 0 || p.requests[x.request].what != 0 || p.requests[x.request].http || x.behind {
			continue
		}
		if took := p.doneAt(x) - x.begun; took > of[x.request].took {
			of[x.request] = longest{i, took}
		}
	}
	named := make(map[callKind]evidence.NameID)
	for r := range p.requests {
		l, calls := of[int32(r)]
		if !calls {
			continue
		}
		x := &p.calls[l.call]
		k := callKind{to: x.what, operation: x.operation}
		if named[k] == 0 {
			what := p.b.Text(x.what)
			if x.operation != 0 {
				what = p.b.Text(x.operation) + " at " + what
			}
			named[k] = p.internName(p.routes, []byte("(no route; calls "+what+")"), mostRoutes)
		}
		p.requests[r].what = named[k]
	}
}
