// The accounts of a shop on hapi and Knex: orders and sales in PostgreSQL.
'use strict';
const Hapi = require('@hapi/hapi');
const knex = require('knex');

const fault = (name) => process.env.FAULT === name;
const [host, port] = process.env.ADDR.split(':');
const [dbHost, dbPort] = process.env.ADDR_DB.split(':');
const connect = (max) => knex({ client: 'pg', connection: { host: dbHost, port: Number(dbPort), user: 'shop', database: 'shop' }, pool: { min: 2, max } });
const db = connect(5);
const reports = fault('reports-in-pool') ? db : connect(20); // reports take seconds, and lookups must not wait for them
const server = Hapi.server({ host, port: Number(port) });

server.route({
  method: 'GET',
  path: '/orders/{id}',
  handler: async (request) => (await db('orders').where({ id: request.params.id }).first('customer_id', 'total_cents', 'status')) || {},
});

// What a week's orders came to. With the fault all orders of the quarter are fetched, and added up here.
server.route({
  method: 'GET',
  path: '/weeks/{week}',
  handler: async (request) => {
    const from = Number(request.params.week) * 3360; // one order every three minutes
    if (!fault('whole-table')) {
      return db('orders').whereBetween('id', [from, from + 3359]).select('status').count('* as orders').sum('total_cents as cents').groupBy('status');
    }
    const quarter = await db('orders').whereBetween('id', [from, from + 40000]).select('*');
    const sums = {};
    for (const order of quarter.filter((o) => o.id < from + 3360)) {
      const sum = (sums[order.status] ||= { status: order.status, orders: 0, cents: 0 });
      sum.orders += 1;
      sum.cents += Number(order.total_cents);
    }
    return Object.values(sums);
  },
});

// What 70 customers spent is read from slow storage, in 20 ms for each of them.
server.route({
  method: 'GET',
  path: '/regions/{region}',
  handler: async (request) => {
    const from = (Number(request.params.region) * 70) % 1400;
    const found = await reports.raw('select sum(archived_turnover(customer)) as cents from generate_series(?::int, ?::int) as customer', [from, from + 69]);
    return found.rows[0];
  },
});

server.route({
  method: 'POST',
  path: '/sales/{product}',
  handler: async (request) => {
    const product = Number(request.params.product);
    await db.transaction(async (trx) => {
      await trx('products').where({ id: product }).decrement('stock', 1);
      await trx('payments').insert({ product_id: product, amount_cents: 100, receipt: 'card' });
    });
    return { sold: product };
  },
});

process.on('SIGTERM', () => process.exit(0));
server.start();
