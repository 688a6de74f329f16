package generate

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// UID is the dashboard's identifier in links to Grafana.
const UID = "unstall"

// around is the time that a link shows on either side of a recording, because points come every 15 s or more.
const around = 5 * time.Minute

// Linker links to the dashboard of [Grafana].
type Linker struct{ base url.URL }

// NewLinker returns a linker to the Grafana at an address, or to a dashboard there with the
// variables host and service.
func NewLinker(address string) (*Linker, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("--grafana %.80q: give the address of a Grafana, such as https://grafana.example", address)
	case u.User != nil:
		return nil, errors.New("--grafana: a link must not hold a user and password: remove them")
	}
	if u.Path = strings.TrimSuffix(u.Path, "/"); !strings.Contains(u.Path, "/d/") {
		u.Path += "/d/" + UID + "/" + UID
	}
	u.Fragment = ""
	return &Linker{*u}, nil
}

// To returns the link to the time of a recording, for a host and a service; "" means all of them.
func (l *Linker) To(from, until time.Time, host, service string) string {
	u := l.base
	q := u.Query()
	q.Set("from", strconv.FormatInt(from.Add(-around).UnixMilli(), 10))
	q.Set("to", strconv.FormatInt(until.Add(around).UnixMilli(), 10))
	for name, value := range map[string]string{"var-host": host, "var-service": service} {
		if value != "" {
			q.Set(name, value)
		}
	}
	u.RawQuery = q.Encode()
	return u.String()
}
