package html

import "fmt"

func (t Tables) addTo(doc *document) error {
	var v partView
	for i, x := range t {
		if len(x.Rows) == 0 {
			continue
		}
		if x.ID == "" {
			x.ID = fmt.Sprintf("table-%d-%d", len(doc.Parts), i+1)
		}
		v.Tables = append(v.Tables, x)
	}
	doc.Parts = append(doc.Parts, v)
	return nil
}
