package runtime

// Redis is a Redis server, or one of those made of it (Valkey, KeyDB). It is recognised; what
// it tells of itself is not read yet.
var Redis = &Runtime{
	ID:        "redis",
	Title:     "Redis",
	Versioned: "Redis",
	Lane:      "thread",
	Requests:  Go.Requests,
}
