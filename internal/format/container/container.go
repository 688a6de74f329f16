// Package container reads what unstall records of a process's container
// (internal/collect/probe/container), by the names that its engine uses:
//
//	# container of pid 4711
//	engine containerd
//	id 0f3c…
//	name app
//	image registry.example/shop:1.2
//	pod shop-7f9
//	namespace prod
//	label app=shop
//
// Each line but the first may be missing, labels may be many.
package container

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Format reads the names of a container.
var Format = format.Format{
	Name:  "container",
	About: "the container a process runs in: name, image, pod, namespace and labels, as unstall records them",
	Whole: true,
	Match: matchHead,
	Parse: parseArtifact,
}

const heading = "# container of pid "

func matchHead(head []byte) format.Confidence {
	return format.SureIf(strings.HasPrefix(string(head[:min(len(head), len(heading))]), heading))
}

// facts are the lines and the facts they become.
var facts = map[string]string{
	"engine":    evidence.FactContainerEngine,
	"id":        evidence.FactContainerID,
	"name":      evidence.FactContainerName,
	"image":     evidence.FactContainerImage,
	"pod":       evidence.FactPod,
	"namespace": evidence.FactNamespace,
	"node":      evidence.FactNode,
}

// mostLabels bounds the number of labels.
const mostLabels = 256

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	var of evidence.SubjectID
	begun, labels := false, 0
	var odd, first int64
	strange := func(at int64) {
		if odd++; odd == 1 {
			first = at
		}
	}
	seen := map[string]bool{}
	err := a.Lines(func(l format.Line) bool {
		text := string(l.Text)
		key, value, _ := strings.Cut(text, " ")
		fact := facts[key]
		switch rest, head := strings.CutPrefix(text, heading); {
		case text == "":
		case l.Long:
			strange(l.Number)
		case head:
			pid, err := strconv.ParseInt(rest, 10, 32)
			if err != nil || pid <= 0 || begun {
				strange(l.Number)
				break
			}
			begun, of = true, b.Subject(evidence.Subject{PID: int(pid)})
		case !begun || value == "":
			strange(l.Number)
		case key == "label" && strings.Index(value, "=") > 0:
			name, what, _ := strings.Cut(value, "=")
			if labels++; labels <= mostLabels {
				b.Fact(evidence.Fact{Subject: of, Key: evidence.FactContainerLabel + name, Value: what, Origin: b.Origin(l.Number)})
			}
		case fact == "" || seen[fact]:
			strange(l.Number)
		default:
			seen[fact] = true
			b.Fact(evidence.Fact{Subject: of, Key: fact, Value: value, Origin: b.Origin(l.Number)})
			if key == "id" {
				b.Describe(of, func(s *evidence.Subject) { s.Container = value })
			}
		}
		return l.Number&0xfff != 0 || ctx.Err() == nil
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case !begun:
		return errors.New("container: the first line does not name its process: record again")
	case errors.Is(err, format.ErrCut):
		b.Warnf(0, "what the container is called is incomplete")
		b.Cut()
	case err != nil:
		return err
	}
	if labels > mostLabels {
		b.Warnf(0, "of %d labels of the container %d were kept", labels, mostLabels)
	}
	if odd > 0 {
		b.Warnf(first, "lines not understood: %d", odd)
	}
	return nil
}
