package main

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

//go:embed index.php
var pages string

// photos is the number of small files, each of which is read into space for a large one.
const photos = 4

// writeFiles writes the configurations and the pages.
func (x *shop) writeFiles() error {
	user, group := "", ""
	if os.Geteuid() == 0 {
		user, group = "user root root;", "user = root\ngroup = root\n"
	}
	image := strings.Repeat("image ", 4000)
	for n := 0; n < photos; n++ {
		if err := os.WriteFile(filepath.Join(x.dir, fmt.Sprintf("www/photos/%d.jpg", n)), []byte(image[:4000]), 0o644); err != nil {
			return err
		}
	}
	for name, text := range map[string]string{
		"nginx.conf": fmt.Sprintf(`%[3]s
daemon off;
worker_processes 1;
pid %[1]s/nginx.pid;
error_log %[1]s/nginx.error.log warn;
events { worker_connections 2048; }
http {
	log_format timed '$remote_addr - - [$time_local] $msec "$request" $status $body_bytes_sent "-" "-" rt=$request_time uct="$upstream_connect_time" uht="$upstream_header_time" urt="$upstream_response_time" ua="$upstream_addr"';
	access_log %[1]s/access.log timed;
	client_body_temp_path %[1]s/tmp/body;
	proxy_temp_path %[1]s/tmp/proxy;
	fastcgi_temp_path %[1]s/tmp/fastcgi;
	uwsgi_temp_path %[1]s/tmp/uwsgi;
	scgi_temp_path %[1]s/tmp/scgi;
	server {
		listen %[2]s backlog=4096;
		root %[1]s/www;
		location /static/ { }
		location = /favicon.ico { }
		location / {
			fastcgi_pass unix:%[1]s/php.sock;
			fastcgi_param SCRIPT_FILENAME %[1]s/www/index.php;
			fastcgi_param SCRIPT_NAME $uri;
			fastcgi_param REQUEST_URI $request_uri;
			fastcgi_param REQUEST_METHOD $request_method;
			fastcgi_param QUERY_STRING $query_string;
			fastcgi_param CONTENT_TYPE $content_type;
			fastcgi_param CONTENT_LENGTH $content_length;
			fastcgi_param SERVER_PROTOCOL $server_protocol;
			fastcgi_param REMOTE_ADDR $remote_addr;
			fastcgi_param HTTP_COOKIE $http_cookie;
		}
	}
}
`, x.dir, x.address, user),
		"php-fpm.conf": fmt.Sprintf(`[global]
error_log = %[1]s/php-fpm.log
daemonize = no

[shop]
%[3]slisten = %[1]s/php.sock
listen.backlog = 4096
pm = static
pm.max_children = %[2]d
pm.status_path = /status
access.log = %[1]s/php-access.log
access.format = "%%R - %%u %%t \"%%m %%r%%Q%%q\" %%s %%f %%{mili}d %%{kilo}M %%C%%%%"
clear_env = yes
env[REDIS] = %[4]s
`, x.dir, x.workers, group, x.store),
		"www/index.php":       pages,
		"www/static/shop.css": "body { margin: 0 }\n",
		"www/static/logo.png": image,
		"www/static/shop.js":  "// nothing\n",
		"www/favicon.ico":     image[:1200],
	} {
		if err := os.WriteFile(filepath.Join(x.dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
