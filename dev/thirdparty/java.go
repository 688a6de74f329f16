package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// javaProgram returns the path of the program java of a JDK of a major version, which it finds or
// fetches; "java" if it cannot.
func javaProgram(major int) string {
	out, err := exec.Command("bash", "dev/tools/jdk.sh", strconv.Itoa(major)).Output()
	if err != nil {
		return "java"
	}
	return filepath.Join(strings.TrimSpace(string(out)), "bin/java")
}

// prependOptions puts options of the JVM before the other arguments.
func (p *place) prependOptions(options ...string) { p.args = append(options, p.args...) }

// writePages writes a web application of JSPs: a small page, one that makes a list of 1,500
// orders, and one that asks the backend.
func writePages(p *place, dir string) {
	_ = os.MkdirAll(dir, 0o755)
	for name, text := range map[string]string{
		"hello.jsp": `<%@ page session="false" %><html><body>hello <%= request.getRemoteAddr() %></body></html>`,
		"orders.jsp": `<%@ page session="false" import="java.util.*" %><html><body><table>
<% List<String> rows = new ArrayList<>();
   for (int i = 0; i < 1500; i++) rows.add(String.format("%06d customer-%d", (i * 7919) % 100000, i % 37));
   Collections.sort(rows);
   for (String row : rows) out.println("<tr><td>" + row + "</td></tr>"); %></table></body></html>`,
		"stock.jsp": `<%@ page session="false" import="java.io.*,java.net.*" %><%
   URLConnection c = new URL("http://` + p.addressOf("backend") + `/stock").openConnection();
   try (InputStream in = c.getInputStream()) { out.print(in.readAllBytes().length); } %>`,
	} {
		_ = os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)
	}
}

// requestPages returns a function that requests every page once, which compiles it.
func requestPages(p *place) func(context.Context) error {
	return func(ctx context.Context) error {
		for _, page := range []string{"hello", "orders", "stock"} {
			if err := getURL(ctx, "http://"+p.main+"/shop/"+page+".jsp"); err != nil {
				return err
			}
		}
		return nil
	}
}

func pageLoad(hello, orders, stock float64) (out []traffic) {
	for path, rate := range map[string]float64{"/shop/hello.jsp": hello, "/shop/orders.jsp": orders, "/shop/stock.jsp": stock} {
		if rate > 0 {
			out = append(out, httpLoad{rate: rate, paths: []string{path}}.sendRequests)
		}
	}
	return out
}
