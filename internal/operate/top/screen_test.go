package top

import (
	"errors"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

func TestKeys(t *testing.T) {
	w := watch(2, pool(climb, 14)...)
	m := &screen{ctx: t.Context(), watch: w, look: Look{Width: 80, Height: 24}}
	second := func() { m.Update(m.readSources()) }
	press := func(text string) tea.Cmd {
		k := tea.KeyPressMsg{Code: rune(text[0]), Text: text}
		switch text {
		case "ctrl+c":
			k = tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}
		case "down":
			k = tea.KeyPressMsg{Code: tea.KeyDown}
		}
		_, cmd := m.Update(k)
		return cmd
	}
	shows := func() string { return m.View().Content }
	for range 3 {
		second()
	}
	if !strings.Contains(shows(), "  6          4          6 ") {
		t.Errorf("6 threads are not shown:\n%s", shows())
	}
	press("p")
	was := shows()
	for range 3 {
		second()
	}
	if shows() != was || !strings.Contains(was, "paused") {
		t.Errorf("it went on while paused:\n%s", shows())
	}
	press("r")
	if s := shows(); strings.Contains(s, "paused") || !strings.Contains(s, " 10          4         10 ") {
		t.Errorf("it was resumed:\n%s", s)
	}
	m.Update(tea.WindowSizeMsg{Width: 60, Height: 8})
	if n := strings.Count(shows(), "\n") + 1; n != 8 {
		t.Errorf("%d lines in a window of 8", n)
	}
	for range 50 {
		press("down")
	}
	if !strings.Contains(shows(), "CPU (100 %") || m.look.Scroll > 20 {
		t.Errorf("scrolled to line %d:\n%s", m.look.Scroll, shows())
	}
	for _, key := range []string{"q", "ctrl+c"} {
		cmd := press(key)
		if cmd == nil {
			t.Errorf("%s does nothing", key)
		} else if _, ok := cmd().(tea.QuitMsg); !ok {
			t.Errorf("%s does not quit", key)
		}
	}
	_, cmd := m.Update(came{[][]Reading{nil}, []error{ErrEnded}})
	if cmd == nil || !errors.Is(m.ended, ErrEnded) {
		t.Errorf("the process has ended: %v", m.ended)
	}
}
