package timeline

// processors lays out what each processor did.
func (l *layout) processors() {}
