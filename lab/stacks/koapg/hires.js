'use strict';
const { Pool } = require('pg');

const fault = (name) => process.env.FAULT === name;
const [host, port] = process.env.ADDR_DB.split(':');
const db = new Pool({ host, port: Number(port), user: 'shop', database: 'shop', max: fault('pool-of-two') ? 2 : 20 });

exports.find = async (id) => {
  const found = await db.query('select id, product_id, total_cents, status from orders where id = $1', [id % 300000]);
  return found.rows[0];
};

exports.ofCustomer = async (id) => {
  const found = await db.query('select id, product_id, total_cents, status from orders where customer_id = $1 order by id desc limit 30', [id % 1500]);
  return found.rows;
};

// What a customer has paid in all years, of which the old ones are on slow storage.
exports.balance = async (id) => {
  const found = await db.query('select archived_turnover($1) as cents', [id % 1500]);
  return found.rows[0];
};

exports.giveBack = async (id) => {
  await db.query("update orders set status = 'returned' where id = $1", [id % 300000]);
  return { hire: id, status: 'returned' };
};

exports.bestItems = async () => {
  const found = await db.query('select product_id, sum(total_cents)::bigint as cents from orders group by product_id order by cents desc limit 10');
  return found.rows;
};

// keepIndex makes the index of customers anew, as it grows when hires are changed. With the fault nobody can change hires meanwhile.
exports.keepIndex = () => {
  const again = () => setTimeout(async () => {
    await db.query(fault('index-anew') ? 'reindex index orders_customer_id_idx' : 'analyze orders (customer_id)').catch((err) => console.error(err.message));
    again();
  }, 1800);
  again();
};
