// Rentals are orders of the shop, skis its products.
'use strict';
const knex = require('knex');

const fault = (name) => process.env.FAULT === name;

class Rentals {
  constructor({ host, port }, bank) {
    this.db = knex({ client: 'pg', connection: { host, port, user: 'shop', password: 'shop', database: 'shop' }, pool: { min: 10, max: 10 } });
    this.bank = bank;
  }

  find(id) {
    return this.db('orders').select('id', 'status', 'total_cents').where({ id: id % 300000 }).first();
  }

  ofCustomer(customer) {
    return this.db('orders as o').join('products as p', 'p.id', 'o.product_id').select('o.id', 'p.name', 'o.total_cents')
      .where('o.customer_id', customer % 1500).orderBy('o.id', 'desc').limit(25);
  }

  // The deposit is asked of the bank before the transaction; with the fault within it, so that it keeps a connection.
  async deposit(ski) {
    if (fault('bank-in-transaction')) {
      return this.db.transaction(async (trx) => {
        const { name } = await trx('products').select('name').where({ id: ski % 2000 }).first();
        return this.book(trx, ski, name, await this.bank.reserve(ski));
      });
    }
    const receipt = await this.bank.reserve(ski);
    return this.db.transaction(async (trx) => {
      const { name } = await trx('products').select('name').where({ id: ski % 2000 }).first();
      return this.book(trx, ski, name, receipt);
    });
  }

  async book(trx, ski, name, receipt) {
    await trx('payments').insert({ product_id: ski % 2000, amount_cents: 5000, receipt });
    return { ski: name, receipt };
  }

  models() {
    return this.db('orders as o').join('products as p', 'p.id', 'o.product_id').select('p.name').sum('o.total_cents as cents').groupBy('p.name').orderBy('cents', 'desc').limit(20);
  }
}

module.exports = { Rentals };
