package html

import "github.com/unstall/unstall/timeline"

func appPayload(*timeline.Timeline) ([]byte, error) { return []byte("{}"), nil }
func appStyle() string                              { return "" }
func appScript() string                             { return "" }
