package top

import (
	"context"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Screen draws the board on a terminal until q, Ctrl-C, or the end of its context. The error says that the process
// has ended.
func Screen(ctx context.Context, in, out *os.File, w *Watch, look Look) error {
	m := &screen{ctx: ctx, watch: w, look: look}
	options := []tea.ProgramOption{tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithoutSignalHandler()}
	if _, err := tea.NewProgram(m, options...).Run(); err != nil && ctx.Err() == nil {
		return err
	}
	return m.ended
}

// screen is the model of Bubble Tea: Update changes it by messages, View draws it.
type screen struct {
	ctx   context.Context
	watch *Watch
	look  Look
	still *Watch // the state shown while paused
	next  time.Time
	ended error
}

type (
	due  struct{} // message: it is time to read
	came batch    // message: the readings
)

func (m *screen) Init() tea.Cmd { return m.readSources }

// readSources reads the sources as a command, so that the screen stays responsive.
func (m *screen) readSources() tea.Msg { return came(m.watch.collectReadings(m.ctx)) }

// scheduleRead returns the command that starts the next reading. It keeps to the interval, however long reading
// takes.
func (m *screen) scheduleRead(now time.Time) tea.Cmd {
	if m.next.IsZero() {
		m.next = now
	}
	for !m.next.After(now) {
		m.next = m.next.Add(m.watch.Every)
	}
	return tea.Tick(m.next.Sub(now), func(time.Time) tea.Msg { return due{} })
}

func (m *screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case due:
		return m, m.readSources
	case came:
		if m.ctx.Err() != nil {
			return m, tea.Quit // the sources failed because the context ended
		}
		if m.ended = m.watch.applyBatch(batch(msg)); m.ended != nil {
			return m, tea.Quit
		}
		return m, m.scheduleRead(m.watch.now())
	case tea.WindowSizeMsg:
		m.look.Width, m.look.Height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		return m, m.applyKey(msg.String())
	}
	return m, nil
}

func (m *screen) applyKey(name string) tea.Cmd {
	switch name {
	case "q", "ctrl+c", "esc":
		return tea.Quit
	case "p":
		if m.still == nil {
			m.still = m.watch.frozenCopy()
		}
	case "r":
		m.still = nil
	case "up", "k":
		m.look.Scroll--
	case "down", "j":
		m.look.Scroll++
	case "pgup":
		m.look.Scroll -= m.look.Height / 2
	case "pgdown", "space":
		m.look.Scroll += m.look.Height / 2
	case "home", "g":
		m.look.Scroll = 0
	case "end", "G":
		m.look.Scroll = MostScroll(m.shownWatch(), m.look)
	}
	m.look.Scroll = max(0, min(m.look.Scroll, MostScroll(m.shownWatch(), m.look)))
	return nil
}

func (m *screen) View() tea.View {
	look := m.look
	look.Paused = m.still != nil
	v := tea.NewView(Draw(m.shownWatch(), look))
	v.AltScreen = true
	return v
}

func (m *screen) shownWatch() *Watch {
	if m.still != nil {
		return m.still
	}
	return m.watch
}
