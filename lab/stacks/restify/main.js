// The workshop of a garage on Restify: jobs in PostgreSQL by Objection, prices and a board in Redis by
// ioredis, a supplier of parts over HTTP.
'use strict';
const restify = require('restify');
const { openBoard } = require('./board');
const { connectModels } = require('./models');
const { openParts } = require('./parts');
const { openPrices } = require('./prices');

const [host, port] = process.env.ADDR.split(':');

async function main() {
  const { knex, Job } = connectModels(process.env.ADDR_DB);
  const prices = await openPrices(process.env.ADDR_REDIS);
  const board = await openBoard(knex, process.env.ADDR_REDIS);
  const parts = openParts(process.env.ADDR_SUPPLIER);

  const server = restify.createServer({ name: 'workshop' });
  const serve = (path, find) => server.get(path, async (request, response) => response.send(await find(Number(request.params.id))));
  serve('/jobs/:id', (id) => Job.query().findById(id % 300000));
  serve('/customers/:id/jobs', (id) => Job.query().where('customer_id', id % 1500).withGraphFetched('part').orderBy('id', 'desc').limit(20));
  serve('/jobs/:id/part', (id) => parts.ask(id));
  serve('/prices/:id', (id) => prices.find(id));
  serve('/board/:id', () => board.show());
  server.get('/health', async (request, response) => response.send({ status: 'ok' }));
  server.listen(Number(port), host);
}

process.on('SIGTERM', () => process.exit(0));
main();
