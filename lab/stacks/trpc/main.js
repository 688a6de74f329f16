// The desk of a taxi company on tRPC's standalone server, pg and ioredis: orders in PostgreSQL, cars and calls in Redis, a map service over HTTP.
'use strict';
const http = require('http');
const axios = require('axios');
const Redis = require('ioredis');
const { Pool } = require('pg');
const { z } = require('zod');
const { initTRPC } = require('@trpc/server');
const { createHTTPServer } = require('@trpc/server/adapters/standalone');

const FAULT = process.env.FAULT || 'off';
const [host, port] = process.env.ADDR.split(':');
const [dbHost, dbPort] = process.env.ADDR_DB.split(':');
const [cacheHost, cachePort] = process.env.ADDR_CACHE.split(':');

const db = new Pool({ host: dbHost, port: Number(dbPort), user: 'shop', database: 'shop', max: 12 });
const connect = () => new (Redis.default || Redis)({ host: cacheHost, port: Number(cachePort) });
const redis = connect();
// Drivers wait for calls with a command that blocks its connection.
const waiters = FAULT === 'shared-connection' ? [redis] : Array.from({ length: 8 }, connect);
const maps = axios.create({
  baseURL: 'http://' + process.env.ADDR_MAPS,
  timeout: 20000,
  httpAgent: new http.Agent({ keepAlive: true, maxSockets: FAULT === 'max-sockets' ? 2 : 50 }),
});

const t = initTRPC.create();
const number = z.number().int().min(0);

let turn = 0;
const appRouter = t.router({
  orders: t.router({
    get: t.procedure.input(number).query(async ({ input }) => {
      const { rows } = await db.query('select id, total_cents, status from orders where id = $1', [input]);
      return rows[0] || null;
    }),
  }),
  cars: t.router({
    // Where a car was seen last.
    get: t.procedure.input(number).query(async ({ input }) => ({ car: input, seen: await redis.hget('cars', String(input)) })),
  }),
  routes: t.router({
    find: t.procedure.input(number).query(async ({ input }) => {
      const { data } = await maps.get('/route', { params: { to: input } });
      return { to: input, route: data.receipt, cents: data.cents };
    }),
  }),
  calls: t.router({
    // The next call for a driver, if one comes within half a second.
    next: t.procedure.input(number).query(async ({ input }) => {
      const waiter = waiters[turn++ % waiters.length];
      const found = await waiter.blpop('calls', 0.5);
      return { driver: input, call: found ? found[1] : null };
    }),
  }),
});

async function start() {
  const seen = {};
  for (let car = 0; car < 3000; car++) seen[car] = 'square ' + ((car * 31) % 997);
  await redis.hset('cars', seen);
  createHTTPServer({ router: appRouter }).listen(Number(port), host);
}

start().catch((e) => {
  console.error(e);
  process.exit(1);
});
process.on('SIGTERM', () => process.exit(0));
