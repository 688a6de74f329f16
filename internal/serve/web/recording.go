package web

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/present/html"
)

// How long a recording that was started from a page takes, in seconds.
const (
	defaultSeconds = 30
	mostSeconds    = 300
)

// recording is a recording that was started from a page.
type recording struct {
	target string
	began  time.Time
	how    time.Duration

	ended bool
	name  string // of the capture
	err   error
}

// startRecording starts a recording, unless another one is running.
func (s *Server) startRecording(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			http.Error(w, fmt.Sprintf("at most %d bytes are accepted", mostBody), http.StatusRequestEntityTooLarge)
			return
		}
		s.writeList(w, r, http.StatusBadRequest, "The form was not understood.")
		return
	}
	if subtle.ConstantTimeCompare([]byte(r.PostForm.Get("token")), []byte(s.form)) != 1 {
		s.writeList(w, r, http.StatusForbidden, "The form is older than this unstall serve: send it again.")
		return
	}
	if s.opt.Record == nil {
		s.writeList(w, r, http.StatusForbidden, "This page cannot start recordings.")
		return
	}
	target := strings.TrimSpace(r.PostForm.Get("target"))
	seconds, err := strconv.Atoi(r.PostForm.Get("seconds"))
	if target == "" || len(target) > 300 || err != nil || seconds < 1 || seconds > mostSeconds {
		s.writeList(w, r, http.StatusBadRequest, fmt.Sprintf("To record, give a process and 1 to %d seconds.", mostSeconds))
		return
	}
	now := &recording{target: shownTarget(target), began: time.Now(), how: time.Duration(seconds) * time.Second}
	s.mu.Lock()
	busy := s.recording != nil && !s.recording.ended || s.ctx.Err() != nil
	if !busy {
		s.recording = now
	}
	s.mu.Unlock()
	if busy {
		s.writeList(w, r, http.StatusConflict, "Another recording is running: wait until it has ended.")
		return
	}
	passive := r.PostForm.Get("passive") != ""
	s.going.Go(func() {
		name, _, err := s.opt.Record(s.ctx, target, now.how, passive)
		s.mu.Lock()
		defer s.mu.Unlock()
		now.ended, now.name, now.err = true, name, err
	})
	http.Redirect(w, r, "/recording", http.StatusSeeOther)
}

// shownTarget returns a target without its password.
func shownTarget(target string) string {
	if u, err := url.Parse(target); err == nil && u.User != nil {
		return u.Redacted()
	}
	return target
}

// recordingTarget returns what is being recorded, "" if nothing is.
func (s *Server) recordingTarget() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.recording == nil || s.recording.ended {
		return ""
	}
	return s.recording.target
}

// serveProgress serves how far the recording is, and redirects to its report when it has ended.
func (s *Server) serveProgress(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	var now recording
	if s.recording != nil {
		now = *s.recording
	}
	s.mu.Unlock()
	switch {
	case now.target == "":
		http.Redirect(w, r, "/", http.StatusSeeOther)
	case now.ended && now.err != nil:
		s.writeNotice(w, http.StatusOK, html.Notice{Label: "not recorded", Text: now.target + " could not be recorded.", More: strings.Split(now.err.Error(), "\n")})
	case now.ended:
		http.Redirect(w, r, "/capture/"+url.PathEscape(now.name), http.StatusSeeOther)
	default:
		s.writeNotice(w, http.StatusOK, html.Notice{Label: "recording", Text: now.target + " is being recorded.", Refresh: 1,
			More: []string{fmt.Sprintf("%.0f of %.0f seconds. The report opens when it is done.", min(time.Since(now.began), now.how).Seconds(), now.how.Seconds())}})
	}
}
