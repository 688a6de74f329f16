// What a lender of skis serves on Express 5: rentals in PostgreSQL by Knex, sessions and fittings in Redis by ioredis, a bank over HTTP.
'use strict';
const http = require('node:http');
const express = require('express5');
const Redis = require('ioredis');
const { Bank } = require('./bank');
const { Fittings } = require('./fittings');
const { Rentals } = require('./rentals');

const at = (name) => {
  const [host, port] = process.env[name].split(':');
  return { host, port: Number(port) };
};

async function serve() {
  const redis = new Redis(at('ADDR_REDIS'));
  const bank = new Bank(at('ADDR_BANK'));
  const rentals = new Rentals(at('ADDR_DB'), bank);
  const fittings = new Fittings(redis);
  await fittings.fill();

  const app = express();
  app.disable('x-powered-by');
  app.get('/rentals/:id', async (req, res) => res.json(await rentals.find(Number(req.params.id))));
  app.get('/customers/:id/rentals', async (req, res) => res.json(await rentals.ofCustomer(Number(req.params.id))));
  app.post('/skis/:id/deposit', async (req, res) => res.json(await rentals.deposit(Number(req.params.id))));
  app.get('/boots/:id/fitting', async (req, res) => res.json(await fittings.find(Number(req.params.id))));
  app.get('/sessions/:id', async (req, res) => {
    const seen = await redis.get(`session:${Number(req.params.id) % 1000}`);
    await redis.set(`session:${Number(req.params.id) % 1000}`, Date.now(), 'EX', 3600);
    res.json({ session: Number(req.params.id), seen: seen !== null });
  });
  // A till waits for the next rental that another till takes, without a thread.
  app.get('/tills/:id/next', (req, res) => setTimeout(() => res.json({ till: Number(req.params.id), next: null }), 3000));
  app.get('/admin/models', async (req, res) => res.json(await rentals.models()));
  app.get('/health', (req, res) => res.send('ok'));

  const { host, port } = at('ADDR');
  const server = http.createServer(app).listen(port, host);
  process.on('SIGTERM', () => {
    server.close();
    process.exit(0);
  });
}

serve().catch((err) => {
  console.error(err);
  process.exit(1);
});
