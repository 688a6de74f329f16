// The desk of a music hall on Hono, BullMQ and postgres.js: bookings in PostgreSQL, tickets printed by jobs in Redis.
'use strict';
const { Hono } = require('hono');
const { serve } = require('@hono/node-server');
const { Queue, QueueEvents, Worker } = require('bullmq');
const postgres = require('postgres');

const fault = (name) => process.env.FAULT === name;
const [host, port] = process.env.ADDR.split(':');
const [dbHost, dbPort] = process.env.ADDR_DB.split(':');
const [redisHost, redisPort] = process.env.ADDR_REDIS.split(':');
const sql = postgres({ host: dbHost, port: Number(dbPort), username: 'shop', database: 'shop', max: 12 });
const connection = { host: redisHost, port: Number(redisPort), maxRetriesPerRequest: null };

// Tickets are printed by jobs. A worker of BullMQ does one at a time if nothing else is said.
const options = fault('one-job') ? { connection } : { connection, concurrency: 24 };
const tickets = new Queue('tickets', { connection, defaultJobOptions: { removeOnComplete: 100, removeOnFail: 100 } });
const done = new QueueEvents('tickets', { connection });
const worker = new Worker('tickets', async (job) => {
  const response = await fetch('http://' + process.env.ADDR_PRINTER + '/tickets/' + job.data.booking);
  return (await response.json()).receipt;
}, options);
worker.on('error', (err) => console.error(err));

// Names of guests. Some have been typed with what no name has.
const guests = [];
for (let n = 0; n < 200; n++) guests.push(n % 16 === 3 ? 'maximilianalexanderv' + (n % 10) + '!' : 'guest-of-row ' + n);
const fine = fault('backtracking') ? /^([a-z0-9]+[-_ ]?)+$/i : /^[a-z0-9]+(?:[-_ ][a-z0-9]+)*$/i;

const app = new Hono();

app.get('/bookings/:id', async (c) => {
  const [found] = await sql`select id, quantity, total_cents, status from orders where id = ${Number(c.req.param('id'))}`;
  return c.json(found || {});
});

app.get('/guests/:id', (c) => {
  const name = guests[Number(c.req.param('id')) % guests.length];
  return c.json({ name, fine: fine.test(name) });
});

app.post('/tickets/:booking', async (c) => {
  const job = await tickets.add('print', { booking: Number(c.req.param('booking')) });
  return c.json({ receipt: await job.waitUntilFinished(done, 20000) });
});

// Screens in the foyer wait up to five seconds for what is next.
app.get('/next/:screen', (c) => new Promise((resolve) => setTimeout(() => resolve(c.json({ screen: c.req.param('screen'), next: null })), 5000)));

// The evening's takings, which a report reads again and again in the background.
let takings = 0;
setInterval(async () => {
  const [sum] = await sql`select sum(total_cents)::bigint as cents from orders where id < 20000`.catch(() => [{ cents: takings }]);
  takings = Number(sum.cents);
}, 3000);
app.get('/takings', (c) => c.json({ cents: takings }));

app.onError((err, c) => {
  console.error(c.req.path, err);
  return c.json({}, 503);
});

Promise.all([done.waitUntilReady(), worker.waitUntilReady(), sql`select 1`]).then(() => {
  serve({ fetch: app.fetch, hostname: host, port: Number(port) });
});
process.on('SIGTERM', () => process.exit(0));
