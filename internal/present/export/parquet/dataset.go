package parquet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"reflect"

	"github.com/parquet-go/parquet-go"

	"github.com/unstall/unstall/internal/present/export/place"
)

// Bounds of memory and of file sizes. Readers skip and distribute whole row groups; a store takes
// an object only as a whole.
const (
	groupRows = 1 << 15
	partBytes = 256 << 20
)

// Dataset writes tables to a place. Rows go to files at the place, or to local files until they are
// sent. A part spans all tables; it is closed between two runs once it is large.
type Dataset struct {
	to    place.Place
	runs  []string // of the part that is open
	seen  map[string]string
	open  []*table // nil: no part is open
	Parts int      // complete ones
	Rows  map[string]int64
}

// table is the file of a table in the open part.
type table struct {
	name string
	file *os.File
	w    *parquet.GenericWriter[any]
	rows int64
}

// The tables, in the order in which their files appear: a reader that finds a run also finds its other rows.
const (
	requests = "requests"
	ledgers  = "ledger"
	verdicts = "verdicts"
	runs     = "runs"
)

// Tables are the names of all tables.
var Tables = []string{requests, ledgers, verdicts, runs}

// SchemaOf returns the schema of a table.
func SchemaOf(name string) *parquet.Schema {
	row := reflect.TypeFor[runRow]()
	switch name {
	case requests:
		row = requestType()
	case ledgers:
		row = reflect.TypeFor[ledgerRow]()
	case verdicts:
		row = reflect.TypeFor[verdictRow]()
	}
	return parquet.NewSchema("schema", parquet.SchemaOf(reflect.New(row).Interface()))
}

// newWriter returns a writer of the format's first version and plain values, which all readers
// know.
func newWriter(to io.Writer, table string) *parquet.GenericWriter[any] {
	return parquet.NewGenericWriter[any](to, SchemaOf(table), parquet.MaxRowsPerRowGroup(groupRows), parquet.Compression(&parquet.Zstd),
		parquet.DataPageVersion(1), parquet.DefaultEncodingFor(parquet.ByteArray, &parquet.Plain))
}

// NewDataset returns a dataset at a place.
func NewDataset(to place.Place) *Dataset {
	return &Dataset{to: to, seen: make(map[string]string), Rows: make(map[string]int64)}
}

// Seen returns the name under which the same bytes were added before, "" if they were not.
func (d *Dataset) Seen(r *Run) string { return d.seen[r.ID] }

// Add writes the rows of a run.
func (d *Dataset) Add(ctx context.Context, r *Run) error {
	if d.open == nil {
		if err := d.openPart(); err != nil {
			return err
		}
	}
	d.runs = append(d.runs, r.ID)
	d.seen[r.ID] = r.Files[0]
	large := false
	for _, t := range d.open {
		if err := t.addRun(r); err != nil {
			return d.wrapError(err)
		}
		fi, err := t.file.Stat()
		large = large || err == nil && fi.Size() >= partBytes
	}
	if !large {
		return nil
	}
	return d.closePart(ctx)
}

func (d *Dataset) openPart() error {
	for _, name := range Tables {
		f, err := d.to.Stage(name)
		if err != nil {
			d.dropPart()
			return d.wrapError(err)
		}
		d.open = append(d.open, &table{name: name, file: f, w: newWriter(f, name)})
	}
	return nil
}

func (t *table) addRun(r *Run) (err error) {
	put := func(row any) {
		if err == nil {
			_, err = t.w.Write([]any{row})
			t.rows++
		}
	}
	switch t.name {
	case requests:
		if r.source == nil {
			return nil
		}
		row := make([]parquet.Row, 1)
		for q := range r.source.Requests() {
			row[0] = appendRequest(row[0][:0], r.ID, q)
			if _, err := t.w.WriteRows(row); err != nil {
				return err
			}
			t.rows++
		}
	case ledgers:
		for _, row := range r.ledgerRows() {
			put(row)
		}
	case verdicts:
		for _, row := range r.verdictRows() {
			put(row)
		}
	case runs:
		put(r.newRunRow())
	}
	return err
}

// closePart closes the open part, and publishes its files under a name made of the runs in them.
func (d *Dataset) closePart(ctx context.Context) error {
	defer d.dropPart()
	sum := sha256.New()
	for _, id := range d.runs {
		fmt.Fprintln(sum, id)
	}
	name := hex.EncodeToString(sum.Sum(nil)[:8]) + ".parquet"
	for _, t := range d.open {
		err := t.w.Close()
		if err == nil {
			err = d.to.Put(ctx, t.name+"/"+name, t.file)
		}
		if err != nil {
			return d.wrapError(err)
		}
		d.Rows[t.name] += t.rows
	}
	d.Parts++
	return nil
}

// dropPart drops the open part: the place removes staged files that were not published.
func (d *Dataset) dropPart() {
	for _, t := range d.open {
		d.to.Drop(t.file)
	}
	d.open, d.runs = nil, nil
}

func (d *Dataset) wrapError(err error) error { return fmt.Errorf("%s: %w", d.to, err) }

// Close publishes the rest. Parts that were closed before stay, whatever happens.
func (d *Dataset) Close(ctx context.Context) error {
	if d.open == nil {
		return nil
	}
	return d.closePart(ctx)
}

// Abandon drops what has not been published.
func (d *Dataset) Abandon() { d.dropPart() }
