package main

func (s *session) watchProcfs() (stop func()) { return func() {} }
