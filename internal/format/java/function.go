package java

import "strings"

// Stable removes from a function the parts that differ from run to run, and the module.
//
//	java.base/java.lang.Thread.run             java.lang.Thread.run
//	shop.Shop$$Lambda/0x000000004e044c30.run   shop.Shop$$Lambda.run
//	shop.Shop$$Lambda$14/1234567.run           shop.Shop$$Lambda.run
func Stable(function string) string {
	for {
		i := strings.IndexByte(function, '/')
		if i < 0 || strings.Contains(function[:i], "$$") || strings.Contains(function[:i], "LambdaForm$") {
			break
		}
		function = function[i+1:] // a module, or the name of a class loader
	}
	dot := strings.LastIndexByte(function, '.')
	if dot < 0 {
		return function
	}
	typ, method := function[:dot], function[dot:]
	if i := strings.Index(typ, "$$Lambda"); i >= 0 {
		typ = typ[:i+len("$$Lambda")]
	}
	if i := strings.IndexByte(typ, '/'); i >= 0 {
		typ = typ[:i]
	}
	for _, generated := range []string{"GeneratedMethodAccessor", "GeneratedConstructorAccessor"} {
		if i := strings.Index(typ, generated); i >= 0 {
			typ = typ[:i+len(generated)]
		}
	}
	return typ + method
}
