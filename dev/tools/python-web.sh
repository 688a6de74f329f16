#!/usr/bin/env bash
# Prints the path of a Python with Flask, Django and its REST framework, FastAPI, aiohttp, BlackSheep, Bottle, Celery, CherryPy, Connexion, Klein,
# Sanic, Tornado, Twisted, Falcon, Litestar, Pyramid, Quart, Hypercorn, gunicorn, gevent, uvicorn, Waitress, uWSGI, asyncpg, openpyxl, Peewee, psycopg,
# PyMySQL, SQLAlchemy for Flask, Strawberry and redis:
# $PYTHON_WEB, or one made in .tools/python-web of the host's python3 and PyPI's packages (50 MB). What is fetched is pinned and checked by
# dev/tools/python-web.txt, which pip-compile --generate-hashes made. To have it anew: rm -r .tools/python-web, and again.
#
#   dev/tools/python-web.sh        find it, or fetch it
#   dev/tools/python-web.sh find   find it, or fail: fetches nothing
#
# stdout is the path alone. Progress and the reason of a failure are on stderr.
set -euo pipefail
trap 'echo "dev/tools/python-web.sh: line $LINENO failed" >&2' ERR
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
home=$PWD/.tools/python-web

main() {
	case ${1:-} in
	find | '') ;;
	*) fail "unknown argument $1: there is 'find', and no argument" ;;
	esac
	local python=${PYTHON_WEB:-$home/bin/python}
	if ! has "$python"; then
		[ -z "${PYTHON_WEB:-}" ] || fail "PYTHON_WEB=$PYTHON_WEB has not all of Flask, Django and its REST framework, FastAPI, aiohttp, BlackSheep, Bottle, Celery, CherryPy, Connexion, Klein, Sanic, Tornado, Twisted, Falcon, Litestar, Pyramid, Quart, Hypercorn, gunicorn, gevent, uvicorn, Waitress, uWSGI, asyncpg, openpyxl, Peewee, psycopg, PyMySQL, SQLAlchemy for Flask, Strawberry and redis: install them, or unset it"
		[ "${1:-}" != find ] || fail "no Python with Flask, Django and FastAPI in .tools/python-web: dev/tools/python-web.sh makes one"
		command -v python3 >/dev/null || fail "no python3 here: install it, with its venv"
		command -v flock >/dev/null || fail "no flock here: install it, or set PYTHON_WEB"
		mkdir -p .tools
		exec 9>.tools/python-web.lock
		flock 9
		has "$python" || fetch # another run may have fetched it meanwhile
		has "$python" || fail "what was fetched does not start"
	fi
	command -v "$python"
}

has() { "$1" -c "import flask, django, gunicorn, gevent, fastapi, aiohttp, aiodns, tornado.web, falcon, litestar, pyramid, quart, hypercorn, waitress, sqlalchemy, uvicorn, psycopg, psycopg_pool, redis, packaging, httpx, requests, blacksheep, bottle, cherrypy, klein, sanic, twisted.web, pymysql, asyncpg, strawberry, rest_framework, celery, connexion, openpyxl, peewee, flask_sqlalchemy, pyuwsgi" 2>/dev/null; }

fetch() {
	rm -rf "$home"
	python3 -m venv "$home" >&2 || fail "python3 -m venv fails: install python3-venv"
	echo "dev/tools/python-web.sh: fetching what dev/tools/python-web.txt names (50 MB) into .tools/python-web" >&2
	"$home/bin/python" -m pip install --disable-pip-version-check --no-cache-dir -q --require-hashes --no-deps --only-binary=:all: -r dev/tools/python-web.txt >"$home/log" 2>&1 ||
		fail "pip cannot fetch what dev/tools/python-web.txt names: $(grep -i -m 1 err "$home/log" || tail -n 1 "$home/log")"
}

fail() {
	echo "dev/tools/python-web.sh: $1" >&2
	exit 1
}

main "$@"
