package columnar

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

type row struct {
	Name   string     `parquet:"name"`
	Kind   string     `parquet:"kind,dict"`
	Detail *string    `parquet:"detail,optional,dict"`
	Rank   int32      `parquet:"rank"`
	Count  *int64     `parquet:"count,optional"`
	Ms     float64    `parquet:"ms"`
	Low    *float64   `parquet:"low,optional,dict"`
	Slow   bool       `parquet:"slow"`
	Sure   *bool      `parquet:"sure,optional"`
	At     *time.Time `parquet:"at,optional,timestamp(microsecond)"`
	Files  []string   `parquet:"files,list"`
	Parts  []part     `parquet:"parts,list"`
}

type part struct {
	Text string   `parquet:"text"`
	V    *float64 `parquet:"v,optional"`
}

// random rows have runs and changes, all that may be absent absent, and lists of none and of many.
func random(r *rand.Rand, n int) (rows []row) {
	some := func() bool { return r.IntN(3) > 0 }
	kinds := []string{"", "a", "bb", "ö", "a text that is longer than what statistics hold, and so is in none of them, not even cut"}
	for i := range n {
		x := row{Name: kinds[r.IntN(len(kinds))], Kind: kinds[(i/97)%len(kinds)], Rank: int32(r.Uint32()), Ms: r.NormFloat64(), Slow: i%50 > 20, Files: []string{}, Parts: []part{}}
		if some() {
			x.Detail = &kinds[r.IntN(len(kinds))]
		}
		if v := r.Int64() - math.MaxInt64/2; some() {
			x.Count = &v
		}
		if v := math.Round(r.Float64()*700) / 7; some() {
			x.Low = &v
		}
		if v := some(); some() {
			x.Sure = &v
		}
		if v := time.UnixMicro(r.Int64N(1 << 50)).UTC(); some() {
			x.At = &v
		}
		for range r.IntN(3) * r.IntN(9) {
			x.Files = append(x.Files, kinds[r.IntN(len(kinds))])
		}
		for range r.IntN(4) {
			p := part{Text: kinds[r.IntN(len(kinds))]}
			if some() {
				p.V = &x.Ms
			}
			x.Parts = append(x.Parts, p)
		}
		rows = append(rows, x)
	}
	return rows
}

// TestRead has another library read what was written.
func TestRead(t *testing.T) {
	for _, n := range []int{0, 1, 7, 8, 9, 1000, 5003} {
		rows := random(rand.New(rand.NewPCG(7, uint64(n))), n)
		var b bytes.Buffer
		w, err := NewWriter(&b, SchemaOf(row{}), 1<<11)
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			if err := w.Write(&rows[i]); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		got, err := parquet.Read[row](bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil {
			t.Fatalf("%d rows: %v", n, err)
		}
		if d := cmp.Diff(rows, got); n > 0 && d != "" {
			t.Errorf("%d rows (-written +read):\n%.2000s", n, d)
		}
		f, err := parquet.OpenFile(bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil {
			t.Fatal(err)
		}
		if f.NumRows() != int64(n) || len(f.RowGroups()) != (n+1<<11-1)>>11 {
			t.Errorf("%d rows in %d groups of %d", f.NumRows(), len(f.RowGroups()), n)
		}
		if n > 0 {
			bounds(t, rows[:min(n, 1<<11)], f.Metadata().RowGroups[0].Columns)
		}
	}
}

// bounds holds that nothing lies outside them.
func bounds(t *testing.T, rows []row, columns []format.ColumnChunk) {
	t.Helper()
	least, most, nulls := math.MaxInt32, math.MinInt32, int64(0)
	for _, r := range rows {
		least, most = min(least, int(r.Rank)), max(most, int(r.Rank))
		if r.Count == nil {
			nulls++
		}
	}
	at := func(name string) format.ColumnChunk {
		return columns[slices.IndexFunc(columns, func(c format.ColumnChunk) bool { return c.MetaData.PathInSchema[0] == name })]
	}
	s := at("rank").MetaData.Statistics
	if int(signed(s.MinValue)) != least || int(signed(s.MaxValue)) != most {
		t.Errorf("ranks from %d to %d, not %d to %d", signed(s.MinValue), signed(s.MaxValue), least, most)
	}
	if s := at("count").MetaData.Statistics; s.NullCount != nulls {
		t.Errorf("%d nulls, not %d", s.NullCount, nulls)
	}
	if s := at("name").MetaData.Statistics; len(rows) > 100 && s.MaxValue != nil {
		t.Errorf("a text is too long for bounds, and they are %q", s.MaxValue)
	}
}

// TestZero has both zeros within the bounds, and NaN in none.
func TestZero(t *testing.T) {
	type number struct {
		V float64 `parquet:"v"`
	}
	for _, c := range []struct {
		values      []float64
		least, most float64
		none        bool
	}{{[]float64{0, 3, math.NaN()}, math.Copysign(0, -1), 3, false}, {[]float64{-2, math.Copysign(0, -1)}, -2, 0, false}, {[]float64{math.NaN()}, 0, 0, true}} {
		w, err := NewWriter(new(bytes.Buffer), SchemaOf(number{}), 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range c.values {
			_ = w.Write(&number{v})
		}
		l := w.Columns()[0]
		if (l.least == nil) != c.none {
			t.Errorf("%v: %v", c.values, l.least)
		}
		if !c.none && (signed(l.least) != int64(math.Float64bits(c.least)) || signed(l.most) != int64(math.Float64bits(c.most))) {
			t.Errorf("%v: from %x to %x", c.values, l.least, l.most)
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	rows := random(rand.New(rand.NewPCG(7, 7)), 1<<12)
	for b.Loop() {
		var out bytes.Buffer
		w, _ := NewWriter(&out, SchemaOf(row{}), 1<<11)
		for i := range rows {
			_ = w.Write(&rows[i])
		}
		_ = w.Close()
		b.SetBytes(int64(out.Len()))
	}
}
