#!/usr/bin/env bash
# Prints a folder whose node_modules hold Apollo Server, Express 4 and 5, Fastify, Feathers, GraphQL Yoga, h3, hapi, Hono, Koa, LoopBack, Moleculer, NestJS,
# Polka, Restify, tRPC, Bottleneck, BullMQ, csv-stringify, DataLoader, Piscina, React, ts-node and the clients axios, ioredis, Knex, mysql2,
# Objection, pg, postgres, redis, Sequelize, TypeORM and undici:
# $NODE_WEB, else one fetched into .tools/node-web before, else from npm (80 MB), each package against its checksum in node-web/package-lock.json.
# To have it anew: rm -r .tools/node-web, and again.
#
#   dev/tools/node-web.sh        find it, or fetch it
#   dev/tools/node-web.sh find   find it, or fail: fetches nothing
#
# stdout is the path alone. Progress and the reason of a failure are on stderr.
set -euo pipefail
trap 'echo "dev/tools/node-web.sh: line $LINENO failed" >&2' ERR
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
home=$PWD/.tools/node-web
lock=dev/tools/node-web/package-lock.json

main() {
	case ${1:-} in
	find | '') ;;
	*) fail "unknown argument $1: there is 'find', and no argument" ;;
	esac
	command -v node >/dev/null || fail "no node here: install Node 20 or later, and npm"
	if [ -n "${NODE_WEB:-}" ]; then
		[ -f "$NODE_WEB/node_modules/fastify/package.json" ] || fail "NODE_WEB=$NODE_WEB holds no node_modules/fastify: unset it, or name a folder that does"
		echo "$NODE_WEB"
		return
	fi
	if ! same; then
		[ "${1:-}" != find ] || fail "no Express in .tools/node-web: dev/tools/node-web.sh fetches it"
		for tool in npm flock; do
			command -v $tool >/dev/null || fail "no $tool to fetch Express with"
		done
		mkdir -p .tools
		exec 9>.tools/node-web.lock
		flock 9
		same || fetch # another run may have fetched it meanwhile
	fi
	echo "$home"
}

fail() {
	echo "dev/tools/node-web.sh: $1" >&2
	exit 1
}

same() { cmp -s "$lock" "$home/package-lock.json" && [ -f "$home/node_modules/express/package.json" ]; }

fetch() {
	local new=$home.new
	rm -rf "$new"
	mkdir -p "$new"
	cp dev/tools/node-web/package.json "$lock" "$new"
	echo "dev/tools/node-web.sh: fetching npm's @apollo/server, @nestjs/core, axios, express, fastify, @feathersjs/koa, @feathersjs/knex, graphql-yoga, h3, hapi, hono, koa, @loopback/rest, @loopback/repository, moleculer, @trpc/server, polka, restify, bottleneck, bullmq, dataloader, csv-stringify, piscina, react, ioredis, knex, mysql2, objection, pg, postgres, redis, sequelize, typeorm, undici and ts-node (80 MB) into .tools/node-web" >&2
	(cd "$new" && npm ci --ignore-scripts --no-audit --no-fund --silent >"$new/log" 2>&1) || fail "npm cannot fetch them: $(tail -n 1 "$new/log")"
	rm -rf "$home"
	mv "$new" "$home"
}

main "$@"
