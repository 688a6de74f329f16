// The desk of a car hire on LoopBack 4: contracts and cars in PostgreSQL by its own ORM, returns in
// transactions, lists for the accountants as CSV.
'use strict';
const { RestApplication } = require('@loopback/rest');
const { juggler } = require('@loopback/repository');
const { listContracts } = require('./lists');
const { connectModels } = require('./models');
const { returnCar } = require('./returns');

const [host, port] = process.env.ADDR.split(':');
const [dbHost, dbPort] = process.env.ADDR_DB.split(':');

const connector = require('loopback-connector-postgresql');
const db = new juggler.DataSource({ name: 'db', connector, host: dbHost, port: Number(dbPort), user: 'shop', database: 'shop', min: 2, max: 12 });
const { Contract, Car, Payment } = connectModels(db);
const app = new RestApplication({ rest: { host, port: Number(port), gracePeriodForClose: 1000, openApiSpec: { disabled: true } } });

const id = { name: 'id', in: 'path', required: true, schema: { type: 'integer' } };
const serve = (verb, path, handle) => app.route(verb, path, { parameters: [id], responses: { 200: { description: 'what was found' } } }, handle);

serve('get', '/contracts/{id}', (number) => Contract.findById(number % 300000));
serve('get', '/customers/{id}/contracts', (number) => Contract.find({ where: { customer_id: number % 1500 }, limit: 20, order: 'id DESC' }));
serve('post', '/returns/{id}', (number) => returnCar(Car, Payment, number));
serve('get', '/lists/{id}', (number) => listContracts(Contract, number));

app.start();
