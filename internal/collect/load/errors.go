package load

// Reason returns an error in a few words, the same for all errors of its kind.
func Reason(err error) string { return shortReason(err) }

// Unreachable returns the error for a service that gave no response at all. It wraps [ErrUnreachable].
func Unreachable(p Plan, err error) error {
	u, bad := parseURL(p.URL)
	if bad != nil {
		return bad
	}
	return unreachableError(&p, u, err)
}

// PlanError returns an error that wraps [ErrPlan].
func PlanError(format string, args ...any) error { return planError(format, args...) }
