// The courses of an adult education centre on Feathers, Koa and Knex: orders and payments in PostgreSQL, a bank over HTTP.
'use strict';
const axios = require('axios');
const knex = require('knex');
const { feathers } = require('@feathersjs/feathers');
const { koa, rest, bodyParser, errorHandler } = require('@feathersjs/koa');
const { KnexService } = require('@feathersjs/knex');
const { Subscriptions } = require('./subscriptions');
const { Bookings } = require('./bookings');

const [host, port] = process.env.ADDR.split(':');
const [dbHost, dbPort] = process.env.ADDR_DB.split(':');
const db = knex({ client: 'pg', connection: { host: dbHost, port: Number(dbPort), user: 'shop', database: 'shop' }, pool: { min: 2, max: 12 } });
const bank = axios.create({ baseURL: 'http://' + process.env.ADDR_BANK, timeout: 20000 });

const app = koa(feathers());
app.use(errorHandler());
app.use(bodyParser());
app.configure(rest());

app.use('orders', new KnexService({ Model: db, name: 'orders', paginate: { default: 25, max: 100 } }));
app.use('courses', new KnexService({ Model: db, name: 'products', paginate: { default: 25, max: 100 } }));
app.use('bookings', new Bookings(db, bank));
app.use('subscriptions', new Subscriptions());

// The time that a call took is for the screen of the operators.
let longest = 0;
app.hooks({
  around: {
    all: [async (context, next) => {
      const began = process.hrtime.bigint();
      await next();
      longest = Math.max(longest, Number(process.hrtime.bigint() - began) / 1e6);
    }],
  },
});
app.use('health', { async find() { return { longest }; } });

app.listen(Number(port), host);
process.on('SIGTERM', () => process.exit(0));
