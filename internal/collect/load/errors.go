package load

// Reason returns an error in a few words, equal for all errors of its kind.
func Reason(err error) string { return shortReason(err) }

// Unreachable words an error of a service that gave no response at all; it wraps [ErrUnreachable].
func Unreachable(p Plan, err error) error {
	u, bad := parseURL(p.URL)
	if bad != nil {
		return bad
	}
	return unreachableError(&p, u, err)
}

// PlanError wraps [ErrPlan].
func PlanError(format string, args ...any) error { return planError(format, args...) }
