package evidence

// Rows is a set of rows of a table, such as requests.
type Rows []uint64

// NewRows returns an empty set that has room for n rows.
func NewRows(n int) Rows { return make(Rows, (n+63)/64) }

// Add puts a row into the set.
func (s Rows) Add(i int) { s[i/64] |= 1 << (i % 64) }

// Has says whether a row is in the set.
func (s Rows) Has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }
