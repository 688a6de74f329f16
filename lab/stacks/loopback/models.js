// The models of LoopBack's ORM for the tables of PostgreSQL.
'use strict';

const key = { type: 'number', id: true };

exports.connectModels = (db) => ({
  Contract: db.createModel(
    'Contract',
    { id: key, customer_id: 'number', product_id: 'number', quantity: 'number', total_cents: 'number', status: 'string', reference: 'string', note: 'string', placed_at: 'date' },
    { postgresql: { table: 'orders' } },
  ),
  Car: db.createModel('Car', { id: key, sku: 'string', name: 'string', price_cents: 'number', stock: 'number' }, { postgresql: { table: 'products' } }),
  Payment: db.createModel(
    'Payment',
    { id: { type: 'number', id: true, generated: true }, product_id: 'number', amount_cents: 'number', receipt: 'string' },
    { postgresql: { table: 'payments' } },
  ),
});
