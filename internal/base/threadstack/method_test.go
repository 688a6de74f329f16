package threadstack

import (
	"testing"
)

func TestReadable(t *testing.T) {
	for _, c := range []struct{ in, readable, short string }{
		{"Shop!Shop.Cart.Get(int32)", "Shop!Shop.Cart.Get(int)", "Shop!Cart.Get(int)"},
		{"Shop.dll!Shop.Cart.Get()", "Shop!Shop.Cart.Get()", "Shop!Cart.Get()"},
		{"DiagnosticScenarios!Ns.Type+<TaskWait>d__3.MoveNext()", "DiagnosticScenarios!Ns.Type.TaskWait()", "DiagnosticScenarios!Type.TaskWait()"},
		{"A!Program+<>c.<<Main>$>b__0_1()", "A!Program.Main.lambda_0_1()", "A!Program.Main.lambda_0_1()"},
		{"A!Program+<>c+<<<Main>$>b__0_1>d.MoveNext()", "A!Program.Main.lambda_0_1()", "A!Program.Main.lambda_0_1()"},
		{"A!N.Logger.Log(value class N.Level,!!0,class System.Func`2<!!0,!0>)", "A!N.Logger.Log(Level,T,Func<T,T>)", "A!Logger.Log(Level,T,Func<T,T>)"},
		{"A!N.T+<>c__DisplayClass4_0.<Run>b__2(class System.String,value class N.P&)", "A!N.T.Run.lambda_2(string,P&)", "A!T.Run.lambda_2(string,P&)"},
		{"A!Program.<<Main>$>g__Load|0_2(int32[])", "A!Program.Main.Load(int[])", "A!Program.Main.Load(int[])"},
		{"A!Program+<<<Main>$>g__Load|0_2>d.MoveNext()", "A!Program.Main.Load()", "A!Program.Main.Load()"},
		{"A!Program.<Main>$(class System.String[])", "A!Program.Main(string[])", "A!Program.Main(string[])"},
		{"L!System.Threading.Tasks.Task`1[System.__Canon].GetResultCore(bool)", "L!System.Threading.Tasks.Task<T>.GetResultCore(bool)", "L!Task<T>.GetResultCore(bool)"},
		{"L!N.Map`2+Entry[System.Int32,System.__Canon].Find(!0)", "L!N.Map<T,T>.Entry.Find(T)", "L!Map<T,T>.Entry.Find(T)"},
		{"L!N.T+<Send>d__3`1[System.__Canon].MoveNext()", "L!N.T.Send()", "L!T.Send()"},
		{"L!N.T..ctor(class System.Collections.Generic.List`1<class System.String>)", "L!N.T.ctor(List<T>)", "L!T.ctor(List<T>)"},
		{"L!N.C.System.Collections.IEnumerator.MoveNext()", "L!N.C.System.Collections.IEnumerator.MoveNext()", "L!IEnumerator.MoveNext()"},
		{"Anonymously Hosted DynamicMethods Assembly!dynamicClass.lambda_method1(pMT: 00007FF7A8CBF658,class System.Object)",
			"Anonymously Hosted DynamicMethods Assembly!dynamicClass.lambda_method1()", "Anonymously Hosted DynamicMethods Assembly!dynamicClass.lambda_method1()"},
		{"main.(*checkins).locate", "main.(*checkins).locate", "main.(*checkins).locate"},
		{"[Native Frames]", "[Native Frames]", "[Native Frames]"}, {"an unknown function", "an unknown function", "an unknown function"},
		{"A!<>.<(", "", ""}, {"", "", ""}, {"!", "", ""}, {"A!B.<C", "", ""}, {"A!B+<.MoveNext()", "", ""}, {"`", "", ""}, {"A!x`1[[", "", ""},
	} {
		readable, short := Readable(c.in), Short(c.in)
		if c.readable == "" {
			continue // it is enough that it does not panic
		}
		if readable != c.readable || short != c.short {
			t.Errorf("%s:\n%s\n%s, want\n%s\n%s", c.in, readable, short, c.readable, c.short)
		}
	}
}

func TestParse(t *testing.T) {
	m := Parse("Shop!Shop.Cart+<Get>d__3.MoveNext()")
	if want := (Method{Module: "Shop", Type: "Shop.Cart", Name: "Get", Async: true}); m != want {
		t.Errorf("%+v, want %+v", m, want)
	}
}
