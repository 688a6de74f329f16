'use strict';
const DataLoader = require('dataloader');
const { In } = require('typeorm');
const { dataSource, Order, Product } = require('./entities');

// A batch is what is asked for in one turn of the event loop. With the fault keys are gathered for 60 ms.
const options = process.env.FAULT === 'batch-window' ? { batchScheduleFn: gatherKeys } : {};

function gatherKeys(dispatch) {
  setTimeout(dispatch, 60);
}

// loaders makes the loaders of a request.
exports.loaders = function loaders() {
  return {
    orders: new DataLoader((ids) => byId(Order, ids), options),
    products: new DataLoader((ids) => byId(Product, ids), options),
    ordersOf: new DataLoader(idsOfCustomers, options),
  };
};

async function byId(entity, ids) {
  const found = new Map((await dataSource.getRepository(entity).findBy({ id: In(ids) })).map((row) => [row.id, row]));
  return ids.map((id) => found.get(id) || null);
}

// idsOfCustomers returns the newest orders of each customer.
async function idsOfCustomers(customers) {
  const rows = await dataSource.query('select id, customer_id from orders where customer_id in (?) order by id desc', [customers]);
  return customers.map((id) => rows.filter((row) => row.customer_id === id).slice(0, 30).map((row) => row.id));
}
