// A tool hire on Moleculer and moleculer-web: orders in PostgreSQL, a catalogue in Moleculer's cache, a lender over HTTP.
'use strict';
const axios = require('axios');
const { Pool } = require('pg');
const { ServiceBroker } = require('moleculer');
const ApiGateway = require('moleculer-web');
const { catalogue } = require('./catalogue');
const { loans } = require('./loans');

const FAULT = process.env.FAULT || 'off';
const [host, port] = process.env.ADDR.split(':');
const [dbHost, dbPort] = process.env.ADDR_DB.split(':');
const db = new Pool({ host: dbHost, port: Number(dbPort), user: 'shop', database: 'shop', max: 12 });
const lender = axios.create({ baseURL: 'http://' + process.env.ADDR_LENDER, timeout: 20000 });

const broker = new ServiceBroker({
  logger: false,
  requestTimeout: 20000,
  // What is taken from the cache is cloned, so that no action can change what others get.
  cacher: { type: 'Memory', options: { ttl: 600, clone: FAULT === 'clone-cache' } },
  // The lender bears some calls at a time. What says nothing else has this bulkhead, so also the gateway's own action.
  bulkhead: { enabled: true, concurrency: FAULT === 'bulkhead' ? 2 : 40, maxQueueSize: 2000, check: () => true },
});

broker.createService({
  name: 'orders',
  actions: {
    get: {
      params: { id: { type: 'number', convert: true } },
      bulkhead: { enabled: false },
      async handler(ctx) {
        const { rows } = await db.query('select id, total_cents, status from orders where id = $1', [ctx.params.id]);
        return rows[0] || null;
      },
    },
  },
});
broker.createService(catalogue(db));
broker.createService(loans(lender));
broker.createService({
  name: 'api',
  mixins: [ApiGateway],
  settings: {
    ip: host,
    port: Number(port),
    routes: [{
      path: '/',
      aliases: {
        'GET orders/:id': 'orders.get',
        'GET tools/:id': 'catalogue.tool',
        'POST loans/:id': 'loans.lend',
      },
    }],
  },
});

broker.start().catch((e) => {
  console.error(e);
  process.exit(1);
});
process.on('SIGTERM', () => process.exit(0));
