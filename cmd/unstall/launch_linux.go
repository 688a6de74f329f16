package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// exceptAdvised is PR_THP_DISABLE_EXCEPT_ADVISED (Linux 6.18): memory that the program asks
// huge pages for (MADV_HUGEPAGE) still gets them.
const exceptAdvised = 1 << 1

// execCommand replaces this process by the command. The command and the processes it starts inherit the setting of prctl(2),
// PR_SET_THP_DISABLE, which ends with them. The host's settings stay unchanged.
func (c *launchCommand) execCommand() error {
	path, err := exec.LookPath(c.Command[0])
	if err != nil {
		return fmt.Errorf("%s: %w", c.Command[0], errors.Unwrap(err))
	}
	switch c.THP {
	case "off":
		err = unix.Prctl(unix.PR_SET_THP_DISABLE, 1, 0, 0, 0)
	case "advised":
		if err = unix.Prctl(unix.PR_SET_THP_DISABLE, 1, exceptAdvised, 0, 0); errors.Is(err, unix.EINVAL) {
			err = errors.New("this kernel cannot do that for one process (Linux 6.18 can): --thp=off switches them off completely for the process")
		}
	case "host":
		err = unix.Prctl(unix.PR_SET_THP_DISABLE, 0, 0, 0, 0)
	}
	if err != nil {
		return fmt.Errorf("--thp=%s: %w", c.THP, err)
	}
	err = syscall.Exec(path, c.Command, os.Environ())
	return fmt.Errorf("%s: %w", path, err)
}
