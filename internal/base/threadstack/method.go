package threadstack

import (
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Method is a frame's function in parts. The C# compiler moves the bodies of async methods, lambdas and local functions into generated classes
// and methods (https://github.com/dotnet/roslyn/blob/main/src/Compilers/CSharp/Portable/Symbols/Synthesized/GeneratedNameKind.cs);
// Type and Name are those of the source.
type Method struct {
	Module string // assembly, without .dll; "" unknown
	Type   string // with namespace and enclosing types: "Shop.Controllers.Cart"
	Name   string // "Get", "Main.lambda_0_1"
	Params string // as the runtime writes them, without parentheses
	Async  bool   // the body of an async method, before or after its first await
}

// Parse splits a function into its parts:
//
//	Shop!Shop.Cart.Get(int32)                 Shop.Cart, Get
//	Shop!Shop.Cart+<Get>d__3.MoveNext()       Shop.Cart, Get, of an async method
//	Shop!Program+<>c.<<Main>$>b__0_1()        Program, Main.lambda_0_1
//	Shop!Program.<<Main>$>g__Load|0_2()       Program, Main.Load
func Parse(function string) Method {
	var m Method
	m.Module, function = splitModule(function)
	function, m.Params = splitParams(function)
	m.Type, m.Name = splitLast(function)
	if i := lastNested(m.Type); i >= 0 && strings.HasPrefix(m.Type[i+1:], "<") && m.Name == "MoveNext" && generatedBy(m.Type[i+1:]) == 'd' {
		m.Name, m.Async = sourceName(dropGenerics(m.Type[i+1:])), true
		m.Type, m.Params = m.Type[:i], ""
	}
	for { // <>c and <>c__DisplayClass0_0 hold lambdas and what they capture
		i := lastNested(m.Type)
		if i < 0 || !strings.HasPrefix(m.Type[i+1:], "<>c") {
			break
		}
		m.Type = m.Type[:i]
	}
	if strings.HasPrefix(m.Name, "<") {
		m.Name = sourceName(m.Name)
	}
	return m
}

// Readable returns a frame's function as its source names it, with namespaces.
func Readable(function string) string { return formatFunction(function, false) }

// Short is [Readable] without namespaces.
func Short(function string) string { return formatFunction(function, true) }

// SplitFile splits a function of native code into its name and the library or program that it is from: "__write (libc.so.6)"; false if
// it names none. A managed function has no space before its parameters.
func SplitFile(function string) (name, file string, ok bool) {
	i := strings.LastIndex(function, " (")
	if i <= 0 || !strings.HasSuffix(function, ")") {
		return function, "", false
	}
	file = function[i+2 : len(function)-1]
	if file == "" || strings.ContainsAny(file, " ,(") {
		return function, "", false
	}
	return function[:i], file, true
}

// Bare returns a frame's method without its module and parameters, for titles.
func Bare(frame string) string {
	if _, after, ok := strings.Cut(frame, "!"); ok {
		frame = after
	}
	if isGoMethod(frame) {
		return frame
	}
	name, _, _ := strings.Cut(frame, "(")
	return name
}

// isGoMethod says whether a frame is a method of Go, whose parenthesis is about its receiver: main.(*checkins).locate.
func isGoMethod(frame string) bool { return strings.Contains(frame, ".(*") }

func formatFunction(function string, short bool) string {
	if isPseudo(function) || isGoMethod(function) {
		return function
	}
	if name, file, native := SplitFile(function); native {
		if strings.HasPrefix(name, file) { // "libc.so.6+0x891f4 (libc.so.6)"
			return name
		}
		return function
	}
	return Parse(function).formatMethod(short)
}

func (m Method) formatMethod(short bool) string {
	if m.Module == "" && m.Type == "" && isPseudo(m.Name) {
		return m.Name
	}
	typ := strings.ReplaceAll(readGenerics(m.Type), "+", ".")
	if short {
		typ = withoutNamespace(m.Type)
	}
	name := readGenerics(m.Name)
	if typ != "" && name != "" {
		name = typ + "." + strings.TrimPrefix(name, ".")
	} else {
		name = typ + name
	}
	params := m.Params
	if m.Type == "dynamicClass" { // they begin with an address
		params = ""
	}
	name += "(" + readParams(params) + ")"
	if m.Module != "" {
		name = m.Module + "!" + name
	}
	return name
}

// splitModule cuts the part before the first !, which a parameter may contain, too.
func splitModule(s string) (module, rest string) {
	i := strings.IndexByte(s, '!')
	if i < 0 || strings.IndexByte(s[:i], '(') >= 0 {
		return "", s
	}
	module = s[:i]
	for _, suffix := range []string{".dll", ".exe", ".il", ".ni"} {
		module = strings.TrimSuffix(module, suffix)
	}
	return module, s[i+1:]
}

func splitParams(s string) (name, params string) {
	i := indexOutside(s, '(', false)
	if i < 0 {
		return s, ""
	}
	return s[:i], strings.TrimSuffix(s[i+1:], ")")
}

// splitLast cuts the method from its type at the last dot; constructors have a dot of their own.
func splitLast(s string) (typ, name string) {
	for _, c := range []string{"..ctor", "..cctor"} {
		if strings.HasSuffix(s, c) {
			return s[:len(s)-len(c)], c[1:]
		}
	}
	i := indexOutside(s, '.', true)
	if i < 0 {
		return "", s
	}
	return s[:i], s[i+1:]
}

func lastNested(typ string) int { return indexOutside(typ, '+', true) }

// indexOutside finds the first or last c outside of brackets.
func indexOutside(s string, c byte, last bool) int {
	at, depth := -1, 0
	for i := range len(s) {
		switch b := s[i]; {
		case depth == 0 && b == c:
			if at = i; !last {
				return at
			}
		case b == '<' || b == '[' || b == '(':
			depth++
		case b == '>' || b == ']' || b == ')':
			depth = max(0, depth-1)
		}
	}
	return at
}

// generatedBy returns the letter that tells what the compiler generated a name for: <Get>d__3 is a state machine (d), <Get>b__0 a lambda (b),
// <Get>g__Load|0 a local function (g).
func generatedBy(name string) byte {
	if i := closingBracket(name); i > 0 && i+1 < len(name) {
		return name[i+1]
	}
	return 0
}

// closingBracket finds the bracket that closes the one at the beginning.
func closingBracket(name string) int {
	depth := 0
	for i := range len(name) {
		switch name[i] {
		case '<', '[':
			depth++
		case '>', ']':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// sourceName reverts the compiler's names: <Get>d__3 is Get, <<Main>$>b__0_1 is Main.lambda_0_1, <Get>g__Load|0_2 is Get.Load.
func sourceName(name string) string {
	i := closingBracket(name)
	if i < 1 {
		return name
	}
	inner, rest := name[1:i], name[i+1:]
	if strings.HasPrefix(inner, "<") {
		inner = sourceName(inner)
	}
	switch {
	case strings.HasPrefix(rest, "b__"):
		return inner + ".lambda_" + rest[len("b__"):]
	case strings.HasPrefix(rest, "g__"):
		local, _, _ := strings.Cut(rest[len("g__"):], "|")
		return inner + "." + local
	}
	return inner
}

// dropGenerics removes "[System.__Canon]" and "`1".
func dropGenerics(s string) string {
	if strings.IndexByte(s, '[') < 0 && strings.IndexByte(s, '`') < 0 {
		return s
	}
	var out strings.Builder
	depth := 0
	for i := 0; i < len(s); i++ {
		switch b := s[i]; {
		case b == '[':
			depth++
		case b == ']':
			depth = max(0, depth-1)
		case depth > 0:
		case b == '`':
			for i+1 < len(s) && s[i+1]-'0' <= 9 {
				i++
			}
		default:
			out.WriteByte(b)
		}
	}
	return out.String()
}

// readGenerics writes `1[System.__Canon] as <T>: the type argument of a shared instance is unknown anyway.
func readGenerics(s string) string {
	i := strings.IndexByte(s, '`')
	if i < 0 {
		return dropGenerics(s)
	}
	n := i + 1
	count := 0
	for n < len(s) && s[n]-'0' <= 9 && count < 100 {
		count = count*10 + int(s[n]-'0')
		n++
	}
	args := "<T>"
	if count > 1 {
		args = "<" + strings.Repeat("T,", min(count, 16)-1) + "T>"
	}
	rest := s[n:]
	if end := closingBracket(rest); end > 0 && (rest[0] == '[' || rest[0] == '<') {
		rest = rest[end+1:]
	}
	return s[:i] + args + readGenerics(rest)
}

func withoutNamespace(typ string) string {
	outer, nested, has := strings.Cut(typ, "+")
	if i := indexOutside(outer, '.', true); i >= 0 {
		outer = outer[i+1:]
	}
	if has {
		outer += "." + strings.ReplaceAll(nested, "+", ".")
	}
	return readGenerics(outer)
}

// keywords are IL's names of types that C# has words for.
var keywords = map[string]string{"int8": "sbyte", "unsigned int8": "byte", "int16": "short", "unsigned int16": "ushort", "int32": "int",
	"unsigned int32": "uint", "int64": "long", "unsigned int64": "ulong", "float32": "float", "float64": "double",
	"String": "string", "Object": "object"}

// readParams turns "class System.String,value class My.Range,int32" into
// "string,Range,int".
func readParams(params string) string {
	if params == "" {
		return ""
	}
	var out []string
	for params != "" {
		var p string
		if i := indexOutside(params, ',', false); i >= 0 {
			p, params = params[:i], params[i+1:]
		} else {
			p, params = params, ""
		}
		p = strings.TrimSpace(p)
		for _, prefix := range []string{"class ", "value class ", "valuetype "} {
			p = strings.TrimPrefix(p, prefix)
		}
		bare := strings.TrimRight(p, "[]&*")
		if strings.HasSuffix(p, "]") && strings.ContainsRune(bare, '[') { // arguments of a generic type, not an array
			bare = p
		}
		suffix := p[len(bare):]
		bare = withoutNamespace(bare)
		if word, ok := keywords[bare]; ok {
			bare = word
		} else if strings.HasPrefix(bare, "!") { // a parameter of the generic method ("!!0") or type ("!0")
			bare = "T"
		}
		out = append(out, bare+suffix)
	}
	return strings.Join(out, ",")
}

// IsFunction reports whether a frame is a function, and not a placeholder.
func IsFunction(frame string) bool { return !isPseudo(frame) }

// runAny are the beginnings of the names of functions that run any code of a language: those of the interpreters of CPython, V8, PHP and Ruby,
// Go's runtime, and what the JVM and .NET call a function by that is known at run time only.
var runAny = []string{"_PyEval_", "PyEval_", "Builtins_", "execute_ex", "zend_execute", "vm_exec", "rb_vm_exec", "runtime.", "java.lang.invoke.", "java.lang.reflect.",
	"jdk.internal.reflect.", "sun.reflect.", "System.Reflection.", "System.RuntimeMethodHandle.", "v8::internal::Invoke", "v8::internal::Execution::", "v8::Function::Call"}

// RunsAny reports whether a function runs any code of its language: that a thread is in it says nothing of what it does.
func RunsAny(function string) bool {
	return slices.ContainsFunc(runAny, func(sign string) bool { return strings.HasPrefix(function, sign) })
}

// isPseudo reports whether a frame is a placeholder.
func isPseudo(frame string) bool {
	switch frame {
	case nativeFrames, evidence.UnknownFunction, "UNMANAGED_CODE_TIME", "CPU_TIME", "BLOCKED_TIME", "?!?", "?", "BROKEN", "":
		return true
	}
	return strings.HasPrefix(frame, "[") && strings.HasSuffix(frame, "]") // of a library without names, of internal/format/gopprof
}

// nativeFrames are dotnet-stack's texts for a thread in native code.
const nativeFrames = "[Native Frames]"
